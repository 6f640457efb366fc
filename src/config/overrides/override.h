#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

namespace profline::config {

/// The values of Hydra's override grammar. They keep what a Node loses and what is needed to write
/// them back: quotes, and the sweeps that represent several values.
class OverrideValue;

enum class Quote : std::uint8_t { Single, Double };

/// `'text'` or `"text"`, without its quotes and escapes.
struct QuotedString {
  std::string text;
  Quote quote = Quote::Single;
  bool operator==(const QuotedString&) const = default;
};

/// `choice(a,b)`, or `a,b` in its simple form.
struct ChoiceSweep {
  std::vector<OverrideValue> items;
  bool simple = false;
  bool shuffle = false;
  std::set<std::string> tags = {};
  bool operator==(const ChoiceSweep&) const;
};

/// `range(start,stop,step)`: each a boolean, integer, big integer or float. Integers count as
/// Python's range does; if one of them is a float, all items are.
struct RangeSweep {
  Node start, stop, step;
  bool shuffle = false;
  std::set<std::string> tags = {};
  bool operator==(const RangeSweep&) const = default;
};

/// `interval(start,end)`: all numbers from start up to, but not including, end. Both are floats, or
/// integers after a cast.
struct IntervalSweep {
  Node start, end;
  std::set<std::string> tags = {};
  bool operator==(const IntervalSweep&) const = default;
};

/// `glob(include,exclude)`: the options of a config group whose names match one of `include` and no
/// pattern of `exclude`. The patterns are as written, usually strings.
struct GlobSweep {
  std::vector<OverrideValue> include, exclude;
  bool operator==(const GlobSweep&) const;
};

class OverrideValue {
 public:
  struct Entry;
  using List = std::vector<OverrideValue>;
  using Dict = std::vector<Entry>;  // in order; keys are scalars, no two equal in Python
  using Variant = std::variant<Node, QuotedString, List, Dict, ChoiceSweep, RangeSweep,
                               IntervalSweep, GlobSweep>;

  OverrideValue();             // null
  OverrideValue(Node scalar);  // NOLINT(google-explicit-constructor): a scalar is a value
  explicit OverrideValue(Variant value);

  OverrideValue(const OverrideValue&);
  OverrideValue(OverrideValue&&) noexcept;
  OverrideValue& operator=(const OverrideValue&);
  OverrideValue& operator=(OverrideValue&&) noexcept;
  ~OverrideValue();

  const Variant& variant() const { return value_; }
  /// The alternative, or a null pointer if this value is another one.
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value_);
  }
  template <typename T>
  T* get() {
    return std::get_if<T>(&value_);
  }

  /// Represents several values, or an interval. A list that contains a sweep is not one.
  bool is_sweep() const { return value_.index() >= 4; }

  /// Where in the override the value begins, from 1, in characters; 0 if code made it.
  std::uint32_t column() const { return column_; }
  void set_column(std::uint32_t column) { column_ = column; }

  /// The same values; places are ignored, and NaN equals NaN.
  bool operator==(const OverrideValue& other) const;

 private:
  Variant value_;
  std::uint32_t column_ = 0;
};

struct OverrideValue::Entry {
  Node key;
  OverrideValue value;
  bool operator==(const Entry&) const = default;
};

/// Hydra's name for the kind of a value, in its own spelling (`RANGE_SWEEP`).
std::string_view value_type_name(const OverrideValue& value);

enum class OverrideType : std::uint8_t {
  Change,    ///< `key=value`
  Add,       ///< `+key=value`
  ForceAdd,  ///< `++key=value`
  Delete     ///< `~key` or `~key=value`
};

/// One override of a command line: `+db/engine@backup.db=mysql`.
struct Override {
  OverrideType type = OverrideType::Change;
  std::string key;                     ///< dotted path, or group with slashes; may be empty
  std::optional<std::string> package;  ///< what follows '@'; empty for a bare '@'
  std::optional<OverrideValue> value;  ///< absent only in `~key`
  std::string text;                    ///< as it was given
  Position place;                      ///< its label and column 1, for messages
  std::uint32_t key_column = 0;        ///< where the key begins
  std::uint32_t package_column = 0;    ///< where the package begins, 0 without one

