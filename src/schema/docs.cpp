#include "schema/docs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/figures.h"
#include "base/strings.h"

namespace profline::schema {
namespace {

/// Walks a field list and the lists nested in it.
class Describer {
 public:
  /// `defaults` are those that the enclosing struct sets; what it does not mention keeps its own.
  void describe(const StructType& structure, const std::string& path, const Node& defaults) {
    const Node own_defaults = structure.defaults();
    open_.push_back(&structure);
    for (const FieldEntry& field : structure.fields) {
      if (field.is_removed()) continue;
      const Node* usual = defaults.find(field.text.name);
      if (usual == nullptr) usual = own_defaults.find(field.text.name);
      describe_field(field, joined(path, field.text.name), *usual);
    }
    open_.pop_back();
  }

  std::vector<FieldDoc> take() && { return std::move(docs_); }

 private:
  static std::string joined(const std::string& path, std::string_view step) {
    if (path.empty() || step.empty()) return path + std::string(step);
    return path + '.' + std::string(step);
  }

  void describe_field(const FieldEntry& field, const std::string& path, const Node& usual) {
    const FieldText& text = field.text;
    const Type& type = field.type();
    FieldDoc doc;
    doc.path = path;
    doc.type = type.text(text.limits);
    if (!text.unit.empty()) doc.type += " in " + std::string(text.unit);
    doc.help = text.help;
    doc.deprecated = text.deprecated;
    doc.required = text.required;
    doc.is_group = type.structure != nullptr;
    if (!doc.required && !doc.is_group) doc.default_text = value_text(usual);
    docs_.push_back(std::move(doc));
    describe_inside(type, path, usual);
  }

  /// A struct that contains itself, for example through a list, is described once.
  void describe_inside(const Type& type, const std::string& path, const Node& usual) {
    if (type.structure == nullptr) {
      if (type.inner == nullptr) return;
      // An absent or repeated value has the defaults of its own type.
      const bool is_present = type.inner_step.empty() && !usual.is_null();
      describe_inside(type.inner(), joined(path, type.inner_step), is_present ? usual : Node());
      return;
    }
    const StructType& structure = type.structure();
    if (std::find(open_.begin(), open_.end(), &structure) != open_.end()) return;
    describe(structure, path, usual);
  }

  std::vector<FieldDoc> docs_;
  std::vector<const StructType*> open_;
};

bool is_word(char c) {
  return is_digit(c) || is_letter(c) || static_cast<unsigned char>(c) >= 0x80U;
}

/// Plain text in a cell of a table. Underscores inside words mean nothing to Markdown.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inside_word =
        i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
    const bool special = std::string_view("\\`*|<[]").find(c) != std::string_view::npos;
    if (special || (c == '_' && !inside_word)) out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

/// Code in a cell of a table: a fence longer than any run of backticks inside, bars escaped.
std::string code(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  std::string inside;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|') inside += '\\';
    inside += c == '\n' || c == '\r' ? ' ' : c;
  }
  const std::string fence(longest + 1, '`');
  const std::string gap = longest == 0 ? "" : " ";  // a fence must not touch another backtick
  return fence + gap + inside + gap + fence;
}

std::string row_of(const std::vector<std::string>& cells) {
  return "| " + join(cells, " | ") + " |\n";
}

/// `extra` may be null.
std::string table_of(const std::vector<FieldDoc>& docs, const ReferenceColumn* extra) {
  std::vector<std::string> titles = {"key", "type", "default", "meaning"};
  if (extra != nullptr) titles.insert(titles.begin() + 1, std::string(extra->title));
  std::string text = row_of(titles) + '|';
  for (std::size_t i = 0; i < titles.size(); ++i) text += "---|";
  text += '\n';
  for (const FieldDoc& doc : docs) {
    std::string usual = doc.required ? "required" : "";
    if (!doc.default_text.empty()) usual = code(doc.default_text);
    std::string meaning = escaped(doc.help);
    if (!doc.deprecated.empty()) meaning += " (deprecated: " + escaped(doc.deprecated) + ")";
    std::vector<std::string> cells = {code(doc.path), escaped(doc.type), usual, meaning};
    if (extra != nullptr) cells.insert(cells.begin() + 1, extra->cell(doc));
    text += row_of(cells);
  }
  return text;
}

}  // namespace

