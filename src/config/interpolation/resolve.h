#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "config/interpolation/expression.h"
#include "config/interpolation/resolvers.h"
#include "config/interpolation/value.h"
#include "formats/node.h"

namespace profline::config {

/// What resolving needs from its environment. The resolvers must outlive it.
struct ResolveContext {
  const ResolverRegistry* resolvers = nullptr;
  /// Looks up an environment variable; if this is empty, no variable is set.
  std::function<std::optional<std::string>(std::string_view)> environment;
  /// The time for `${now:…}`; queried once for each format in a configuration.
  std::function<LocalTime()> clock;
  /// Called with warnings, such as the use of a deprecated key.
  std::function<void(std::string)> warn;
  /// The map whose key `hydra` is used by `${hydra:…}`; its interpolations see all of that map. May
  /// be null.
  const Node* hydra_root = nullptr;
  /// The answer to `${python_version:…}`.
  std::string python_version = "3.11.2";
  /// The limit on work for one configuration, in values and bytes created. Keeps ten lines that
  /// double one another from filling the memory.
  std::uint64_t budget = std::uint64_t{1} << 27U;
};

/// The outcome of looking up a key.
struct Selection {
  enum class Outcome {
    Found,
    Absent,        ///< no such key, or no such index
    NotContainer,  ///< a step leads into a value that is not a map or list
    BadIndex,      ///< a step into a list is not a number
    Missing,       ///< a step is `???`
    AboveRoot,     ///< more dots than there are levels
  };
  Outcome outcome = Outcome::Found;
  Value value;                     ///< Found: the value, its interpolation resolved
  const Place* where = nullptr;    ///< Found: the place looked up; else the last existing one
  std::vector<std::string> steps;  ///< of the key, without leading dots
  std::size_t failed_step = 0;     ///< which of them was the last
};

/// Resolves the interpolations of one configuration. The tree must outlive it and not change.
///
/// Errors have the position and the full key of the value that contains the interpolation, a caret
/// under the wrong part of its text, and one of these reasons: `grammar`, `interpolation_key`,
/// `missing_value`, `unsupported_interpolation`, `resolver_error`, `circular`, `config_key`,
/// `config_type`, `too_large`. After an Error, other keys can still be requested.
class Resolution {
 public:
  Resolution(const Node& root, const ResolveContext& context);
  Resolution(const Resolution&) = delete;
  Resolution& operator=(const Resolution&) = delete;

  /// The value at a key, reached by one item access per step: each step must exist and must not be
  /// `???`. Maps and lists are returned with everything in them resolved.
  Result<Node> get(std::string_view key);
  /// The value at a key; nothing if it does not exist or is `???`.
  Result<std::optional<Node>> select(std::string_view key);
  /// Everything resolved. A `???` stays, a reference to one is an error.
  Result<Node> resolve_all();

  // For resolvers that look up other values.

  const ResolveContext& context() const { return context_; }
  const Place& root() const { return *root_; }
  /// The place of another tree's root; that tree must outlive this.
  const Place& adopt_root(const Node& tree);
  /// A new tree below `parent`, kept as long as this object.
  const Place& adopt(Node tree, const Place& parent);
  /// Looks up `key` from the root of the place's tree or, with leading dots, from `place` upwards.
  Result<Selection> find(const Place& place, std::string_view key, bool stop_at_missing);
  /// Looks up `key` from `place`; leading dots after the first go upwards.
  Result<Selection> find_below(const Place& place, std::string_view key, bool stop_at_missing);
  /// Parses `text` as one element and evaluates it in the context of the call.
  Result<Value> decode(const ResolverCall& call, std::string_view text);
  /// The value with everything in it resolved.
  Result<Node> resolved(const Value& value);
  /// The value at a place, with its interpolation (if it is one) resolved.
  Result<Value> dereference(const Place& place);

 private:
  friend class InPlaceResolution;
  // Keeps recursion within the stack; a level of references takes more of it than one of lists.
  static constexpr std::size_t kMaxDepth = 1200;
  static constexpr std::size_t kExpandDepth = 1;
  static constexpr std::size_t kEvaluateDepth = 4;
  struct Slot {
    explicit Slot(Place at) : place(at) {}
    Place place;
    bool evaluating = false;
    bool expanding = false;
    std::optional<Value> result;
  };
  /// The text that is being evaluated, and its context.
  struct Frame {
    const Place& holder;
    const Place& parent;
    std::string_view text;
  };

  Slot& slot(const Place& place);
  const Place& child(const Place& container, const Node& node);

  Result<Value> evaluate_text(const Place& holder);
  Result<Value> evaluate(const Frame& frame, const Expression& expression);
  Result<Value> evaluate_form(const Frame& frame, const Text& text);
  Result<Value> evaluate_form(const Frame& frame, const Expression& at, const Reference& reference);
  Result<Value> evaluate_form(const Frame& frame, const Expression& at, const Call& call);
  Result<Value> evaluate_form(const Frame& frame, const ListItems& list);
  Result<Value> evaluate_form(const Frame& frame, const MapItems& map);
  Result<std::string> joined(const Frame& frame, const std::vector<Expression>& parts,
                             std::string_view separator, std::string_view role);
  Result<Value> call_resolver(const Frame& frame, const ResolverRegistry::Entry& resolver,
                              const std::vector<Value>& arguments);

  Result<Selection> find_from(const Place* start, std::string_view key, bool stop_at_missing);
  Result<const Place*> descend(const Place& container, Selection& selection, bool stop_at_missing);
  Result<Value> item(const Value& value, std::string_view step, const std::string& so_far);
  Result<Node> expand(const Place& container);
  Result<Node> expand_items(const Place& container);
  Result<Node> expand_child(const Place& container, const Node& node);

  Result<void> charge(const Place& place, std::uint64_t amount);
  Error error_at(const Frame& frame, std::size_t offset, ErrorKind kind, std::string message,
                 const char* reason) const;
  Error located(const Frame& frame, const Error& problem) const;
  Error resolver_error(const Frame& frame, const Expression& at, const std::string& name,
                       const Error& problem) const;
  Error selection_error(const Frame& frame, const Expression& at, const std::string& key,
                        const Selection& selection) const;
  static std::string nearest_key(const std::string& key, const Selection& selection);
  /// The value of `again` depends on itself, or the nesting is too deep.
  Error circle_error(const Place& again) const;

  const ResolveContext& context_;
  std::unordered_map<const Node*, Slot> slots_;
  std::deque<Node> adopted_;
  std::map<std::string, Value, std::less<>> cached_calls_;
  std::vector<const Place*> evaluating_;
  std::size_t depth_ = 0;
  std::uint64_t spent_ = 0;
  std::uint64_t impure_calls_ = 0;
  const Place* root_ = nullptr;
};

/// Resolves all interpolations in place, as `--cfg job --resolve` shows a configuration: a
/// reference to a `???` value becomes `???`. Referenced maps and lists are copied. After an error
/// `root` is partly resolved.
Result<void> resolve_in_place(Node& root, const ResolveContext& context);

}  // namespace profline::config
