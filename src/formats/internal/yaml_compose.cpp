#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <yaml.h>

#include "base/error.h"
#include "base/result.h"
#include "formats/internal/yaml_parts.h"
#include "formats/yaml.h"

namespace profline {
namespace {

/// Refuses what libyaml's scanner accepts and PyYAML's own does not:
///   - a tab between tokens or in a plain scalar (`a:<tab>1`, `a: x<tab>y`);
///   - a question mark in a plain scalar of a flow collection (`[a?]`, `{x: ???}`);
///   - a comment that touches the head of a block scalar (`a: |# text`).
/// It receives every event of one input in order.
class YamlStrictness {
 public:
  explicit YamlStrictness(const YamlText& text);

  Result<void> check(const yaml_event_t& event, bool in_flow);

 private:
  std::size_t offset_of(const yaml_mark_t& mark);
  Result<void> check_between_scalars(std::size_t from, std::size_t to) const;
  Result<std::size_t> start_of_content(std::size_t from, std::size_t to) const;
  Result<void> check_plain(std::size_t from, std::size_t to, bool in_flow) const;
  Result<void> check_block_head(std::size_t from) const;
  Error tab_error(std::size_t offset) const;

  const YamlText& text_;
  bool has_tabs_;
  bool is_ascii_;
  // libyaml's marks count characters; these two map them to bytes.
  std::size_t seen_characters_ = 0;
  std::size_t seen_bytes_ = 0;
  std::size_t checked_ = 0;  // bytes
};

std::size_t end_of_line(std::string_view text, std::size_t from) {
  while (from < text.size() && line_break_length(text.substr(from, 3)) == 0) ++from;
  return from;
}

bool is_space_or_break(std::string_view text, std::size_t at) {
  return text[at] == ' ' || line_break_length(text.substr(at, 3)) > 0;
}

/// `from` when neither begins there.
std::size_t end_of_comment_or_property(std::string_view text, std::size_t from) {
  const char first = text[from];
  if (first == '#') return end_of_line(text, from);
  if (first != '!' && first != '&' && first != '*') return from;
  while (from < text.size() && text[from] != '\t' && !is_space_or_break(text, from)) ++from;
  return from;
}

bool is_block_style(yaml_scalar_style_t style) {
  return style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
}

YamlStrictness::YamlStrictness(const YamlText& text)
    : text_(text),
      has_tabs_(text.text().find('\t') != std::string_view::npos),
      is_ascii_(std::all_of(text.text().begin(), text.text().end(),
                            [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {}

Result<void> YamlStrictness::check(const yaml_event_t& event, bool in_flow) {
  if (event.type == YAML_STREAM_END_EVENT && has_tabs_) {
    return check_between_scalars(checked_, text_.text().size());
  }
  if (event.type != YAML_SCALAR_EVENT) return {};
  const auto& scalar = event.data.scalar;
  if (!has_tabs_ && !in_flow && !is_block_style(scalar.style)) return {};

  std::size_t start = std::max(checked_, offset_of(event.start_mark));
  const std::size_t end = std::max(start, offset_of(event.end_mark));
  if (has_tabs_) PL_TRY(check_between_scalars(checked_, start));
  if (scalar.anchor != nullptr || scalar.tag != nullptr)
    start = PL_TRY(start_of_content(start, end));
  checked_ = end;
  if (is_block_style(scalar.style)) return check_block_head(start);
  if (scalar.style == YAML_PLAIN_SCALAR_STYLE) return check_plain(start, end, in_flow);
  return {};
}

Result<void> YamlStrictness::check_plain(std::size_t from, std::size_t to, bool in_flow) const {
  const std::string_view plain = text_.text().substr(from, to - from);
  const std::size_t tab = plain.find('\t');
  if (tab != std::string_view::npos) return tab_error(from + tab);
  const std::size_t question = in_flow ? plain.find('?') : std::string_view::npos;
  if (question == std::string_view::npos) return {};
  return text_.error_at("'?' inside of [] or {} must be in quotes", from + question);
}

std::size_t YamlStrictness::offset_of(const yaml_mark_t& mark) {
  const std::string_view text = text_.text();
  if (is_ascii_) return std::min(mark.index, text.size());
  while (seen_characters_ > mark.index) {
    do --seen_bytes_;
    while (!begins_character(text[seen_bytes_]));
    --seen_characters_;
  }
  while (seen_bytes_ < text.size() && seen_characters_ < mark.index) {
    do ++seen_bytes_;
    while (seen_bytes_ < text.size() && !begins_character(text[seen_bytes_]));
    ++seen_characters_;
  }
  return seen_bytes_;
}

/// Only indicators, tags, anchors, aliases and comments stand here; tabs must not separate them.
Result<void> YamlStrictness::check_between_scalars(std::size_t from, std::size_t to) const {
  for (std::size_t at = from; at < to;) {
    if (text_.text()[at] == '\t') return tab_error(at);
    const std::size_t end = end_of_comment_or_property(text_.text(), at);
    at = end > at ? end : at + 1;
  }
  return {};
}

/// A scalar's event begins with its anchor and its tag; this finds where its own text begins.
Result<std::size_t> YamlStrictness::start_of_content(std::size_t from, std::size_t to) const {
  const std::string_view text = text_.text();
  for (std::size_t at = from; at < to;) {
    if (text[at] == '\t') return tab_error(at);
    const std::size_t end = end_of_comment_or_property(text, at);
    if (end == at && !is_space_or_break(text, at)) return at;
    at = end > at ? end : at + 1;
  }
  return to;
}

/// `|`, `>-`, `|2+` and so on must be followed by a space or the end of the line, and then by
/// nothing but spaces and a comment.
Result<void> YamlStrictness::check_block_head(std::size_t from) const {
  const std::string_view text = text_.text();
  std::size_t at = std::min(text.find_first_not_of("|>+-0123456789", from), text.size());
  if (at < text.size() && text[at] == '#') {
    return text_.error_at("a comment needs a space in front of it", at);
  }
  at = std::min(text.find_first_not_of(' ', at), text.size());
  if (at < text.size() && text[at] == '\t') return tab_error(at);
  return {};
}

Error YamlStrictness::tab_error(std::size_t offset) const {
  return text_.error_at("tabs are allowed only in quotes, comments and block text: use spaces",
                        offset);
}

using Kind = YamlGraph::Kind;
using Id = YamlGraph::Id;

/// The memory a node takes besides its text.
constexpr std::uint64_t kNodeWeight = sizeof(Node);

class Parser {
 public:
  explicit Parser(std::string_view text) {
    PL_ASSERT(yaml_parser_initialize(&parser_) == 1, "memory for a parser");
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Parser() { yaml_parser_delete(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  bool next(yaml_event_t& event) { return yaml_parser_parse(&parser_, &event) == 1; }
  const yaml_parser_t& state() const { return parser_; }

 private:
  yaml_parser_t parser_{};
};

struct Event {
  Event() = default;
  ~Event() { yaml_event_delete(&event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  yaml_event_t event{};
};

std::string text_of(const yaml_char_t* bytes) {
  return bytes == nullptr ? std::string() : reinterpret_cast<const char*>(bytes);
}

/// `!` alone requests the type that the text has by itself, even in quotes.
bool is_non_specific(const yaml_char_t* tag) {
  return tag != nullptr && tag[0] == '!' && tag[1] == 0;
}

TextPlace place_of(const yaml_mark_t& mark) {
  return {static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
}

/// libyaml's message, and where the construct it was parsing began.
Error syntax_error(const yaml_parser_t& parser, const YamlText& text) {
  std::string message = parser.problem == nullptr ? "unreadable" : parser.problem;
  if (message == "found character that cannot start any token") {
    message = "this character cannot begin a value: put the value in quotes";
  } else if (message == "found unexpected ':'") {
    message = "':' inside of [] or {} needs a space after it, or quotes around the text";
  }
  const TextPlace place = place_of(parser.problem_mark);
  if (parser.context != nullptr) {
    const TextPlace began = place_of(parser.context_mark);
    message += fmt::format(" ({}", parser.context);
    if (began.line != place.line || began.column != place.column) {
      message += fmt::format(" that begins at line {}, column {}", began.line, began.column);
    }
    message += ')';
  }
  return text.error(std::move(message), place);
}

class Composer {
 public:
  explicit Composer(const YamlText& text)
      : text_(text),
        parser_(text.text()),
        strictness_(text),
        alias_budget_(kYamlAliasBudget + kYamlAliasBudgetFactor * text.text().size()) {}

  Result<YamlGraph> compose() {
    for (bool more = true; more;) {
      Event holder;
      const yaml_event_t& event = holder.event;
      if (!parser_.next(holder.event)) return syntax_error(parser_.state(), text_);
      PL_TRY(strictness_.check(event, flow_levels_ > 0));
      PL_TRY(take(event));
      more = event.type != YAML_STREAM_END_EVENT;
    }
    return std::move(graph_);
  }

 private:
  Result<void> take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (!graph_.items.empty()) {
          return text_.error("a second document begins here: only one is expected",
                             place_of(event.start_mark));
        }
        return {};
      case YAML_ALIAS_EVENT:
        return take_alias(event);
      case YAML_SCALAR_EVENT:
        return take_scalar(event);
      case YAML_SEQUENCE_START_EVENT: {
        const auto& start = event.data.sequence_start;
        if (start.style == YAML_FLOW_SEQUENCE_STYLE) ++flow_levels_;
        return open(event, Kind::Sequence, start.anchor, start.tag);
      }
      case YAML_MAPPING_START_EVENT: {
        const auto& start = event.data.mapping_start;
        if (start.style == YAML_FLOW_MAPPING_STYLE) ++flow_levels_;
        return open(event, Kind::Mapping, start.anchor, start.tag);
      }
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        close();
        return {};
      default:
        return {};
    }
  }

  Result<void> take_scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const Id id = PL_TRY(add(event, Kind::Scalar, scalar.anchor));
    YamlGraph::Item& item = graph_.items[id];
    item.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    item.weight = kNodeWeight + item.text.size();
    if (scalar.plain_implicit != 0 || is_non_specific(scalar.tag)) {
      item.tag = implicit_yaml_tag(item.text);
    } else if (scalar.tag == nullptr) {
      item.tag = YamlTag::Str;
    } else {
      item.tag = PL_TRY(explicit_tag(scalar.tag, item.place));
    }
    return {};
  }

  Result<void> open(const yaml_event_t& event, Kind kind, const yaml_char_t* anchor,
                    const yaml_char_t* tag) {
    if (open_.size() >= kMaxYamlDepth) {
      return text_.error(fmt::format("more than {} levels of nesting", kMaxYamlDepth),
                         place_of(event.start_mark));
    }
    const Id id = PL_TRY(add(event, kind, anchor));
    YamlGraph::Item& item = graph_.items[id];
    item.is_open = true;
    item.tag = kind == Kind::Mapping ? YamlTag::Map : YamlTag::Seq;
    if (tag != nullptr && !is_non_specific(tag)) item.tag = PL_TRY(explicit_tag(tag, item.place));
    open_.push_back({id, flow_levels_});
    return {};
  }

  void close() {
    YamlGraph::Item& item = graph_.items[open_.back().id];
    item.is_open = false;
    item.height = 1;
    item.weight = kNodeWeight;
    for (const Id child : item.children) {
      item.height = std::max(item.height, graph_.items[child].height + 1);
      item.weight += graph_.items[child].weight;
    }
    open_.pop_back();
    flow_levels_ = open_.empty() ? 0 : open_.back().flow_levels;
  }

  Result<void> take_alias(const yaml_event_t& event) {
    const std::string name = text_of(event.data.alias.anchor);
    const TextPlace place = place_of(event.start_mark);
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      return text_.error(fmt::format("no anchor '&{0}' comes before this alias '*{0}'", name),
                         place);
    }
    const YamlGraph::Item& target = graph_.items[found->second];
    if (target.is_open) {
      return text_.error(fmt::format("alias '*{}' is inside its own anchor", name), place)
          .with_reason("circular");
    }
    if (open_.size() + target.height > kMaxYamlDepth) {
      return text_.error(
          fmt::format("more than {} levels of nesting, aliases written out", kMaxYamlDepth), place);
    }
    aliased_ += target.weight;
    if (aliased_ > alias_budget_) {
      return text_.error("written out, the aliases up to here are too large", place);
    }
    graph_.has_aliases = true;
    attach(found->second);
    return {};
  }

  Result<Id> add(const yaml_event_t& event, Kind kind, const yaml_char_t* anchor) {
    const Id id = static_cast<Id>(graph_.items.size());
    graph_.items.emplace_back();
    graph_.items.back().kind = kind;
    graph_.items.back().place = place_of(event.start_mark);
    attach(id);
    if (anchor == nullptr) return id;
    const std::string name = text_of(anchor);
    const auto [other, is_new] = anchors_.emplace(name, id);
    if (is_new) return id;
    return text_.error(fmt::format("anchor '&{}' is already defined at line {}", name,
                                   graph_.items[other->second].place.line),
                       graph_.items.back().place);
  }

  void attach(Id id) {
    if (open_.empty()) {
      graph_.root = id;
    } else {
      graph_.items[open_.back().id].children.push_back(id);
    }
  }

  Result<YamlTag> explicit_tag(const yaml_char_t* tag, TextPlace place) const {
    const std::string name = text_of(tag);
    const std::optional<YamlTag> known = yaml_tag(name);
    if (known) return *known;
    return text_.error(fmt::format("unknown tag '{}' (known: !!str, !!int, !!float, !!bool, "
                                   "!!null, !!binary, !!seq, !!map, !!omap, !!pairs)",
                                   name),
                       place);
  }

  struct Open {
    Id id;
    std::size_t flow_levels;  // enclosing its items
  };

  const YamlText& text_;
  Parser parser_;
  YamlStrictness strictness_;
  YamlGraph graph_;
  std::unordered_map<std::string, Id> anchors_;
  std::vector<Open> open_;
  std::size_t flow_levels_ = 0;
  std::uint64_t aliased_ = 0;
  std::uint64_t alias_budget_;
};

}  // namespace

Result<YamlGraph> compose_yaml(const YamlText& text) {
  return Composer(text).compose();
}

}  // namespace profline
