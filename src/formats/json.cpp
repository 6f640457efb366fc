#include "formats/json.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "formats/internal/json_problem.h"

namespace profline {
namespace {

using internal::JsonExpected;
using internal::JsonProblem;

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

bool separates_tokens(char c) {
  return c == ' ' || c == '\n' || c == ',' || c == ':' || c == '\r' || c == '\t';
}

/// Counts lines and columns in a single pass over a text.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  /// `offset` is not before that of the last call.
  void advance_to(std::size_t offset) {
    while (const void* found = std::memchr(text_.data() + offset_, '\n', offset - offset_)) {
      offset_ = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) + 1;
      ++line_;
      column_ = 1;
    }
    const std::string_view passed = text_.substr(offset_, offset - offset_);
    column_ +=
        static_cast<std::uint32_t>(std::count_if(passed.begin(), passed.end(), starts_character));
    offset_ = offset;
  }

  std::uint32_t line() const { return line_; }
  std::uint32_t column() const { return column_; }

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
};

/// Builds the tree from nlohmann's SAX events. These carry no position, so this class follows them
/// through the text: an event's token is the next thing after the previous token that is neither
/// blank nor a separator, and its end follows from its kind, since the parser has accepted it.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, std::string source, bool refuse_duplicates)
      : text_(text),
        source_(std::make_shared<const std::string>(std::move(source))),
        lines_(text),
        refuse_duplicates_(refuse_duplicates) {}

  bool null() { return scalar(Node(), 4); }
  bool boolean(bool value) { return scalar(Node::boolean(value), value ? 4 : 5); }
  bool number_integer(std::int64_t value) { return number(Node::integer(value)); }
  bool number_unsigned(std::uint64_t value) {
    constexpr auto kLargest = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    return number(value <= kLargest ? Node::integer(static_cast<std::int64_t>(value))
                                    : Node::big_integer(std::to_string(value)));
  }
  bool number_float(double value, const std::string& /*in the locale's spelling*/) {
    const std::string_view literal = number_literal(next_token());
    if (literal.find_first_of(".eE") != std::string_view::npos) return number(Node::real(value));
    if (literal.size() - (literal.front() == '-' ? 1 : 0) > kJsonMaxIntegerDigits) {
      refuse_here();
      return false;
    }
    return number(Node::big_integer(std::string(literal)));
  }
  bool string(std::string& value) {
    const std::size_t start = next_token();
    return scalar(Node::string(std::move(value)), string_end(start) - start);
  }
  bool binary(nlohmann::json::binary_t& /*never in text*/) { return false; }

  bool start_object(std::size_t /*unknown*/) { return open(Node::map()); }
  bool start_array(std::size_t /*unknown*/) { return open(Node::list()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name);

  bool parse_error(std::size_t /*read so far*/, const std::string& /*token*/,
                   const nlohmann::json::exception& /*theirs*/) {
    refuse_here();
    return false;
  }

  /// Call at the end, whatever the parser returned: it treats a NUL as the end of its input.
  void finish() {
    if (!problem_ && text_.find_first_not_of(" \t\r\n", after_) != std::string_view::npos)
      refuse_here();
  }
  const std::optional<JsonProblem>& problem() const { return problem_; }
  /// The list or map that was open when the problem was found; null at the top.
  const Node* innermost() const { return open_.empty() ? nullptr : &open_.back().node; }
  Node take_root() { return std::move(root_); }

 private:
  struct Open {
    Node node;
    Node key;  // under which the next value of a map goes
  };
  enum class Last { Nothing, Opening, Key, Value };

  std::size_t next_token() const {
    std::size_t at = after_;
    while (at < text_.size() && separates_tokens(text_[at])) ++at;
    return at;
  }
  std::string_view number_literal(std::size_t start) const;
  std::size_t string_end(std::size_t start) const;
  /// The string at `start` verbatim; control characters in it are always escaped.
  std::string shown_literal(std::size_t start) const;
  /// Marks the token at `start` as read and returns its place.
  Mark pass(std::size_t start, std::size_t length) {
    lines_.advance_to(start);
    after_ = start + length;
    return {source_, lines_.line(), lines_.column()};
  }
  bool number(Node node) { return scalar(std::move(node), number_literal(next_token()).size()); }
  bool scalar(Node node, std::size_t length) {
    node.set_mark(pass(next_token(), length));
    attach(std::move(node));
    return true;
  }
  bool open(Node node);
  bool close();
  void attach(Node node);
  JsonExpected expected() const;
  void refuse_here() { problem_ = internal::explain_json_problem(text_, after_, expected()); }

  std::string_view text_;
  std::shared_ptr<const std::string> source_;
  LineCounter lines_;
  bool refuse_duplicates_;
  std::size_t after_ = 0;  // the end of the last event's token
  Last last_ = Last::Nothing;
  std::vector<Open> open_;
  Node root_;
  std::optional<JsonProblem> problem_;
};

std::string_view TreeBuilder::number_literal(std::size_t start) const {
  std::size_t end = start;
  const auto skip_digits = [&] {
    while (end < text_.size() && is_digit(text_[end])) ++end;
  };
  const auto skip_one = [&](std::string_view any_of) {
    const bool found = end < text_.size() && any_of.find(text_[end]) != std::string_view::npos;
    if (found) ++end;
    return found;
  };
  skip_one("-");
  if (!skip_one("0")) skip_digits();  // a digit after a leading 0 is a token of its own
  if (skip_one(".")) skip_digits();
  if (skip_one("eE")) {
    skip_one("+-");
    skip_digits();
  }
  return text_.substr(start, end - start);
}

