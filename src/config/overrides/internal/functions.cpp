#include "config/overrides/internal/functions.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.h"
#include "base/figures.h"
#include "base/strings.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

using namespace types;

struct Function {
  std::string_view name;
  std::array<Parameter, 4> slots;  // unused ones have no name
  Result<OverrideValue> (*evaluate)(Arguments&& arguments, const RandomBelow& random_below);

  std::span<const Parameter> parameters() const {
    const auto is_free = [](const Parameter& parameter) { return parameter.name.empty(); };
    return {slots.begin(), std::find_if(slots.begin(), slots.end(), is_free)};
  }
};

// casts: f(value), f(a, b, …), f(value=…)

Result<ChoiceSweep> simple_choice(std::vector<OverrideValue> items) {
  for (const OverrideValue& item : items) {
    if (item.is_sweep()) {
      return function_error(
          kOtherError,
          "several arguments make a choice, which cannot contain " + std::string(type_name(item)),
          item.column());
    }
  }
  return ChoiceSweep{std::move(items), true};
}

Result<OverrideValue> cast_argument(Arguments&& arguments) {
  const OverrideValue* value = arguments.given(1);
  if (value != nullptr && !arguments.rest.empty()) {
    return function_error(kTypeError, "takes positional arguments or value=, not both");
  }
  if (value != nullptr) return *value;
  if (arguments.rest.empty()) return function_error(kTypeError, "needs an argument");
  if (arguments.rest.size() == 1) return std::move(arguments.rest.front());
  return OverrideValue(PL_TRY(simple_choice(std::move(arguments.rest))));
}

template <Cast to>
Result<OverrideValue> cast_function(Arguments&& arguments, const RandomBelow& /*random_below*/) {
  return cast(PL_TRY(cast_argument(std::move(arguments))), to);
}

// sweeps

Result<OverrideValue> choice(Arguments&& arguments, const RandomBelow& /*random_below*/) {
  if (arguments.rest.empty()) return function_error(kValueError, "needs at least one choice");
  if (arguments.rest.size() == 1) {
    if (auto* only = arguments.rest.front().get<ChoiceSweep>()) {
      if (!only->simple) return function_error(kValueError, "choices cannot be nested");
      only->simple = false;
      return std::move(arguments.rest.front());
    }
  }
  return OverrideValue(ChoiceSweep{std::move(arguments.rest)});
}

Node scalar_of(const OverrideValue& value) {
  const auto* scalar = value.get<Node>();
  PL_ASSERT(scalar != nullptr, "the argument's type was checked");
  return *scalar;
}

Result<OverrideValue> range(Arguments&& arguments, const RandomBelow& /*random_below*/) {
  RangeSweep out{Node::integer(0), scalar_of(*arguments.given(0)), Node::integer(1)};
  if (const OverrideValue* stop = arguments.given(1)) {
    out.start = std::exchange(out.stop, scalar_of(*stop));
  }
  if (const OverrideValue* step = arguments.given(2)) out.step = scalar_of(*step);
  return OverrideValue(std::move(out));
}

Result<OverrideValue> interval(Arguments&& arguments, const RandomBelow& /*random_below*/) {
  const auto start = to_double(scalar_of(*arguments.given(0)));
  const auto end = to_double(scalar_of(*arguments.given(1)));
  if (!start || !end) return function_error(kOtherError, "integer beyond the largest float");
  return OverrideValue(IntervalSweep{Node::real(*start), Node::real(*end)});
}

std::vector<OverrideValue> patterns(const OverrideValue* argument) {
  if (argument == nullptr) return {};
  if (const auto* list = argument->get<OverrideValue::List>()) return *list;
  return {*argument};
}

Result<OverrideValue> glob(Arguments&& arguments, const RandomBelow& /*random_below*/) {
  return OverrideValue(GlobSweep{patterns(arguments.given(0)), patterns(arguments.given(1))});
}

// tag, shuffle, sort

