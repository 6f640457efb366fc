#include "config/python_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/assert.h"
#include "formats/python_number.h"

namespace profline::config {

std::optional<Node> parse_python_int(std::string_view text) {
  const std::optional<std::string> digits = python_int(text, 10);
  return digits ? std::optional(integer_node(*digits)) : std::nullopt;
}

Node integer_node(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return Node::integer(0);
  const std::string text = (negative ? "-" : "") + std::string(digits);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc()) return Node::integer(value);
  return Node::big_integer(text);
}

Node truncated(double value) {
  PL_ASSERT(std::isfinite(value), "only a finite number has an integer part");
  std::array<char, 512> buffer{};  // the largest double has 309 digits
  const auto [end, problem] = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                            std::trunc(value), std::chars_format::fixed, 0);
  PL_ASSERT(problem == std::errc(), "the largest double has 309 digits");
  return integer_node({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

std::optional<double> to_double(const Node& number) {
  switch (number.kind()) {
    case Node::Kind::Bool:
      return number.as_bool() ? 1.0 : 0.0;
    case Node::Kind::Int:
      return static_cast<double>(number.as_int());
    case Node::Kind::Float:
      return number.as_float();
    default:
      break;
  }
  PL_ASSERT(number.kind() == Node::Kind::BigInt, "only numbers become a double");
  const std::optional<double> value = python_float(number.as_big_int());
  PL_ASSERT(value, "a big integer is decimal digits");
  return std::isinf(*value) ? std::nullopt : value;
}

}  // namespace profline::config
