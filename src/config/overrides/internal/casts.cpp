#include <cmath>

#include "base/strings.h"
#include "config/overrides/internal/functions.h"
#include "config/overrides/internal/lexer.h"
#include "config/overrides/override.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

std::string_view target_name(Cast to) {
  switch (to) {
    case Cast::Int:
      return "int";
    case Cast::Float:
      return "float";
    case Cast::String:
      return "str";
    case Cast::Bool:
      return "bool";
  }
  return "";
}

Error cannot_cast(const std::string& what, Cast to, const char* reason) {
  return function_error(reason, "cannot cast " + what + " to " + std::string(target_name(to)));
}

Result<OverrideValue> cast_text(const std::string& text, Cast to) {
  switch (to) {
    case Cast::String:
      return OverrideValue(Node::string(text));
    case Cast::Int:
      if (auto number = parse_python_int(text)) return OverrideValue(std::move(*number));
      break;
    case Cast::Float:
      if (const auto number = python_float(text)) return OverrideValue(Node::real(*number));
      break;
    case Cast::Bool:
      if (lower(text) == "true") return OverrideValue(Node::boolean(true));
      if (lower(text) == "false") return OverrideValue(Node::boolean(false));
      break;
  }
  return cannot_cast(shown_text(text), to, kValueError);
}

Result<OverrideValue> number_to_int(const Node& number) {
  if (number.is_bool()) return OverrideValue(Node::integer(number.as_bool() ? 1 : 0));
  if (!number.is_float()) return OverrideValue(number);
  const double value = number.as_float();
  if (std::isnan(value)) return cannot_cast("nan", Cast::Int, kValueError);
  if (std::isinf(value)) return cannot_cast(python_repr(value), Cast::Int, kOtherError);
  return OverrideValue(truncated(value));
}

Result<OverrideValue> number_to_float(const Node& number) {
  if (const auto value = to_double(number)) return OverrideValue(Node::real(*value));
  return cannot_cast("an integer beyond the largest float", Cast::Float, kOtherError);
}

bool is_true(const Node& number) {
  if (number.is_bool()) return number.as_bool();
  if (number.is_int()) return number.as_int() != 0;
  return !number.is_float() || number.as_float() != 0;  // a big integer is never 0
}

Result<OverrideValue> cast_scalar(const Node& scalar, Cast to) {
  if (scalar.is_string()) return cast_text(scalar.as_string(), to);
  if (scalar.is_null()) {
    if (to == Cast::Bool) return OverrideValue(Node::boolean(false));
    return cannot_cast("null", to, kOtherError);
  }
  switch (to) {
    case Cast::Int:
      return number_to_int(scalar);
    case Cast::Float:
      return number_to_float(scalar);
    case Cast::Bool:
      return OverrideValue(Node::boolean(is_true(scalar)));
    case Cast::String:
      break;
  }
  if (scalar.is_bool()) return OverrideValue(Node::string(scalar.as_bool() ? "true" : "false"));
  return OverrideValue(Node::string(PL_TRY(print_value(scalar))));
}

Result<std::vector<OverrideValue>> cast_items(const std::vector<OverrideValue>& items, Cast to) {
  std::vector<OverrideValue> out;
  out.reserve(items.size());
  for (const OverrideValue& item : items) out.push_back(PL_TRY(cast(item, to)));
  return out;
}

Result<OverrideValue> cast_dict(OverrideValue::Dict dict, Cast to) {
  for (OverrideValue::Entry& entry : dict) entry.value = PL_TRY(cast(entry.value, to));
  return OverrideValue(std::move(dict));
}

/// Tags and shuffle are lost, as in Hydra.
Result<OverrideValue> cast_choice(const ChoiceSweep& choice, Cast to) {
  ChoiceSweep out{PL_TRY(cast_items(choice.items, to)), choice.simple};
  for (const OverrideValue& item : out.items) {
    if (item.is_sweep()) {
      return cannot_cast("a choice with a sweep in it", to, kOtherError);
    }
  }
  return OverrideValue(std::move(out));
}

/// The scalar that results from casting a number.
Result<Node> cast_number(const Node& number, Cast to) {
  const OverrideValue value = PL_TRY(cast_scalar(number, to));
  return *value.get<Node>();
}

Result<OverrideValue> cast_range(const RangeSweep& range, Cast to) {
  if (to != Cast::Int && to != Cast::Float) {
    return function_error(kValueError, "a range can only be cast to int or float");
  }
  return OverrideValue(RangeSweep{PL_TRY(cast_number(range.start, to)),
                                  PL_TRY(cast_number(range.stop, to)),
                                  PL_TRY(cast_number(range.step, to))});
}

Result<OverrideValue> cast_interval(const IntervalSweep& interval, Cast to) {
  if (to != Cast::Int && to != Cast::Float) {
    return function_error(kValueError, "an interval can only be cast to int or float");
  }
  return OverrideValue(IntervalSweep{PL_TRY(cast_number(interval.start, to)),
                                     PL_TRY(cast_number(interval.end, to)), interval.tags});
}

Result<OverrideValue> cast_any(const OverrideValue& value, Cast to) {
  if (const auto* scalar = value.get<Node>()) return cast_scalar(*scalar, to);
  if (const auto* quoted = value.get<QuotedString>()) return cast_text(quoted->text, to);
  if (const auto* dict = value.get<OverrideValue::Dict>()) return cast_dict(*dict, to);
  if (const auto* list = value.get<OverrideValue::List>()) {
    return OverrideValue(PL_TRY(cast_items(*list, to)));
  }
  if (const auto* choice = value.get<ChoiceSweep>()) return cast_choice(*choice, to);
  if (const auto* range = value.get<RangeSweep>()) return cast_range(*range, to);
  if (const auto* interval = value.get<IntervalSweep>()) return cast_interval(*interval, to);
  // A glob has no value until it is matched with its config group; bool only needs it to exist.
  if (to == Cast::Bool) return OverrideValue(Node::boolean(true));
  return cannot_cast("a glob", to, kOtherError);
}

}  // namespace

Result<OverrideValue> cast(const OverrideValue& value, Cast to) {
  auto out = cast_any(value, to);
  if (out) {
    out->set_column(value.column());
  } else if (out.error().position()->column == 0) {
    return function_error(out.error().reason().data(), out.error().message(), value.column());
  }
  return out;
}

}  // namespace profline::config
