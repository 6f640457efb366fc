#include "config/resolvers.h"

#include "config/internal/standard_resolvers.h"
#include "config/resolve.h"

namespace profline::config {

Result<const Node*> ResolverArguments::at(std::size_t index, std::string_view wanted) const {
  if (index < values_.size()) return &values_[index];
  return Error(ErrorKind::Config, "argument " + std::to_string(index + 1) + " is not given, and " +
                                      std::string(wanted) + " is needed");
}

namespace {

Error wrong_type(std::size_t index, const Node& value, std::string_view wanted) {
  return Error(ErrorKind::Config, "argument " + std::to_string(index + 1) + " is " +
                                      std::string(describe(value.kind())) + ", not " +
                                      std::string(wanted));
}

}  // namespace

Result<Node> ResolverArguments::value(std::size_t index) const {
  return *PL_TRY(at(index, "a value"));
}

Result<std::string> ResolverArguments::text(std::size_t index) const {
  const Node* value = PL_TRY(at(index, "a string"));
  if (!value->is_string()) return wrong_type(index, *value, "a string");
  return value->as_string();
}

Result<std::int64_t> ResolverArguments::integer(std::size_t index) const {
  const Node* value = PL_TRY(at(index, "an integer"));
  if (!value->is_int()) return wrong_type(index, *value, "an integer");
  return value->as_int();
}

Result<double> ResolverArguments::number(std::size_t index) const {
  const Node* value = PL_TRY(at(index, "a number"));
  if (value->is_int()) return static_cast<double>(value->as_int());
  if (!value->is_float()) return wrong_type(index, *value, "a number");
  return value->as_float();
}

Result<bool> ResolverArguments::boolean(std::size_t index) const {
  const Node* value = PL_TRY(at(index, "a boolean"));
  if (!value->is_bool()) return wrong_type(index, *value, "a boolean");
  return value->as_bool();
}

ResolverRegistry ResolverRegistry::standard() {
  ResolverRegistry registry;
  internal::add_omegaconf_resolvers(registry);
  internal::add_hydra_resolvers(registry);
  return registry;
}

void ResolverRegistry::add(std::string name, Function function, ResolverOptions options) {
  add_looking(
      std::move(name),
      [function = std::move(function)](const ResolverCall& call) -> Result<Value> {
        std::vector<Node> values;
        values.reserve(call.arguments.size());
        for (const Value& argument : call.arguments) {
          values.push_back(PL_TRY(call.resolution.resolved(argument)));
        }
        return Value(PL_TRY(function(ResolverArguments(std::move(values)))));
      },
      options);
}

void ResolverRegistry::add_looking(std::string name, LookingFunction function,
                                   ResolverOptions options) {
  entries_.insert_or_assign(std::move(name), Entry{std::move(function), options});
}

const ResolverRegistry::Entry* ResolverRegistry::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<std::string> ResolverRegistry::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace profline::config
