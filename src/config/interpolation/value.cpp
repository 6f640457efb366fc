#include "config/interpolation/value.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/strings.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

/// Places do not store their keys, because only messages need them. A value made by a resolver is
/// below its parent without being in it, and has no key.
std::string with_step(std::string key, const Node& parent, const Node* node) {
  if (parent.is_map()) {
    for (const NodeMap::Entry& entry : parent.as_map()) {
      if (&entry.value == node) return join_key(key, python_str(entry.key));
    }
  } else if (parent.is_list()) {
    for (std::size_t i = 0; i < parent.as_list().size(); ++i) {
      if (&parent.as_list()[i] == node) return join_key(key, i);
    }
  }
  return key;
}

constexpr std::string_view kHex = "0123456789abcdef";

void append_hex(std::string& out, std::uint32_t value, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
    out += kHex[(value >> static_cast<unsigned>(shift)) & 0xFU];
  }
}

/// Code points from `first` to `last` that repr() escapes: separators other than the space,
/// controls, formats, surrogates, private use and the larger unassigned areas.
struct Range {
  std::uint32_t first;
  std::uint32_t last;
};
constexpr Range kEscaped[] = {
    {0x00, 0x1F},       {0x7F, 0xA0},        {0xAD, 0xAD},       {0x378, 0x379},
    {0x600, 0x605},     {0x61C, 0x61C},      {0x6DD, 0x6DD},     {0x70F, 0x70F},
    {0x1680, 0x1680},   {0x180E, 0x180E},    {0x2000, 0x200F},   {0x2028, 0x202F},
    {0x205F, 0x206F},   {0x3000, 0x3000},    {0xD800, 0xF8FF},   {0xFEFF, 0xFEFF},
    {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},    {0x1FFFE, 0x1FFFF}, {0x2FFFE, 0x2FFFF},
    {0x323B0, 0xE00FF}, {0xE01F0, 0x10FFFF},
};

bool is_escaped(std::uint32_t code) {
  const Range* found = std::lower_bound(
      std::begin(kEscaped), std::end(kEscaped), code,
      [](const Range& range, std::uint32_t wanted) { return range.last < wanted; });
  return found != std::end(kEscaped) && found->first <= code;
}

/// The code point at `at` and how many bytes it takes; stray bytes stand for themselves.
std::pair<std::uint32_t, std::size_t> code_point(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const std::uint32_t lead = byte(at);
  if (lead >= 0xF0U) {
    return {(lead & 7U) << 18U | (byte(at + 1) & 63U) << 12U | (byte(at + 2) & 63U) << 6U |
                (byte(at + 3) & 63U),
            4};
  }
  if (lead >= 0xE0U) {
    return {(lead & 15U) << 12U | (byte(at + 1) & 63U) << 6U | (byte(at + 2) & 63U), 3};
  }
  if (lead >= 0xC0U) return {(lead & 31U) << 6U | (byte(at + 1) & 63U), 2};
  return {lead, 1};
}

void append_escape(std::string& out, std::uint32_t code) {
  switch (code) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (code > 0xFFFFU) {
    out += "\\U";
    append_hex(out, code, 8);
  } else if (code > 0xFFU) {
    out += "\\u";
    append_hex(out, code, 4);
  } else {
    out += "\\x";
    append_hex(out, code, 2);
  }
}

char quote_for(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  return single && !has_double ? '"' : '\'';
}

std::string bytes_repr(std::string_view bytes) {
  const char quote = quote_for(bytes);
  std::string out = "b";
  out += quote;
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20U || code >= 0x7FU) {
      append_escape(out, code);
    } else {
      out += c;
    }
  }
  out += quote;
  return out;
}

std::string list_repr(const Node::List& items) {
  std::string out = "[";
  for (const Node& item : items) {
    if (out.size() > 1) out += ", ";
    out += python_repr(item);
  }
  return out + ']';
}

std::string map_repr(const NodeMap& entries) {
  std::string out = "{";
  for (const NodeMap::Entry& entry : entries) {
    if (out.size() > 1) out += ", ";
    out += python_repr(entry.key) + ": " + python_repr(entry.value);
  }
  return out + '}';
}

}  // namespace

std::string full_key(const Place& place) {
  std::vector<const Place*> way;
  for (const Place* at = &place; at->parent != nullptr; at = at->parent) way.push_back(at);
  std::string key;
  for (auto step = way.rbegin(); step != way.rend(); ++step) {
    key = with_step(std::move(key), *(*step)->parent->node, (*step)->node);
  }
  return key;
}

Position written_at(const Place& place) {
  const Place* at = &place;
  while (at->node->mark().line == 0 && at->parent != nullptr) at = at->parent;
  return at->node->position();
}

