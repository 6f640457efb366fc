#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "formats/json.h"

namespace profline {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// The escape for `c` inside a JSON string; empty if it needs none.
std::string escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    default:
      break;
  }
  if (static_cast<unsigned char>(c) >= 0x20U) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {
      '\\', 'u', '0', '0', c >= 0x10 ? '1' : '0', kDigits[static_cast<unsigned char>(c) & 0xFU]};
}

bool needs_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20U || c == '"' || c == '\\';
}

void append_valid(std::string& out, std::string_view text) {
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i])) continue;
    out += text.substr(written, i - written);
    out += escape(text[i]);
    written = i + 1;
  }
  out += text.substr(written);
}

bool is_ascii(std::string_view text) {
  unsigned char all = 0;  // no early exit, so that compilers vectorise the loop
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80U;
}

std::optional<std::size_t> first_to_replace(std::string_view text) {
  return is_ascii(text) ? std::nullopt : first_invalid_utf8(text);
}

void append_unquoted(std::string& out, std::string_view text) {
  while (const auto invalid = first_to_replace(text)) {
    append_valid(out, text.substr(0, *invalid));
    out += kReplacement;
    text.remove_prefix(*invalid + 1);
  }
  append_valid(out, text);
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  append_unquoted(out, text);
  out += '"';
}

/// The shortest text that reads back as the same double, and as a float.
std::string json_float_text(double value) {
  std::array<char, 32> digits{};
  const auto [end, failure] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  PL_ASSERT(failure == std::errc(), "32 characters hold any double");
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style) : style_(style) {}

  Result<void> write(const Node& node);
  std::string take() && {
    if (style_.indent > 0) out_ += '\n';
    return std::move(out_);
  }

 private:
  Result<void> write_list(const Node::List& items);
  Result<void> write_map(const NodeMap& entries);
  Result<void> write_float(const Node& node);
  Result<void> write_big_int(const Node& node);
  Result<void> write_key(const Node& key);

  struct Step {
    const Node* key = nullptr;  // null in a list
    std::size_t index = 0;
  };

  void break_line() {
    if (style_.indent <= 0) return;
    out_ += '\n';
    out_.append(path_.size() * static_cast<std::size_t>(style_.indent), ' ');
  }
  /// `'stages.0.time'`, or `the top`.
  std::string path() const;
  Error refuse(const Node& node, std::string_view what) const {
    return Error(ErrorKind::Config, "cannot write JSON at " + path() + ": " + std::string(what),
                 node.position());
  }

  JsonStyle style_;
  std::string out_;
  std::vector<Step> path_;
};

std::string JsonWriter::path() const {
  if (path_.empty()) return "the top";
  std::string text = "'";
  for (const Step& step : path_) {
    if (text.size() > 1) text += '.';
    if (step.key == nullptr) {
      text += std::to_string(step.index);
    } else if (step.key->is_string()) {
      append_unquoted(text, step.key->as_string());
    } else {
      text += describe(step.key->kind());
    }
  }
  return text + '\'';
}

Result<void> JsonWriter::write(const Node& node) {
  switch (node.kind()) {
    case Node::Kind::Null:
      out_ += "null";
      return {};
    case Node::Kind::Bool:
      out_ += node.as_bool() ? "true" : "false";
      return {};
    case Node::Kind::Int:
      out_ += std::to_string(node.as_int());
      return {};
    case Node::Kind::BigInt:
      return write_big_int(node);
    case Node::Kind::Float:
      return write_float(node);
    case Node::Kind::String:
      append_string(out_, node.as_string());
      return {};
    case Node::Kind::Bytes:
      if (!style_.bytes_as_base64) return refuse(node, "JSON has no bytes");
      out_ += '"' + encode_base64(node.as_bytes()) + '"';
      return {};
    case Node::Kind::List:
    case Node::Kind::Map:
      break;
  }
  if (path_.size() == kJsonMaxDepth) {
    return Error(ErrorKind::Config, "cannot write JSON: lists and maps are nested more than " +
                                        std::to_string(kJsonMaxDepth) + " deep");
  }
  return node.is_list() ? write_list(node.as_list()) : write_map(node.as_map());
}

Result<void> JsonWriter::write_float(const Node& node) {
  const double value = node.as_float();
  if (!std::isfinite(value)) {
    return refuse(node, std::isnan(value) ? "JSON has no nan" : "JSON has no infinity");
  }
  out_ += json_float_text(value);
  return {};
}

Result<void> JsonWriter::write_big_int(const Node& node) {
  const std::string& text = node.as_big_int();
  const std::size_t digits = text.size() - (text.starts_with('-') ? 1 : 0);
  if (digits > kJsonMaxIntegerDigits) {
    return refuse(node, "an integer of " + std::to_string(digits) + " digits, at most " +
                            std::to_string(kJsonMaxIntegerDigits) + " can be read back");
  }
  out_ += text;
  return {};
}

Result<void> JsonWriter::write_list(const Node::List& items) {
  if (items.empty()) {
    out_ += "[]";
    return {};
  }
  out_ += '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out_ += ',';
    path_.push_back({.index = i});
    break_line();
    PL_TRY(write(items[i]));
    path_.pop_back();
  }
  break_line();
  out_ += ']';
  return {};
}

Result<void> JsonWriter::write_key(const Node& key) {
  if (key.is_string()) {
    append_string(out_, key.as_string());
    return {};
  }
  if (!style_.scalar_keys_as_text || !key.is_scalar() || key.kind() == Node::Kind::Bytes) {
    return refuse(
        key, "a key is " + std::string(describe(key.kind())) + ", but JSON's keys are strings");
  }
  out_ += '"';
  PL_TRY(write(key));
  out_ += '"';
  return {};
}

Result<void> JsonWriter::write_map(const NodeMap& entries) {
  if (entries.empty()) {
    out_ += "{}";
    return {};
  }
  out_ += '{';
  // Distinct keys can collide only if one of them is not written verbatim.
  bool may_collide = false;
  std::unordered_set<std::string> written;
  for (const NodeMap::Entry& entry : entries) {
    may_collide |= !entry.key.is_string() || first_to_replace(entry.key.as_string()).has_value();
  }
  for (const NodeMap::Entry& entry : entries) {
    if (&entry != &*entries.begin()) out_ += ',';
    path_.push_back({.key = &entry.key});
    break_line();
    const std::size_t key_begin = out_.size();
    PL_TRY(write_key(entry.key));
    if (may_collide && !written.insert(out_.substr(key_begin)).second) {
      return refuse(entry.key, "two keys of the map would be written alike");
    }
    out_ += style_.indent > 0 ? ": " : ":";
    PL_TRY(write(entry.value));
    path_.pop_back();
  }
  break_line();
  out_ += '}';
  return {};
}

}  // namespace

Result<std::string> write_json(const Node& tree, const JsonStyle& style) {
  JsonWriter writer(style);
  PL_TRY(writer.write(tree));
  return std::move(writer).take();
}

}  // namespace profline
