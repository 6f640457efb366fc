#include "formats/yaml.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "formats/internal/yaml_parts.h"

namespace profline {
namespace {

using Kind = YamlGraph::Kind;
using Id = YamlGraph::Id;

/// Turns a document as written into values. Recursion is bounded: compose_yaml() refuses documents
/// deeper than kMaxYamlDepth.
class Constructor {
 public:
  Constructor(const YamlText& text, YamlGraph& graph) : text_(text), graph_(graph) {}

  Result<Node> construct(Id id) {
    switch (graph_.items[id].kind) {
      case Kind::Scalar:
        return construct_scalar(id, graph_.items[id].tag);
      case Kind::Sequence:
        return construct_sequence(id);
      case Kind::Mapping:
        return construct_mapping(id);
    }
    return Node();
  }

 private:
  struct Pair {
    Id key;
    Id value;
  };

  Result<Node> construct_scalar(Id id, YamlTag tag) {
    YamlGraph::Item& item = graph_.items[id];
    // Without aliases each text is needed once, so it is moved: it may be large.
    Result<Node> node =
        yaml_scalar(tag, graph_.has_aliases ? item.text : std::exchange(item.text, {}));
    if (!node) return error(node.error().message(), id).with_reason(node.error().reason().data());
    node->set_mark(text_.mark(item.place));
    return node;
  }

  Result<Node> construct_sequence(Id id) {
    const YamlGraph::Item& item = graph_.items[id];
    const bool is_pairs = item.tag == YamlTag::OrderedMap || item.tag == YamlTag::Pairs;
    if (item.tag != YamlTag::Seq && !is_pairs)
      return error("this is a list, but its tag asks for another type", id);
    Node::List list;
    list.reserve(item.children.size());
    for (const Id child : item.children) {
      list.push_back(PL_TRY(is_pairs ? construct_pair(child) : construct(child)));
    }
    return marked(Node::list(std::move(list)), id);
  }

  /// `{key: value}` as `[key, value]`.
  Result<Node> construct_pair(Id id) {
    const YamlGraph::Item& item = graph_.items[id];
    if (item.kind != Kind::Mapping || item.children.size() != 2) {
      return error("an item of !!omap or !!pairs is a map of one entry", id);
    }
    Node::List pair;
    pair.push_back(PL_TRY(construct(item.children[0])));
    pair.push_back(PL_TRY(construct(item.children[1])));
    return marked(Node::list(std::move(pair)), id);
  }

  Result<Node> construct_mapping(Id id) {
    const YamlGraph::Item& item = graph_.items[id];
    if (item.tag == YamlTag::Set) {
      return error("!!set is not supported: write a list", id).with_reason("validation");
    }
    if (item.tag != YamlTag::Map)
      return error("this is a map, but its tag asks for another type", id);
    PL_TRY(check_no_string_key_twice(item));
    NodeMap map;
    for (const Pair& pair : PL_TRY(merged_pairs(id))) {
      Node key = PL_TRY(construct_key(pair.key));
      Node value = PL_TRY(construct(pair.value));
      set(map, std::move(key), std::move(value));
    }
    return marked(Node::map(std::move(map)), id);
  }

  Result<void> check_no_string_key_twice(const YamlGraph::Item& mapping) const {
    std::vector<Id> keys;
    for (std::size_t i = 0; i < mapping.children.size(); i += 2) {
      const YamlGraph::Item& key = graph_.items[mapping.children[i]];
      if (key.kind == Kind::Scalar && key.tag == YamlTag::Str) keys.push_back(mapping.children[i]);
    }
    const auto text = [&](Id id) -> std::string_view { return graph_.items[id].text; };
    std::stable_sort(keys.begin(), keys.end(), [&](Id a, Id b) { return text(a) < text(b); });
    const auto twice = std::adjacent_find(keys.begin(), keys.end(),
                                          [&](Id a, Id b) { return text(a) == text(b); });
    if (twice == keys.end()) return {};
    const Id second = *(twice + 1);
    return error(fmt::format("key '{}' is already in this map", text(second)), second);
  }