const Place* Value::place() const {
  const auto* place = std::get_if<const Place*>(&content_);
  return place == nullptr ? nullptr : *place;
}

const Place* Value::container() const {
  const Place* at = place();
  return at != nullptr && !at->node->is_scalar() ? at : nullptr;
}

const Node* Value::node() const {
  if (const Place* at = place()) return at->node;
  return std::get_if<Node>(&content_);
}

const std::string* Value::text() const {
  const Node* value = node();
  return value != nullptr && value->is_string() ? &value->as_string() : nullptr;
}

bool Value::is_null() const {
  const Node* value = node();
  return value != nullptr && value->is_null();
}

std::string_view Value::described() const {
  if (const Node* value = node()) return describe(value->kind());
  return describe(items() != nullptr ? Node::Kind::List : Node::Kind::Map);
}

std::string Value::str() const {
  const std::string* plain = text();
  return plain != nullptr ? *plain : repr();
}

std::string Value::repr() const {
  if (const Node* value = node()) return python_repr(*value);
  std::string out;
  if (items() != nullptr) {
    for (const Value& item : *items()) out += (out.empty() ? "" : ", ") + item.repr();
    return '[' + out + ']';
  }
  for (const auto& [key, value] : *entries()) {
    out += (out.empty() ? "" : ", ") + python_repr(key) + ": " + value.repr();
  }
  return '{' + out + '}';
}

bool is_missing(const Node& node) {
  return node.is_string() && node.as_string() == "???";
}

std::vector<std::string> split_key(std::string_view key) {
  // The head: leading dots, then everything up to the next dot or bracket.
  std::size_t at = std::min(key.find_first_not_of('.'), key.size());
  at = std::min(key.find_first_of(".[", at), key.size());

  std::vector<std::string> steps;
  for (const std::string_view part : split(key.substr(0, at), '.')) steps.emplace_back(part);
  if (at < key.size() && key[at] == '[' && steps.back().empty()) steps.pop_back();

  while (at < key.size()) {
    if (key[at] == '.') {
      const std::size_t end = std::min(key.find_first_of(".[", at + 1), key.size());
      steps.emplace_back(key.substr(at + 1, end - at - 1));
      at = end;
      continue;
    }
    const std::size_t end = key[at] == '[' ? key.find_first_of("]\n", at) : std::string_view::npos;
    if (end != std::string_view::npos && key[end] == ']') {
      steps.emplace_back(key.substr(at + 1, end - at - 1));
      at = end + 1;
    } else {
      ++at;
    }
  }
  // OmegaConf fails on a bracket that is never closed; either way there is no key of that name.
  if (steps.empty()) steps.emplace_back(key);
  return steps;
}

std::optional<std::int64_t> list_index(std::string_view text) {
  const std::optional<Node> number = parse_python_int(text);
  if (!number) return std::nullopt;
  if (number->is_int()) return number->as_int();
  const bool negative = number->as_big_int().front() == '-';
  return negative ? std::numeric_limits<std::int64_t>::min()
                  : std::numeric_limits<std::int64_t>::max();
}

std::string join_key(std::string_view key, std::string_view step) {
  std::string joined(key);
  if (!joined.empty()) joined += '.';
  joined += step;
  return joined;
}

std::string join_key(std::string_view key, std::size_t index) {
  return std::string(key) + '[' + std::to_string(index) + ']';
}

std::string python_repr(std::string_view text) {
  const char quote = quote_for(text);
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, length] = code_point(text, at);
    if (text[at] == quote || text[at] == '\\') {
      out += '\\';
      out += text[at];
    } else if (is_escaped(code)) {
      append_escape(out, code);
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  out += quote;
  return out;
}

std::string python_repr(const Node& node) {
  switch (node.kind()) {
    case Node::Kind::Null:
      return "None";
    case Node::Kind::Bool:
      return node.as_bool() ? "True" : "False";
    case Node::Kind::Int:
      return std::to_string(node.as_int());
    case Node::Kind::BigInt:
      return node.as_big_int();
    case Node::Kind::Float:
      return profline::python_repr(node.as_float());
    case Node::Kind::String:
      return python_repr(std::string_view(node.as_string()));
    case Node::Kind::Bytes:
      return bytes_repr(node.as_bytes());
    case Node::Kind::List:
      return list_repr(node.as_list());
    case Node::Kind::Map:
      return map_repr(node.as_map());
  }
  return {};
}

std::string python_str(const Node& node) {
  return node.is_string() ? node.as_string() : python_repr(node);
}

}  // namespace profline::config
