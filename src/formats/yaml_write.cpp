#include <cmath>

#include "base/strings.h"
#include "formats/internal/yaml_parts.h"
#include "formats/python_number.h"
#include "formats/yaml.h"

namespace profline {
namespace {

constexpr int kIndent = 2;
/// The longest key, including its tag, that is written without `? ` in front.
constexpr std::size_t kSimpleKeyLength = 128;

using Style = YamlEmitter::Style;

/// A scalar to be written.
struct Scalar {
  std::u32string text;
  std::string_view tag;  // written only for bytes, but its length counts in keys
  ScalarAnalysis analysis;
  bool plain_reads_back = true;  // as the same type
  bool wants_quotes = false;
  bool wants_literal = false;
};

bool is_yaml_1_1_bool(std::string_view text) {
  return implicit_yaml_tag(text) == YamlTag::Bool || text == "y" || text == "Y" || text == "n" ||
         text == "N";
}

Scalar string_scalar(const std::string& text) {
  Scalar scalar{decode_utf8(text), "!!str", {}};
  scalar.plain_reads_back = implicit_yaml_tag(text) == YamlTag::Str && !looks_like_timestamp(text);
  scalar.wants_quotes = is_yaml_1_1_bool(text) || python_float(text).has_value();
  return scalar;
}

std::string yaml_float_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  std::string text = python_repr(value);
  // YAML 1.1 requires a point: `1.0e+16`.
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) {
    text.insert(exponent, ".0");
  }
  return text;
}

Scalar scalar_of(const Node& node) {
  switch (node.kind()) {
    case Node::Kind::Bool:
      return {node.as_bool() ? U"true" : U"false", "!!bool", {}};
    case Node::Kind::Int:
      return {decode_utf8(std::to_string(node.as_int())), "!!int", {}};
    case Node::Kind::BigInt:
      return {decode_utf8(node.as_big_int()), "!!int", {}};
    case Node::Kind::Float:
      return {decode_utf8(yaml_float_text(node.as_float())), "!!float", {}};
    case Node::Kind::String:
      return string_scalar(node.as_string());
    case Node::Kind::Bytes:
      return {
          decode_utf8(encode_base64_lines(node.as_bytes())), "!!binary", {}, false, false, true};
    case Node::Kind::Null:
    case Node::Kind::List:
    case Node::Kind::Map:
      break;
  }
  return {U"null", "!!null", {}};
}

Style choose_style(const Scalar& scalar, bool is_simple_key) {
  const ScalarAnalysis& allows = scalar.analysis;
  const bool breaks_key = is_simple_key && allows.has_breaks;
  if (scalar.wants_literal) return allows.block && !is_simple_key ? Style::Literal : Style::Double;
  if (!scalar.wants_quotes && scalar.plain_reads_back && allows.plain && !breaks_key &&
      !(is_simple_key && allows.is_empty)) {
    return Style::Plain;
  }
  return allows.single && !breaks_key ? Style::Single : Style::Double;
}

bool is_empty_collection(const Node& node) {
  return (node.is_list() && node.as_list().empty()) || (node.is_map() && node.as_map().empty());
}

class YamlWriter {
 public:
  std::string document(const Node& node) {
    const bool is_plain = write(node, Role::Root);
    emitter_.indent();
    if (is_plain) {
      // A bare word could continue on the next line: PyYAML ends the document after it.
      emitter_.indicator("...", true);
      emitter_.indent();
    }
    return emitter_.take();
  }

 private:
  enum class Role { Root, Item, SimpleKey, KeyOrValue };

  /// Returns whether it was a plain scalar.
  bool write(const Node& node, Role role) {
    if (is_empty_collection(node)) {
      emitter_.indicator(node.is_list() ? "[]" : "{}", true);
      return false;
    }
    const int outer = emitter_.level();
    bool is_plain = false;
    if (node.is_list()) {
      write_list(node.as_list(), role);
    } else if (node.is_map()) {
      write_map(node.as_map());
    } else {
      Scalar scalar = scalar_of(node);
      scalar.analysis = analyse_scalar(scalar.text);
      is_plain = write_scalar(scalar, role);
    }
    emitter_.set_level(outer);
    return is_plain;
  }

  void write_list(const Node::List& list, Role role) {
    // In a map the dashes are aligned with the key, unless the list begins on the line of a `:`.
    const bool under_key = role == Role::KeyOrValue && !emitter_.at_indention();
    if (!under_key || emitter_.level() < 0) go_in(0);
    for (const Node& item : list) {
      emitter_.indent();
      emitter_.indicator("-", true, true);
      write(item, Role::Item);
    }
  }

  void write_map(const NodeMap& map) {
    go_in(0);
    for (const NodeMap::Entry& entry : map) {
      emitter_.indent();
      if (is_simple_key(entry.key)) {
        write(entry.key, Role::SimpleKey);
        emitter_.indicator(":", false);
      } else {
        emitter_.indicator("?", true, true);
        write(entry.key, Role::KeyOrValue);
        emitter_.indent();
        emitter_.indicator(":", true, true);
      }
      write(entry.value, Role::KeyOrValue);
    }
  }

  bool write_scalar(const Scalar& scalar, Role role) {
    const bool is_key = role == Role::SimpleKey;
    const Style style = choose_style(scalar, is_key);
    if (scalar.wants_literal) emitter_.indicator(scalar.tag, true);
    go_in(kIndent);
    emitter_.scalar(scalar.text, style, !is_key);
    return style == Style::Plain;
  }

  static bool is_simple_key(const Node& key) {
    if (is_empty_collection(key)) return true;
    if (!key.is_scalar()) return false;
    const Scalar scalar = scalar_of(key);
    if (scalar.tag.size() + scalar.text.size() >= kSimpleKeyLength) return false;
    const ScalarAnalysis analysis = analyse_scalar(scalar.text);
    return !analysis.is_empty && !analysis.has_breaks;
  }

  /// One level deeper; `outermost` is the level to begin with at the top.
  void go_in(int outermost) {
    emitter_.set_level(emitter_.level() < 0 ? outermost : emitter_.level() + kIndent);
  }

  YamlEmitter emitter_;
};

}  // namespace

std::string write_yaml(const Node& node) {
  return YamlWriter().document(node);
}

}  // namespace profline