std::size_t TreeBuilder::string_end(std::size_t start) const {
  std::size_t quote = start;
  while (true) {
    quote = text_.find('"', quote + 1);
    std::size_t backslashes = 0;
    while (text_[quote - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return quote + 1;
  }
}

std::string TreeBuilder::shown_literal(std::size_t start) const {
  constexpr std::size_t kLongest = 80;
  std::string_view literal = text_.substr(start, string_end(start) - start);
  if (literal.size() <= kLongest) return std::string(literal);
  std::size_t end = kLongest;
  while (!starts_character(literal[end])) --end;
  return std::string(literal.substr(0, end)) + "…";
}

bool TreeBuilder::open(Node node) {
  const std::size_t start = next_token();
  if (open_.size() == kJsonMaxDepth) {
    problem_ = {start,
                "lists and maps are nested more than " + std::to_string(kJsonMaxDepth) + " deep",
                false};
    return false;
  }
  node.set_mark(pass(start, 1));
  open_.push_back({std::move(node), Node()});
  last_ = Last::Opening;
  return true;
}

bool TreeBuilder::close() {
  after_ = next_token() + 1;
  Node node = std::move(open_.back().node);
  open_.pop_back();
  attach(std::move(node));
  return true;
}

void TreeBuilder::attach(Node node) {
  last_ = Last::Value;
  if (open_.empty()) {
    root_ = std::move(node);
  } else if (Open& parent = open_.back(); parent.node.is_list()) {
    parent.node.as_list().push_back(std::move(node));
  } else {
    parent.node.as_map().set(std::move(parent.key), std::move(node));
  }
}

bool TreeBuilder::key(std::string& name) {
  const std::size_t start = next_token();
  Open& parent = open_.back();
  if (refuse_duplicates_ && parent.node.find(name) != nullptr) {
    const NodeMap& entries = parent.node.as_map();
    const auto first = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
      return entry.key.as_string() == name;
    });
    const Position at = first->key.position();
    problem_ = {start,
                "duplicate key " + shown_literal(start) + " (first at line " +
                    std::to_string(at.line) + ", column " + std::to_string(at.column) + ')',
                false};
    return false;
  }
  parent.key = Node::string(std::move(name));
  parent.key.set_mark(pass(start, string_end(start) - start));
  last_ = Last::Key;
  return true;
}

JsonExpected TreeBuilder::expected() const {
  if (last_ == Last::Nothing) return JsonExpected::Value;
  if (last_ == Last::Key) return JsonExpected::Colon;
  if (open_.empty()) return JsonExpected::End;
  const bool in_list = open_.back().node.is_list();
  if (last_ == Last::Opening) {
    return in_list ? JsonExpected::ValueOrListEnd : JsonExpected::KeyOrMapEnd;
  }
  return in_list ? JsonExpected::CommaOrListEnd : JsonExpected::CommaOrMapEnd;
}

TreeBuilder build_tree(std::string_view text, std::string source, bool refuse_duplicates) {
  TreeBuilder builder(text, std::move(source), refuse_duplicates);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  builder.finish();
  return builder;
}

/// The Error for a problem at a byte of the text, with its line as an excerpt.
Error error_at(std::string_view text, std::size_t offset, std::string message, std::string source) {
  constexpr std::size_t kBytesAround = 400;  // more than an excerpt shows, much less than a file
  LineCounter place(text);
  place.advance_to(offset);
  const std::size_t line_feed = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  std::size_t first = line_feed == std::string_view::npos ? 0 : line_feed + 1;
  if (offset - first > kBytesAround) {
    first = offset - kBytesAround;
    while (first < offset && !starts_character(text[first])) ++first;
  }
  std::string_view line = text.substr(
      first, std::min(text.find_first_of("\r\n", offset), offset + kBytesAround) - first);
  const std::string_view before = text.substr(first, offset - first);
  const auto column = std::count_if(before.begin(), before.end(), starts_character) + 1;
  return Error(ErrorKind::Parse, std::move(message),
               {std::move(source), place.line(), place.column()})
      .with_excerpt(line, static_cast<std::uint32_t>(column));
}

}  // namespace

Result<Node> parse_json(std::string_view text, std::string source) {
  if (text.starts_with(kByteOrderMark)) {
    return Error(ErrorKind::Parse, "begins with a byte order mark, JSON is plain UTF-8 without one",
                 {std::move(source), 1, 1});
  }
  TreeBuilder builder = build_tree(text, source, true);
  if (!builder.problem()) return builder.take_root();
  std::string message = builder.problem()->message;
  if (const Node* within = builder.innermost(); builder.problem()->truncated && within != nullptr) {
    const Position begins = within->position();
    message += std::string(" (the ") + (within->is_list() ? "list" : "map") + " begins at line " +
               std::to_string(begins.line) + ", column " + std::to_string(begins.column) + ')';
  }
  return error_at(text, builder.problem()->offset, std::move(message), std::move(source));
}

std::optional<JsonProblem> internal::find_json_problem(std::string_view text) {
  if (text.starts_with(kByteOrderMark))
    return JsonProblem{0, "begins with a byte order mark", false};
  return build_tree(text, {}, false).problem();
}

}  // namespace profline