  /// The entries of a map: first those from its merge keys, then its own. For duplicate keys the
  /// last one wins.
  Result<std::vector<Pair>> merged_pairs(Id id) const {
    const std::vector<Id>& children = graph_.items[id].children;
    std::vector<Pair> merged;
    std::vector<Pair> own;
    for (std::size_t i = 0; i < children.size(); i += 2) {
      if (graph_.items[children[i]].tag == YamlTag::Merge) {
        PL_TRY(append_merged(children[i + 1], merged));
      } else {
        own.push_back({children[i], children[i + 1]});
      }
    }
    if (merged.empty()) return own;
    std::copy(own.begin(), own.end(), std::back_inserter(merged));
    return merged;
  }

  Result<void> append_merged(Id id, std::vector<Pair>& merged) const {
    const YamlGraph::Item& item = graph_.items[id];
    if (item.kind == Kind::Mapping) {
      const std::vector<Pair> pairs = PL_TRY(merged_pairs(id));
      std::copy(pairs.begin(), pairs.end(), std::back_inserter(merged));
      return {};
    }
    if (item.kind != Kind::Sequence) return error("'<<' merges a map or a list of maps", id);
    // The first map of a list wins, so it is added last.
    for (auto child = item.children.rbegin(); child != item.children.rend(); ++child) {
      if (graph_.items[*child].kind != Kind::Mapping) {
        return error("'<<' merges a map or a list of maps", *child);
      }
      PL_TRY(append_merged(*child, merged));
    }
    return {};
  }

  Result<Node> construct_key(Id id) {
    const YamlGraph::Item& item = graph_.items[id];
    if (item.kind != Kind::Scalar) return error("a key must be a scalar, not a list or a map", id);
    if (item.tag == YamlTag::Null) {
      return error("null cannot be a key: quote it to use the text", id).with_reason("key_type");
    }
    return construct_scalar(id, item.tag == YamlTag::Value ? YamlTag::Str : item.tag);
  }

  /// Python treats 1, 1.0 and True as one key, and keeps the first of them.
  static void set(NodeMap& map, Node key, Node value) {
    if (!key.is_string()) {
      for (const Node& twin : equal_numbers(key)) {
        if (Node* present = map.find(twin)) {
          *present = std::move(value);
          return;
        }
      }
    }
    map.set(std::move(key), std::move(value));
  }

  static std::vector<Node> equal_numbers(const Node& key) {
    std::vector<Node> twins;
    constexpr double kInt64End = 9223372036854775808.0;
    std::int64_t whole = 0;
    if (key.is_bool()) {
      whole = key.as_bool() ? 1 : 0;
    } else if (key.is_int()) {
      whole = key.as_int();
    } else if (key.is_float() && std::trunc(key.as_float()) == key.as_float() &&
               key.as_float() >= -kInt64End && key.as_float() < kInt64End) {
      whole = static_cast<std::int64_t>(key.as_float());
    } else {
      return twins;
    }
    const auto as_double = static_cast<double>(whole);
    twins.push_back(Node::integer(whole));
    if (as_double < kInt64End && static_cast<std::int64_t>(as_double) == whole) {
      twins.push_back(Node::real(as_double));
    }
    if (whole == 0 || whole == 1) twins.push_back(Node::boolean(whole == 1));
    return twins;
  }

  Node marked(Node node, Id id) const {
    node.set_mark(text_.mark(graph_.items[id].place));
    return node;
  }

  Error error(std::string message, Id id) const {
    return text_.error(std::move(message), graph_.items[id].place);
  }

  const YamlText& text_;
  YamlGraph& graph_;
};

}  // namespace

Result<Node> parse_yaml(std::string_view text, std::string source) {
  const YamlText input(text, std::move(source));
  PL_TRY(input.check_characters());
  YamlGraph graph = PL_TRY(compose_yaml(input));
  if (graph.items.empty()) return Node();
  return Constructor(input, graph).construct(graph.root);
}

namespace {

/// Whether the character at the front of valid UTF-8 is outside what YAML 1.1 allows: C0 and C1
/// controls other than tab, LF, CR and U+0085; U+007F, U+FFFE and U+FFFF.
bool begins_with_forbidden(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x20) return first != '\t' && first != '\n' && first != '\r';
  if (first < 0x7F) return false;
  if (first == 0x7F) return true;
  if (first == 0xC2) return byte(1) < 0xA0 && byte(1) != 0x85;
  return first == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
}

/// A byte order mark at the start of any line but the first: libyaml would skip it, and PyYAML read
/// it as text.
std::optional<std::size_t> stray_byte_order_mark(std::string_view text) {
  std::size_t at = text.find(kByteOrderMark);
  for (; at != std::string_view::npos; at = text.find(kByteOrderMark, at + 1)) {
    const std::string_view before = text.substr(0, at);
    const bool after_break = before.empty() || before.ends_with('\n') || before.ends_with('\r') ||
                             before.ends_with("\xC2\x85") || before.ends_with("\xE2\x80\xA8") ||
                             before.ends_with("\xE2\x80\xA9");
    if (after_break) return at;
  }
  return std::nullopt;
}

std::optional<std::size_t> first_forbidden(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x7F) continue;
    if (begins_with_forbidden(text.substr(i, 3))) return i;
  }
  return std::nullopt;
}

