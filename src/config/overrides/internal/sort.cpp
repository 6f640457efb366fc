#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "config/overrides/internal/decimal.h"
#include "config/overrides/internal/functions.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

bool is_number(const Node& scalar) {
  return scalar.is_bool() || scalar.is_int() || scalar.is_float() ||
         scalar.kind() == Node::Kind::BigInt;
}

/// Negative, 0 or positive; nothing if one is NaN, which is unordered.
std::optional<int> compare_numbers(const Node& a, const Node& b) {
  if (is_nan(a) || is_nan(b)) return std::nullopt;
  if (a.is_int() && b.is_int()) {
    return a.as_int() == b.as_int() ? 0 : (a.as_int() < b.as_int() ? -1 : 1);
  }
  if (a.is_float() && b.is_float()) {
    return a.as_float() == b.as_float() ? 0 : (a.as_float() < b.as_float() ? -1 : 1);
  }
  return Decimal(a).compare(Decimal(b));
}

bool equal(const OverrideValue& a, const OverrideValue& b);

bool equal_scalars(const Node& a, const Node& b) {
  if (is_number(a) && is_number(b)) return compare_numbers(a, b) == 0;
  return a == b;
}

bool equal_lists(const std::vector<OverrideValue>& a, const std::vector<OverrideValue>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

bool equal_dicts(const OverrideValue::Dict& a, const OverrideValue::Dict& b) {
  if (a.size() != b.size()) return false;
  std::unordered_map<std::string, const OverrideValue*> values;
  for (const OverrideValue::Entry& entry : b) values.emplace(key_identity(entry.key), &entry.value);
  return std::all_of(a.begin(), a.end(), [&](const OverrideValue::Entry& entry) {
    const std::string identity = key_identity(entry.key);
    const auto other = values.find(identity);
    return !identity.empty() && other != values.end() && equal(entry.value, *other->second);
  });
}

/// Python's `==`.
bool equal(const OverrideValue& a, const OverrideValue& b) {
  if (a.get<Node>() != nullptr && b.get<Node>() != nullptr) {
    return equal_scalars(*a.get<Node>(), *b.get<Node>());
  }
  if (a.get<OverrideValue::List>() != nullptr && b.get<OverrideValue::List>() != nullptr) {
    return equal_lists(*a.get<OverrideValue::List>(), *b.get<OverrideValue::List>());
  }
  if (a.get<OverrideValue::Dict>() != nullptr && b.get<OverrideValue::Dict>() != nullptr) {
    return equal_dicts(*a.get<OverrideValue::Dict>(), *b.get<OverrideValue::Dict>());
  }
  return a == b;
}

/// Python's `<`, and the first pair that it cannot compare.
class Order {
 public:
  bool less(const OverrideValue& a, const OverrideValue& b) {
    if (problem_) return false;
    const auto* x = a.get<Node>();
    const auto* y = b.get<Node>();
    if (x != nullptr && y != nullptr) {
      if (is_number(*x) && is_number(*y)) return compare_numbers(*x, *y).value_or(0) < 0;
      if (x->is_string() && y->is_string()) return x->as_string() < y->as_string();
    }
    const auto* left = a.get<OverrideValue::List>();
    const auto* right = b.get<OverrideValue::List>();
    if (left != nullptr && right != nullptr) return less_list(*left, *right);
    problem_ = function_error(kTypeError, "cannot sort: " + std::string(type_name(a)) + " and " +
                                              std::string(type_name(b)) + " have no order");
    return false;
  }

  const std::optional<Error>& problem() const { return problem_; }

 private:
  bool less_list(const OverrideValue::List& a, const OverrideValue::List& b) {
    const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), equal);
    if (x == a.end() || y == b.end()) return a.size() < b.size();
    return less(*x, *y);
  }

  std::optional<Error> problem_;
};

using Items = std::vector<OverrideValue>;
using Iterator = Items::iterator;

/// Sorts [first, last), of which [first, sorted) is in order: each further item goes after the last
/// one that is not greater.
void binary_insertion_sort(Iterator first, Iterator in_order, Iterator last, Order& order) {
  const auto less = [&](const OverrideValue& a, const OverrideValue& b) {
    return order.less(a, b);
  };
  for (Iterator next = in_order; next != last; ++next) {
    const Iterator place = std::upper_bound(first, next, *next, less);
    std::rotate(place, next, std::next(next));
  }
}