std::set<std::string>* tags_of(OverrideValue& sweep) {
  if (auto* choice = sweep.get<ChoiceSweep>()) return &choice->tags;
  if (auto* range = sweep.get<RangeSweep>()) return &range->tags;
  if (auto* interval = sweep.get<IntervalSweep>()) return &interval->tags;
  return nullptr;
}

Result<OverrideValue> tag(Arguments&& arguments, const RandomBelow& /*random_below*/) {
  std::vector<OverrideValue>& given = arguments.rest;
  if (given.empty()) return function_error(kValueError, "needs tags and a sweep");
  if (const OverrideValue* sweep = arguments.given(1)) given.push_back(*sweep);
  OverrideValue sweep = std::move(given.back());
  given.pop_back();
  std::set<std::string>* tags = tags_of(sweep);
  if (tags == nullptr) {
    return function_error(kValueError, "the last argument must be a choice, range or interval");
  }
  tags->clear();
  for (const OverrideValue& one : given) {
    if (type_of(one) != kString) {
      return function_error(kValueError, "tags must be strings, not " + std::string(type_name(one)),
                            one.column());
    }
    tags->insert(scalar_of(one).as_string());
  }
  return sweep;
}

std::vector<OverrideValue> shuffled(std::vector<OverrideValue> items,
                                    const RandomBelow& random_below) {
  for (std::size_t i = items.size(); i > 1; --i) {
    using std::swap;
    swap(items[i - 1], items[random_below(i)]);
  }
  return items;
}

Result<OverrideValue> shuffle_one(OverrideValue value, const RandomBelow& random_below) {
  if (auto* choice = value.get<ChoiceSweep>()) {
    choice->shuffle = true;
    return value;
  }
  if (auto* range = value.get<RangeSweep>()) {
    range->shuffle = true;
    return value;
  }
  if (auto* list = value.get<OverrideValue::List>()) {
    return OverrideValue(shuffled(std::move(*list), random_below));
  }
  return OverrideValue(OverrideValue::List{std::move(value)});
}

Result<OverrideValue> shuffle(Arguments&& arguments, const RandomBelow& random_below) {
  const OverrideValue* sweep = arguments.given(1);
  const OverrideValue* list = arguments.given(2);
  if (list != nullptr) return shuffle_one(*list, random_below);
  if (sweep != nullptr) return shuffle_one(*sweep, random_below);
  if (arguments.rest.size() == 1) {
    return shuffle_one(std::move(arguments.rest.front()), random_below);
  }
  ChoiceSweep choice = PL_TRY(simple_choice(std::move(arguments.rest)));
  choice.shuffle = true;
  return OverrideValue(std::move(choice));
}

Result<OverrideValue> sort_one(OverrideValue value, bool reverse) {
  if (auto* choice = value.get<ChoiceSweep>()) {
    choice->items = PL_TRY(sorted(std::move(choice->items), reverse));
  } else if (auto* range = value.get<RangeSweep>()) {
    *range = PL_TRY(sorted(std::move(*range), reverse));
  } else if (auto* list = value.get<OverrideValue::List>()) {
    *list = PL_TRY(sorted(std::move(*list), reverse));
  }
  return value;
}

Result<OverrideValue> sort(Arguments&& arguments, const RandomBelow& /*random_below*/) {
  const OverrideValue* given_reverse = arguments.given(3);
  const bool reverse = given_reverse != nullptr && scalar_of(*given_reverse).as_bool();
  const OverrideValue* sweep = arguments.given(1);
  const OverrideValue* list = arguments.given(2);
  if (list != nullptr) return sort_one(*list, reverse);
  if (sweep != nullptr) return sort_one(*sweep, reverse);
  std::vector<OverrideValue>& given = arguments.rest;
  if (given.empty()) return function_error(kValueError, "needs something to sort");
  if (given.size() == 1) return sort_one(std::move(given.front()), reverse);
  for (const OverrideValue& one : given) {
    if ((type_of(one) & (kNumber | kString)) == 0) {
      return function_error(kTypeError,
                            "sorts several arguments only if they are numbers or strings, "
                            "not " +
                                std::string(type_name(one)),
                            one.column());
    }
  }
  return OverrideValue(ChoiceSweep{PL_TRY(sorted(std::move(given), reverse)), true});
}

