#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/interpolation/value.h"
#include "formats/node.h"

namespace profline::config {

/// A date and a time of day, without a time zone.
struct LocalTime {
  int year = 1970;
  int month = 1;  ///< from 1
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
};

/// As Python's datetime.strftime() in the C locale: C's directives, and `%f` for microseconds;
/// `%z` and `%Z` are empty.
std::string format_time(const LocalTime& time, std::string_view format);

class Resolution;

/// The arguments of `${name:…}`, each resolved. Accessing one that is missing or of another type is
/// an Error that says so.
class ResolverArguments {
 public:
  explicit ResolverArguments(std::vector<Node> values) : values_(std::move(values)) {}

  std::size_t size() const { return values_.size(); }
  Result<Node> value(std::size_t index) const;
  Result<std::string> text(std::size_t index) const;
  Result<std::int64_t> integer(std::size_t index) const;
  /// An integer or a float.
  Result<double> number(std::size_t index) const;
  Result<bool> boolean(std::size_t index) const;

 private:
  Result<const Node*> at(std::size_t index, std::string_view wanted) const;
  std::vector<Node> values_;
};

struct ResolverOptions {
  static constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);
  std::size_t least_arguments = 0;
  std::size_t most_arguments = kAnyNumber;
  /// Call it once for each spelling of its arguments in a configuration, and keep the result.
  bool cached = false;
  /// The same arguments in the same configuration always give the same value, and the number of
  /// calls does not matter.
  bool pure = false;
};

/// A call of a resolver that looks up other values in the configuration.
struct ResolverCall {
  std::span<const Value> arguments;
  Resolution& resolution;
  const Place& holder;  ///< the value that contains the interpolation
  const Place& parent;  ///< the map or list that contains the value
};

/// The functions that `${name:…}` may call. Adding one takes one line:
///
///   registry.add("pow2", [](const ResolverArguments& a) -> Result<Node> {
///     return Node::integer(1 << PL_TRY(a.integer(0)));
///   });
///
/// The Error of a resolver need only say what was wrong: the key, the position and the resolver's
/// name are added to it.
class ResolverRegistry {
 public:
  using Function = std::function<Result<Node>(const ResolverArguments&)>;
  using LookingFunction = std::function<Result<Value>(const ResolverCall&)>;
  struct Entry {
    LookingFunction function;
    ResolverOptions options;
  };

  /// OmegaConf's (`oc.env`, `oc.decode`, `oc.create`, `oc.select`, `oc.deprecated`, `oc.dict.keys`,
  /// `oc.dict.values`) and Hydra's (`now`, `hydra`, `python_version`).
  static ResolverRegistry standard();

  /// Adds a resolver, or replaces the one of that name.
  void add(std::string name, Function function, ResolverOptions options = {});
  /// The same for a resolver that looks up other values, or returns places without resolving them.
  void add_looking(std::string name, LookingFunction function, ResolverOptions options = {});

  const Entry* find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

namespace internal {
void add_omegaconf_resolvers(ResolverRegistry& registry);
void add_hydra_resolvers(ResolverRegistry& registry);

/// What a resolver returns if its arguments are wrong.
inline Error problem(std::string message) {
  return {ErrorKind::Config, std::move(message)};
}
}  // namespace internal

}  // namespace profline::config