  bool is_sweep() const { return value && value->is_sweep(); }
  /// Prefix, key and package as written before '=': `+db/engine@backup.db`.
  std::string key_element() const;
  /// The text after the first '=' as it was given, if there is a '='.
  std::optional<std::string_view> value_text() const;
  /// An Error of kind Config at a column of this override (0: all of it), with the override and a
  /// caret below.
  Error error(std::string message, std::uint32_t column) const;
};

/// The value as configuration: quoted strings lose their quotes, containers become lists and maps.
/// Each Node is marked with `source` and its column. An Error (reason `validation`) if a sweep is
/// inside a list or map, or if the value itself is one.
Result<Node> to_node(const OverrideValue& value, std::string source = {});

/// `value` written back in the grammar, without blanks, as Hydra writes the overrides of a job:
/// `[a,'b c',{k:1.0}]`, `True`, `null`. It reads back as an equal value, unless a function or an
/// interpolation made a string that needs quotes: `str(1)` is written `1`, `${a:#}` as `$\{a\:#\}`.
///
/// A sweep has no such text (Error, reason `validation`); a glob inside a container is written as
/// the dict of its patterns, as in Hydra.
Result<std::string> print_value(const OverrideValue& value);

/// How deeply brackets may be nested; deeper text is refused, so that code which walks a value may
/// recurse.
constexpr std::size_t kMaxOverrideNesting = 200;

/// A random number below its argument, which is at least 1.
using RandomBelow = std::function<std::size_t(std::size_t)>;

/// Draws from the operating system's entropy.
RandomBelow system_random();

struct OverrideParsing {
  /// Replaces a file name in positions: `override 3`.
  std::string label = "override";
  /// Orders the lists from `shuffle([a,b])`; sweeps are shuffled when they are expanded.
  RandomBelow random_below = system_random();
};

/// Parses one override of a command line, in Hydra 1.3's grammar, and evaluates its functions.
///
/// An Error of kind Parse has a position, the override with a caret under the wrong place, and the
/// reason `lexer` (a character that is not allowed there), `syntax`, `unknown_function`,
/// `reserved_arg_order`, `function_type_error`, `function_value_error` or `function_error`. For a
/// text with both kinds of mistake, `lexer` or `syntax` is reported as Hydra does. Takes time
/// linear in the text.
Result<Override> parse_override(std::string_view text, const OverrideParsing& parsing = {});

/// The label of an override of a command line, which are numbered from 1: `override 3`.
std::string override_label(std::size_t number);

/// The overrides of a command line, labelled `override 1` and so on; or the first Error.
Result<std::vector<Override>> parse_overrides(std::span<const std::string> texts,
                                              const RandomBelow& random_below = system_random());

/// The names of a config group's options, for `glob`.
using GroupOptions = std::function<Result<std::vector<std::string>>(const std::string& group)>;

/// What expanding sweeps needs from its environment.
struct SweepServices {
  GroupOptions group_options = {};  ///< if empty, a glob is an Error
  RandomBelow random_below = system_random();
};

/// How many jobs one command line may expand to.
constexpr std::size_t kMaxSweepJobs = 1'000'000;

/// The items of a sweep, each as text that may follow '='. An Error if the items cannot be
/// enumerated: an interval (reason `sweep_unsupported`), a step of 0 or NaN (`invalid_range`), more
/// than `at_most` items (`sweep_too_large`), or a sweep inside the sweep (`validation`).
Result<std::vector<std::string>> sweep_items(const Override& sweep, const SweepServices& services,
                                             std::size_t at_most = kMaxSweepJobs);

using Job = std::vector<std::string>;  ///< its overrides, none of them a sweep
using Batch = std::vector<Job>;

/// The jobs of a command line, as Hydra's basic sweeper makes them: every combination of the
/// overrides' items, with the last override varying fastest, in batches of at most `max_batch_size`
/// (by default all in one). Of several overrides with the same key element the last one counts, in
/// the place of the first.
Result<std::vector<Batch>> expand_sweeps(std::span<const Override> overrides,
                                         std::optional<std::int64_t> max_batch_size,
                                         const SweepServices& services);

}  // namespace profline::config