std::vector<FieldDoc> internal::describe(const StructType& structure, std::string_view path) {
  Describer describer;
  describer.describe(structure, std::string(path), Node());
  return std::move(describer).take();
}

std::string reference_table(const std::vector<FieldDoc>& docs) {
  return table_of(docs, nullptr);
}

std::string reference_table(const std::vector<FieldDoc>& docs, const ReferenceColumn& extra) {
  return table_of(docs, &extra);
}

namespace {

constexpr std::size_t kLongestShown = 60;  // bytes of a string that a message quotes

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20U || c == 0x7F;
}

/// Between `quote`s, with everything that would break the line escaped as in JSON.
std::string in_quotes(std::string_view text, char quote) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out(1, quote);
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      if (c == quote || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + quote;
}

bool reads_as_another_kind(std::string_view text) {
  constexpr std::array<std::string_view, 8> kWords = {"null", "~",  "true", "false",
                                                      "yes",  "no", "on",   "off"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (std::find(kWords.begin(), kWords.end(), lower) != kWords.end()) return true;
  const std::string_view digits =
      lower.starts_with('+') ? std::string_view(lower).substr(1) : lower;
  double number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return failure != std::errc::invalid_argument && end == digits.data() + digits.size();
}

/// Commas and brackets matter only if they could belong to the enclosing list or map.
std::string string_text(const std::string& text, bool in_container) {
  const bool plain = !text.empty() && trim(text).size() == text.size() &&
                     std::none_of(text.begin(), text.end(), is_control) &&
                     text.find_first_of("\"'\\") == std::string::npos &&
                     !reads_as_another_kind(text) &&
                     (!in_container || text.find_first_of(",:[]{}") == std::string::npos) &&
                     text.front() != '[' && text.front() != '{';
  return plain ? text : in_quotes(text, '"');
}

std::string text_of(const Node& node, bool in_container);

std::string list_text(const Node::List& items) {
  std::vector<std::string> parts;
  parts.reserve(items.size());
  for (const Node& item : items) parts.push_back(text_of(item, true));
  return '[' + join(parts, ", ") + ']';
}

std::string map_text(const NodeMap& entries) {
  std::vector<std::string> parts;
  parts.reserve(entries.size());
  for (const auto& [key, value] : entries) {
    parts.push_back(text_of(key, true) + ": " + text_of(value, true));
  }
  return '{' + join(parts, ", ") + '}';
}

std::string text_of(const Node& node, bool in_container) {
  switch (node.kind()) {
    case Node::Kind::Null:
      return "null";
    case Node::Kind::Bool:
      return node.as_bool() ? "true" : "false";
    case Node::Kind::Int:
      return std::to_string(node.as_int());
    case Node::Kind::BigInt:
      return node.as_big_int();
    case Node::Kind::Float:
      return float_text(node.as_float());
    case Node::Kind::String:
      return string_text(node.as_string(), in_container);
    case Node::Kind::Bytes:
      return '<' + counted(node.as_bytes().size(), "byte") + '>';
    case Node::Kind::List:
      return list_text(node.as_list());
    case Node::Kind::Map:
      return map_text(node.as_map());
  }
  return {};
}

/// At most kLongestShown bytes, never ending inside a character.
std::string_view shortened(std::string_view text) {
  if (text.size() <= kLongestShown) return text;
  std::size_t end = kLongestShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  // 0.0005 reads better than 5e-04, and 1e+16 than its seventeen digits.
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 32> buffer{};
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), result.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string value_text(const Node& node) {
  return text_of(node, false);
}

std::string shown(const Node& node) {
  if (node.is_string()) {
    const std::string_view whole = node.as_string();
    const std::string_view part = shortened(whole);
    return in_quotes(part, '\'') + (part.size() < whole.size() ? "…" : "");
  }
  const bool named_by_kind = !node.is_scalar() || node.kind() == Node::Kind::Bytes;
  return named_by_kind ? std::string(describe(node.kind())) : value_text(node);
}

std::string shown_with_kind(const Node& node) {
  switch (node.kind()) {
    case Node::Kind::Bool:
      return "the boolean " + shown(node);
    case Node::Kind::Int:
    case Node::Kind::BigInt:
      return "the integer " + shown(node);
    case Node::Kind::Float:
      return "the float " + shown(node);
    case Node::Kind::String:
      return "the string " + shown(node);
    default:
      return shown(node);
  }
}

}  // namespace profline::schema
