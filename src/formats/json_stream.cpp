#include "formats/json_stream.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <simdjson.h>

#include "base/error.h"
#include "base/strings.h"
#include "formats/internal/json_problem.h"
#include "formats/internal/json_window.h"
#include "formats/json.h"

namespace profline {
namespace {

using internal::JsonBorder;
using internal::JsonProblem;
using internal::JsonWindow;

constexpr std::size_t kExcerptBytes = 120;
constexpr std::size_t kFirstCapacity = std::size_t{1} << 12U;

Error error_at(std::uint64_t offset, std::string_view message) {
  return {ErrorKind::Parse, "byte " + std::to_string(offset) + ": " + std::string(message)};
}

/// The reason for what simdjson refuses and find_json_problem accepts.
std::string reason_of(simdjson::error_code code) {
  if (code == simdjson::NUMBER_ERROR) return "an integer is below int64 or above uint64";
  return simdjson::error_message(code);
}

/// The beginning of a member: `"key" : v`.
struct MemberHead {
  std::string_view key = {};    // with its quotes
  std::size_t value_begin = 0;  // 0: the text ends before
  bool malformed = false;
};

MemberHead member_head(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  if (text.front() != '"') return {.malformed = true};
  std::size_t quote = 0;
  std::size_t backslashes = 0;
  do {
    quote = text.find('"', quote + 1);
    if (quote == std::string_view::npos) return {};
    backslashes = 0;
    while (text[quote - 1 - backslashes] == '\\') ++backslashes;
  } while (backslashes % 2 == 1);
  const std::size_t colon = text.find_first_not_of(kBlank, quote + 1);
  if (colon == std::string_view::npos) return {};
  if (text[colon] != ':') return {.malformed = true};
  const std::size_t value = text.find_first_not_of(kBlank, colon + 1);
  if (value == std::string_view::npos) return {};
  return {text.substr(0, quote + 1), value, false};
}

class Reader {
 public:
  Reader(ChunkSource source, JsonStreamHandlers handlers, const JsonStreamLimits& limits)
      : window_(std::move(source), limits, simdjson::SIMDJSON_PADDING),
        handlers_(std::move(handlers)) {}

  Result<JsonStreamTotals> read_document(std::string_view list_key);
  Result<JsonStreamTotals> read_lines();

 private:
  /// Whether a list or a map was complete or the input ended inside it.
  enum class Ended { Properly, TooEarly };
  enum class Unit { Element, Member };
  enum class Step { Next, Closed, InputEnded, Refused };

  Result<Ended> read_elements();
  /// Offers the next element to `handlers_.take`, and consumes the separator after it. Refused: the
  /// element remains, because `take` does not know it.
  Result<Step> take_element();
  Result<Step> take_separator();
  Result<Ended> read_members(std::string_view list_key);
  /// The text up to the next ',' or `close`; nothing if the input ends first.
  Result<std::optional<std::string_view>> next_unit(char close);
  /// True when the separator is `close`.
  bool take_unit(std::string_view unit, char close);
  Result<bool> enters_list(std::string_view list_key);
  Result<bool> comma_follows();
  /// Delivers a line; `whole` if its end was read.
  Result<void> read_line(std::string_view line, bool whole);

  simdjson::error_code parse(std::string_view text, simdjson::dom::element& root);
  Result<void> deliver_element(std::string_view text, std::uint64_t offset, bool may_be_torn);
  Result<void> deliver_member(std::string_view text, std::uint64_t offset);
  Result<void> refuse(std::string_view text, std::uint64_t offset, const JsonProblem& problem,
                      Unit unit);

  Ended truncated() {
    totals_.truncated_at = window_.end_offset();
    return Ended::TooEarly;
  }
  /// The same, for what begins at the window's first byte.
  Ended torn() {
    totals_.torn_at = window_.offset();
    return truncated();
  }
  JsonStreamTotals totals() {
    totals_.bytes = window_.end_offset();
    return totals_;
  }