/// The end of the run at `first`; a descending run is reversed.
Iterator count_run(Iterator first, Iterator last, Order& order) {
  Iterator end = std::next(first);
  if (end == last) return last;
  const bool falling = order.less(*end, *first);
  ++end;
  while (end != last && order.less(*end, *std::prev(end)) == falling) ++end;
  if (falling) std::reverse(first, end);
  return end;
}

/// Below this size Python sorts by insertion; above it merges, which differs only if NaN makes the
/// order inconsistent.
constexpr std::ptrdiff_t kInsertionLimit = 64;

void sort_ascending(Items& items, Order& order) {
  const auto chunk_end = [&](Iterator from) {
    return items.end() - from <= kInsertionLimit ? items.end() : from + kInsertionLimit;
  };
  const auto size = static_cast<std::ptrdiff_t>(items.size());
  if (size < kInsertionLimit) {
    if (size > 1) {
      const Iterator run = count_run(items.begin(), items.end(), order);
      binary_insertion_sort(items.begin(), run, items.end(), order);
    }
    return;
  }
  for (Iterator from = items.begin(); from != items.end(); from = chunk_end(from)) {
    binary_insertion_sort(from, from, chunk_end(from), order);
  }
  const auto less = [&](const OverrideValue& a, const OverrideValue& b) {
    return order.less(a, b);
  };
  for (std::ptrdiff_t width = kInsertionLimit; width < size; width *= 2) {
    for (std::ptrdiff_t at = 0; at + width < size; at += 2 * width) {
      std::inplace_merge(items.begin() + at, items.begin() + at + width,
                         items.begin() + std::min(at + 2 * width, size), less);
    }
  }
}

/// Python's a + b for two numbers; nothing where it raises OverflowError.
std::optional<Node> add(const Node& a, const Node& b) {
  if (!a.is_float() && !b.is_float()) return Decimal(a).plus(Decimal(b)).to_integer();
  const auto x = to_double(a);
  const auto y = to_double(b);
  if (!x || !y) return std::nullopt;
  return Node::real(*x + *y);
}

Node negated(const Node& number) {
  if (number.is_float()) return Node::real(-number.as_float());
  return Decimal(number).negated().to_integer();
}

Node magnitude(const Node& number) {
  if (number.is_float()) return Node::real(std::fabs(number.as_float()));
  const Decimal value(number);
  return value.is_negative() ? value.negated().to_integer() : value.to_integer();
}

}  // namespace

Result<std::vector<OverrideValue>> sorted(std::vector<OverrideValue> items, bool reverse) {
  Order order;
  // Reversed before and after, so that equal items keep their order.
  if (reverse) std::reverse(items.begin(), items.end());
  sort_ascending(items, order);
  if (reverse) std::reverse(items.begin(), items.end());
  if (order.problem()) return *order.problem();
  return items;
}

Result<RangeSweep> sorted(RangeSweep range, bool reverse) {
  const int order = compare_numbers(range.start, range.stop).value_or(0);
  if (reverse ? order >= 0 : order <= 0) return range;
  const Node step = magnitude(range.step);
  const Node towards = reverse ? negated(step) : step;
  auto start = add(range.stop, towards);
  auto stop = add(range.start, towards);
  if (!start || !stop) {
    return function_error(kOtherError, "an integer beyond the largest float cannot be sorted here");
  }
  range.start = std::move(*start);
  range.stop = std::move(*stop);
  range.step = negated(range.step);
  return range;
}

std::string key_identity(const Node& key) {
  if (key.is_string()) return "s" + key.as_string();
  if (key.is_null()) return "null";
  if (is_nan(key)) return {};
  if (key.is_float()) {
    const double value = key.as_float();
    const bool whole = std::isfinite(value) && std::trunc(value) == value;
    if (!whole) return "f" + python_repr(value);
    return key_identity(truncated(value));
  }
  const Node number = key.is_bool() ? Node::integer(key.as_bool() ? 1 : 0) : key;
  return number.is_int() ? std::to_string(number.as_int()) : number.as_big_int();
}

}  // namespace profline::config