constexpr unsigned kSortable = kElement | kChoice | kRange;
constexpr Parameter kAnything = {"args", kNull | kElement | kSweep, Parameter::Kind::Rest};
constexpr Parameter kAnyValue = {"value", kNull | kElement | kSweep, Parameter::Kind::KeywordOnly};
constexpr Parameter kSweepToOrder = {"sweep", kChoice | kRange | kNull,
                                     Parameter::Kind::KeywordOnly};
constexpr Parameter kListToOrder = {"list", kList | kNull, Parameter::Kind::KeywordOnly};

/// Every function of the grammar, by name.
constexpr std::array<Function, 11> kFunctions = {{
    {"bool", {{kAnything, kAnyValue}}, cast_function<Cast::Bool>},
    {"choice", {{{"args", kElement | kChoice, Parameter::Kind::Rest}}}, choice},
    {"float", {{kAnything, kAnyValue}}, cast_function<Cast::Float>},
    {"glob",
     {{{"include", kString | kList},
       {"exclude", kString | kList | kNull, Parameter::Kind::Optional}}},
     glob},
    {"int", {{kAnything, kAnyValue}}, cast_function<Cast::Int>},
    {"interval", {{{"start", kNumber}, {"end", kNumber}}}, interval},
    {"range",
     {{{"start", kNumber},
       {"stop", kNumber | kNull, Parameter::Kind::Optional},
       {"step", kNumber, Parameter::Kind::Optional}}},
     range},
    {"shuffle",
     {{{"args", kSortable, Parameter::Kind::Rest}, kSweepToOrder, kListToOrder}},
     shuffle},
    {"sort",
     {{{"args", kSortable, Parameter::Kind::Rest},
       kSweepToOrder,
       kListToOrder,
       {"reverse", kBool, Parameter::Kind::KeywordOnly}}},
     sort},
    {"str", {{kAnything, kAnyValue}}, cast_function<Cast::String>},
    {"tag",
     {{{"args", kString | kSweep, Parameter::Kind::Rest},
       {"sweep", kSweep | kNull, Parameter::Kind::KeywordOnly}}},
     tag},
}};

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

/// Functions see the text of quoted strings without quotes; inside containers the quotes stay.
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
      return function_error(kTypeError, "takes at most " + counted(parameters.size(), "argument") +
                                            ", not " + std::to_string(values.size()));
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

Error function_error(const char* reason, std::string message, std::uint32_t column) {
  return Error(ErrorKind::Parse, std::move(message), {{}, 1, column}).with_reason(reason);
}

Result<OverrideValue> evaluate(FunctionCall call, const RandomBelow& random_below) {
  const auto* function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                      [&](const Function& one) { return one.name == call.name; });
  if (function == kFunctions.end()) {
    std::vector<std::string> names;
    names.reserve(kFunctions.size());
    for (const Function& one : kFunctions) names.emplace_back(one.name);
    std::string hint = did_you_mean(call.name, names);
    if (hint.empty()) hint = " (there are " + join(names, ", ") + ")";
    return function_error("unknown_function", "unknown function '" + call.name + "'" + hint);
  }
  const auto in_function = [&](const Error& problem) {
    return function_error(problem.reason().data(),
                          std::string(function->name) + "(): " + problem.message(),
                          problem.position()->column);
  };
  auto arguments = bind(function->parameters(), std::move(call));
  if (!arguments) return in_function(arguments.error());
  auto value = function->evaluate(*std::move(arguments), random_below);
  if (!value) return in_function(value.error());
  return value;
}

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