  JsonWindow window_;
  JsonStreamHandlers handlers_;
  JsonStreamTotals totals_;
  simdjson::dom::parser parser_;
  bool list_seen_ = false;
};

simdjson::error_code Reader::parse(std::string_view text, simdjson::dom::element& root) {
  if (text.size() > parser_.capacity()) {
    const std::size_t capacity = std::bit_ceil(std::max(text.size(), kFirstCapacity));
    if (const auto failure = parser_.allocate(capacity, kJsonMaxDepth)) return failure;
    if (const auto failure = parser_.doc.allocate(capacity)) return failure;
  }
  return parser_.parse(text.data(), text.size(), false).get(root);
}

Result<void> Reader::deliver_element(std::string_view text, std::uint64_t offset,
                                     bool may_be_torn) {
  if (text.empty()) {
    return refuse(text, offset, {0, "an element is missing before this ',' or ']'", false},
                  Unit::Element);
  }
  simdjson::dom::element root;
  const simdjson::error_code failure = parse(text, root);
  if (failure == simdjson::SUCCESS) {
    ++totals_.elements;
    return handlers_.element(JsonView(std::bit_cast<JsonView::Handle>(root)), offset);
  }
  if (failure == simdjson::MEMALLOC) return error_at(offset, "not enough memory for the element");
  auto problem = internal::find_json_problem(text);
  if (!problem) problem = JsonProblem{0, reason_of(failure), false};
  if (may_be_torn && problem->truncated) {
    torn();
    return {};
  }
  return refuse(text, offset, *problem, Unit::Element);
}

Result<void> Reader::refuse(std::string_view text, std::uint64_t offset, const JsonProblem& problem,
                            Unit unit) {
  const std::uint64_t problem_offset = offset + problem.offset;
  if (!handlers_.skipped) {
    if (problem.offset == 0) return error_at(offset, problem.message);
    return error_at(problem_offset, problem.message + " (in the " +
                                        (unit == Unit::Element ? "element" : "member") +
                                        " at byte " + std::to_string(offset) + ')');
  }
  ++(unit == Unit::Element ? totals_.skipped_elements : totals_.skipped_members);
  handlers_.skipped({offset, problem_offset, problem.message,
                     std::string(text.substr(0, kExcerptBytes)), unit == Unit::Member});
  return {};
}

Result<std::optional<std::string_view>> Reader::next_unit(char close) {
  JsonBorder border(close);
  while (true) {
    const std::size_t end = border.find(window_.rest());
    if (end != JsonBorder::kNotYet) {
      PL_TRY(window_.check_size(end));
      return std::optional(window_.rest().substr(0, end));
    }
    if (!PL_TRY(window_.extend())) return std::optional<std::string_view>();
  }
}

bool Reader::take_unit(std::string_view unit, char close) {
  const bool closes = window_.rest()[unit.size()] == close;
  window_.take(unit.size() + 1);
  return closes;
}

Result<Reader::Step> Reader::take_element() {
  if (!handlers_.take) return Step::Refused;
  while (true) {
    const JsonTaken taken = handlers_.take(window_.rest(), window_.offset());
    if (taken.outcome == JsonTaken::Outcome::Refused) return Step::Refused;
    if (taken.outcome == JsonTaken::Outcome::Taken) {
      PL_ASSERT(taken.bytes <= window_.rest().size(), "an element is taken from the text given");
      ++totals_.elements;
      window_.take(taken.bytes);
      return take_separator();
    }
    if (PL_TRY(window_.extend())) continue;
    torn();
    return Step::InputEnded;
  }
}

Result<Reader::Step> Reader::take_separator() {
  if (!PL_TRY(window_.skip_blank())) {
    truncated();
    return Step::InputEnded;
  }
  const char next = window_.rest().front();
  if (next != ',' && next != ']') return Step::Refused;
  window_.take(1);
  return next == ',' ? Step::Next : Step::Closed;
}

Result<Reader::Ended> Reader::read_elements() {
  bool first = true;
  while (PL_TRY(window_.skip_blank())) {
    if (first && window_.rest().front() == ']') {
      window_.take(1);
      return Ended::Properly;
    }
    first = false;
    const Step step = PL_TRY(take_element());
    if (step == Step::Next) continue;
    if (step == Step::Closed) return Ended::Properly;
    if (step == Step::InputEnded) return Ended::TooEarly;
    const auto unit = PL_TRY(next_unit(']'));
    if (!unit) return torn();
    PL_TRY(deliver_element(trim(*unit), window_.offset(), false));
    if (take_unit(*unit, ']')) return Ended::Properly;
  }
  return truncated();
}

/// Whether the next member is the list; if so, consumes everything up to its '['.
Result<bool> Reader::enters_list(std::string_view list_key) {
  MemberHead head = member_head(window_.rest());
  while (!head.malformed && head.value_begin == 0) {
    if (!PL_TRY(window_.extend())) return false;
    head = member_head(window_.rest());
  }
  PL_TRY(window_.check_size(head.value_begin));
  if (head.malformed || window_.rest()[head.value_begin] != '[') return false;
  const auto key = parse_json(head.key, {});
  if (!key) return false;
  if (key->as_string() != list_key) {
    if (handlers_.other_list) PL_TRY(handlers_.other_list(key->as_string()));
    return false;
  }
  if (list_seen_) {
    return error_at(window_.offset(), "a second list under the key " + std::string(head.key));
  }
  list_seen_ = true;
  window_.take(head.value_begin + 1);
  return true;
}

/// After the list: true for ',' and false for '}', either of which is consumed.
Result<bool> Reader::comma_follows() {
  const char c = window_.rest().front();
  if (c != ',' && c != '}') return error_at(window_.offset(), "expected ',' or '}' after the list");
  window_.take(1);
  return c == ',';
}

Result<Reader::Ended> Reader::read_members(std::string_view list_key) {
  bool first = true;
  while (PL_TRY(window_.skip_blank())) {
    if (first && window_.rest().front() == '}') {
      window_.take(1);
      return Ended::Properly;
    }
    first = false;
    if (PL_TRY(enters_list(list_key))) {
      if (PL_TRY(read_elements()) == Ended::TooEarly) return Ended::TooEarly;
      if (!PL_TRY(window_.skip_blank())) return truncated();
      if (!PL_TRY(comma_follows())) return Ended::Properly;
      continue;
    }
    const auto unit = PL_TRY(next_unit('}'));
    if (!unit) return torn();
    PL_TRY(deliver_member(trim(*unit), window_.offset()));
    if (take_unit(*unit, '}')) return Ended::Properly;
  }
  return truncated();
}

Result<void> Reader::deliver_member(std::string_view text, std::uint64_t offset) {
  if (text.empty()) {
    return refuse(text, offset, {0, "a member is missing before this ',' or '}'", false},
                  Unit::Member);
  }
  // As a map with one member, so that any problem with the key, the colon or the value is found.
  const std::string map = '{' + std::string(text) + '}';
  if (const auto problem = internal::find_json_problem(map)) {
    const std::size_t inside = std::clamp<std::size_t>(problem->offset, 1, map.size() - 1) - 1;
    return refuse(text, offset, {inside, problem->message, false}, Unit::Member);
  }
  if (!handlers_.member) return {};
  const MemberHead head = member_head(text);
  const std::string key = PL_TRY(parse_json(head.key, {})).as_string();
  const std::string source = "byte " + std::to_string(offset + head.value_begin);
  auto value = parse_json(text.substr(head.value_begin), source);
  if (!value) {  // only what find_json_problem allows: a duplicate key
    return refuse(text, offset, {head.value_begin, value.error().message(), false}, Unit::Member);
  }
  return handlers_.member(key, *std::move(value));
}

Result<JsonStreamTotals> Reader::read_document(std::string_view list_key) {
  if (!PL_TRY(window_.skip_blank())) return error_at(window_.offset(), "the input is empty");
  const char open = window_.rest().front();
  if (open != '[' && open != '{') {
    return error_at(window_.offset(), "expected a list or a map, which begin with '[' or '{'");
  }
  window_.take(1);
  const Ended ended = open == '[' ? PL_TRY(read_elements()) : PL_TRY(read_members(list_key));
  if (ended == Ended::TooEarly) return totals();
  if (PL_TRY(window_.skip_blank())) {
    return error_at(window_.offset(), "expected nothing after the last bracket");
  }
  if (open == '{' && !list_seen_) {
    return error_at(window_.offset(), "no list under the key '" + std::string(list_key) + '\'');
  }
  return totals();
}

Result<void> Reader::read_line(std::string_view line, bool whole) {
  std::string_view text = trim(line);
  if (text.ends_with(',')) text = trim(text.substr(0, text.size() - 1));
  const auto taken = handlers_.take ? handlers_.take(text, window_.offset()) : JsonTaken();
  if (taken.outcome != JsonTaken::Outcome::Taken) {
    return deliver_element(text, window_.offset(), !whole);
  }
  ++totals_.elements;
  const std::string_view rest = trim(text.substr(taken.bytes));
  if (rest.empty()) return {};
  return refuse(rest, window_.offset() + static_cast<std::size_t>(rest.data() - line.data()),
                {0, "expected the end of the line after the element", false}, Unit::Element);
}

Result<JsonStreamTotals> Reader::read_lines() {
  while (PL_TRY(window_.skip_blank())) {
    std::size_t end = window_.rest().find('\n');
    while (end == std::string_view::npos) {
      const std::size_t searched = window_.rest().size();
      if (!PL_TRY(window_.extend())) break;
      end = window_.rest().find('\n', searched);
    }
    const bool whole = end != std::string_view::npos;
    const std::string_view line = window_.rest().substr(0, end);
    PL_TRY(window_.check_size(line.size()));
    PL_TRY(read_line(line, whole));
    window_.take(line.size());
  }
  return totals();
}

}  // namespace

Result<JsonStreamTotals> read_json_list(ChunkSource source, std::string_view list_key,
                                        JsonStreamHandlers handlers, JsonStreamLimits limits) {
  return Reader(std::move(source), std::move(handlers), limits).read_document(list_key);
}

Result<JsonStreamTotals> read_json_lines(ChunkSource source, JsonStreamHandlers handlers,
                                         JsonStreamLimits limits) {
  return Reader(std::move(source), std::move(handlers), limits).read_lines();
}

}  // namespace profline
