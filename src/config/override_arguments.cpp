#include "config/internal/override_arguments.h"

#include <array>

#include "base/strings.h"

namespace profline::config {
namespace {

using namespace types;

struct NamedType {
  unsigned type;
  std::string_view name;
};
constexpr std::array<NamedType, 11> kTypeNames = {{{kNull, "null"},
                                                   {kBool, "bool"},
                                                   {kInt, "int"},
                                                   {kFloat, "float"},
                                                   {kString, "str"},
                                                   {kList, "list"},
                                                   {kDict, "dict"},
                                                   {kChoice, "choice()"},
                                                   {kRange, "range()"},
                                                   {kInterval, "interval()"},
                                                   {kGlob, "glob()"}}};

unsigned type_of(const Node& scalar) {
  switch (scalar.kind()) {
    case Node::Kind::Null:
      return kNull;
    case Node::Kind::Bool:
      return kBool;
    case Node::Kind::Int:
    case Node::Kind::BigInt:
      return kInt;
    case Node::Kind::Float:
      return kFloat;
    default:
      return kString;
  }
}

/// `int, float or str`
std::string describe_types(unsigned types) {
  std::vector<std::string> names;
  for (const NamedType& named : kTypeNames) {
    if ((types & named.type) != 0) names.emplace_back(named.name);
  }
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : join(names, ", ") + " or " + last;
}

/// Functions see the text of quoted strings, not their quotes; inside containers quotes stay.
OverrideValue unquoted(OverrideValue value) {
  auto* quoted = value.get<QuotedString>();
  if (quoted == nullptr) return value;
  OverrideValue plain(Node::string(std::move(quoted->text)));
  plain.set_column(value.column());
  return plain;
}

Result<void> check_type(const Parameter& parameter, const OverrideValue& value) {
  if ((type_of(value) & parameter.types) != 0) return {};
  const std::string which = parameter.kind == Parameter::Kind::Rest
                                ? "an argument"
                                : "'" + std::string(parameter.name) + "'";
  return function_error(kTypeError,
                        which + " must be " + describe_types(parameter.types) + ", not " +
                            std::string(type_name(value)),
                        value.column());
}

bool takes_position(const Parameter& parameter) {
  return parameter.kind == Parameter::Kind::Required || parameter.kind == Parameter::Kind::Optional;
}

Result<void> bind_positional(std::span<const Parameter> parameters,
                             std::vector<OverrideValue> values, Arguments& out) {
  const bool has_rest = parameters.front().kind == Parameter::Kind::Rest;
  for (std::size_t i = 0; i < values.size(); ++i) {
    OverrideValue value = unquoted(std::move(values[i]));
    if (has_rest) {
      out.rest.push_back(std::move(value));
    } else if (i < parameters.size() && takes_position(parameters[i])) {
      out.named[i] = std::move(value);
    } else {
      return function_error(kTypeError, "takes at most " + std::to_string(parameters.size()) +
                                            " arguments, not " + std::to_string(values.size()));
    }
  }
  return {};
}

Result<void> bind_named(std::span<const Parameter> parameters, FunctionCall& call, Arguments& out) {
  std::vector<bool> by_name(parameters.size(), false);
  for (auto& [name, value] : call.named) {
    std::vector<std::string> candidates;
    std::size_t found = parameters.size();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].kind == Parameter::Kind::Rest) continue;
      candidates.emplace_back(parameters[i].name);
      if (parameters[i].name == name) found = i;
    }
    if (found == parameters.size()) {
      return function_error(
          kTypeError, "has no argument named '" + name + "'" + did_you_mean(name, candidates));
    }
    if (out.named[found] && !by_name[found]) {
      return function_error(kTypeError, "got '" + name + "' twice, by position and by name");
    }
    by_name[found] = true;
    out.named[found] = unquoted(std::move(value));
  }
  return {};
}

}  // namespace

unsigned type_of(const OverrideValue& value) {
  if (const auto* scalar = value.get<Node>()) return type_of(*scalar);
  constexpr std::array<unsigned, 8> kByAlternative = {0,       kString, kList,     kDict,
                                                      kChoice, kRange,  kInterval, kGlob};
  return kByAlternative.at(value.variant().index());
}

std::string_view type_name(const OverrideValue& value) {
  const unsigned type = type_of(value);
  for (const NamedType& named : kTypeNames) {
    if (named.type == type) return named.name;
  }
  return "";
}

const OverrideValue* Arguments::given(std::size_t parameter) const {
  const auto& argument = named[parameter];
  const bool is_null = argument && type_of(*argument) == kNull;
  return argument && !is_null ? &*argument : nullptr;
}

Result<Arguments> bind(std::span<const Parameter> parameters, FunctionCall call) {
  Arguments out;
  out.named.resize(parameters.size());
  PL_TRY(bind_positional(parameters, std::move(call.positional), out));
  PL_TRY(bind_named(parameters, call, out));
  for (std::size_t i = 0; i < out.named.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (out.named[i]) {
      PL_TRY(check_type(parameter, *out.named[i]));
    } else if (parameter.kind == Parameter::Kind::Required) {
      return function_error(kTypeError, "needs '" + std::string(parameter.name) + "'");
    }
  }
  for (const OverrideValue& value : out.rest) {
    PL_TRY(check_type(parameters.front(), value));
  }
  return out;
}

}  // namespace profline::config