/// The escape that stands for a forbidden character in double quotes.
std::string escape_of_forbidden(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return fmt::format("\\x{:02X}", byte(0));
  if (byte(0) == 0xC2) return fmt::format("\\x{:02X}", byte(1));
  return fmt::format("\\u{:04X}", 0xFF00U | (byte(2) | 0xC0U));
}

}  // namespace

std::size_t line_break_length(std::string_view text) {
  if (text.starts_with("\r\n")) return 2;
  if (text.starts_with('\n') || text.starts_with('\r')) return 1;
  if (text.starts_with("\xC2\x85")) return 2;
  return text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9") ? 3 : 0;
}

YamlText::YamlText(std::string_view text, std::string source)
    : text_(text), source_(std::make_shared<const std::string>(std::move(source))) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
}

Result<void> YamlText::check_characters() const {
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF")) {
    return Error(ErrorKind::Parse, "the text is UTF-16: save it as UTF-8",
                 mark(TextPlace()).position());
  }
  const std::optional<std::size_t> invalid = first_invalid_utf8(text_);
  const std::optional<std::size_t> forbidden =
      first_forbidden(text_.substr(0, invalid.value_or(text_.size())));
  if (forbidden) {
    return error_at(fmt::format("this character is not allowed in YAML: write \"{}\" in quotes",
                                escape_of_forbidden(text_.substr(*forbidden, 3))),
                    *forbidden);
  }
  if (invalid) {
    // The excerpt ends before the bad byte, so that the message itself is valid text.
    YamlText before(*this);
    before.text_ = text_.substr(0, *invalid);
    return before.error_at(fmt::format("byte 0x{:02X} is not valid UTF-8",
                                       static_cast<unsigned char>(text_[*invalid])),
                           *invalid);
  }
  if (const auto stray = stray_byte_order_mark(text_)) {
    return error_at("a byte order mark is allowed only at the very beginning", *stray);
  }
  return {};
}

Error YamlText::error(std::string message, TextPlace place) const {
  // libyaml ends every input with a line of its own.
  const TextPlace end = place_of(text_.size());
  if (place.line > end.line) place = end;
  std::string_view shown = line(place.line);
  // Passes on only what an excerpt can show: a line may be as long as the input.
  constexpr std::uint32_t kKept = 200;
  std::uint32_t column = place.column;
  if (column > kKept) {
    std::uint32_t passed = 0;
    std::size_t start = 0;
    while (start < shown.size() && (passed < column - kKept || !begins_character(shown[start]))) {
      if (begins_character(shown[start])) ++passed;
      ++start;
    }
    shown.remove_prefix(start);
    column -= passed;
  }
  return Error(ErrorKind::Parse, std::move(message), mark(place).position())
      .with_excerpt(shown.substr(0, std::size_t{kKept} * 8), column);
}

Error YamlText::error_at(std::string message, std::size_t offset) const {
  return error(std::move(message), place_of(offset));
}

TextPlace YamlText::place_of(std::size_t offset) const {
  TextPlace place;
  for (std::size_t at = 0; at < offset;) {
    const std::size_t break_length = line_break_length(text_.substr(at, 3));
    if (break_length > 0) {
      ++place.line;
      place.column = 1;
      at += break_length;
      continue;
    }
    if (begins_character(text_[at])) ++place.column;
    ++at;
  }
  return place;
}

std::string_view YamlText::line(std::uint32_t number) const {
  std::size_t start = 0;
  std::size_t at = 0;
  for (std::uint32_t current = 1; at < text_.size();) {
    const std::size_t break_length = line_break_length(text_.substr(at, 3));
    if (break_length == 0) {
      ++at;
      continue;
    }
    if (current == number) break;
    at += break_length;
    start = at;
    ++current;
  }
  return text_.substr(start, at - start);
}

}  // namespace profline
