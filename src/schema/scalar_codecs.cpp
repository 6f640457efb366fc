#include "schema/scalar_codecs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "schema/docs.h"

namespace profline::schema::internal {
namespace {

double as_double(const Number& number) {
  return std::visit([](auto held) { return static_cast<double>(held); }, number);
}

std::string to_text(const Number& number) {
  if (const auto* whole = std::get_if<std::int64_t>(&number)) return std::to_string(*whole);
  return float_text(std::get<double>(number));
}

/// Integers are compared as integers, because a double cannot hold all of them.
bool less(const Number& a, const Number& b) {
  const auto* whole_a = std::get_if<std::int64_t>(&a);
  const auto* whole_b = std::get_if<std::int64_t>(&b);
  if (whole_a != nullptr && whole_b != nullptr) return *whole_a < *whole_b;
  return as_double(a) < as_double(b);
}

bool within(const Number& value, const Limits& limits) {
  if (limits.at_least && less(value, *limits.at_least)) return false;
  if (limits.above && !less(*limits.above, value)) return false;
  return !(limits.at_most && less(*limits.at_most, value));
}

double big_to_double(const std::string& digits) {
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc::result_out_of_range) return value;
  const double infinity = std::numeric_limits<double>::infinity();
  return digits.starts_with('-') ? -infinity : infinity;
}

/// Of an integer or a float node.
double real_value(const Node& node) {
  if (node.is_int()) return static_cast<double>(node.as_int());
  if (node.is_float()) return node.as_float();
  return big_to_double(node.as_big_int());
}

/// Nothing when it is negative or too large.
std::optional<std::uint64_t> from_digits(const std::string& digits) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = failure == std::errc() && end == digits.data() + digits.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// The limits combined with the range of the type, for a number outside that range.
std::string range_text(std::int64_t lowest, std::uint64_t highest, const Limits& limits) {
  const std::string most = limits.at_most ? to_text(*limits.at_most) : std::to_string(highest);
  if (limits.above) return "integer > " + to_text(*limits.above) + " and <= " + most;
  const std::string least = limits.at_least ? to_text(*limits.at_least) : std::to_string(lowest);
  return "integer from " + least + " to " + most;
}

}  // namespace

std::string number_text(std::string_view noun, const Limits& limits) {
  std::string text(noun);
  if (limits.at_least && limits.at_most) {
    return text + " from " + to_text(*limits.at_least) + " to " + to_text(*limits.at_most);
  }
  if (limits.at_least) text += " >= " + to_text(*limits.at_least);
  if (limits.above) text += " > " + to_text(*limits.above);
  if (limits.at_most) text += (limits.above ? " and <= " : " <= ") + to_text(*limits.at_most);
  return text;
}

std::string integer_text(std::int64_t lowest, std::uint64_t highest, const Limits& limits) {
  // The range of a wide type is mentioned only when a number is outside it.
  constexpr std::uint64_t kWide = std::numeric_limits<std::uint16_t>::max();
  const bool narrow = highest <= kWide;
  Limits shown = limits;
  if (!shown.at_least && !shown.above && (lowest == 0 || narrow)) shown.at_least = lowest;
  if (!shown.at_most && narrow) shown.at_most = static_cast<std::int64_t>(highest);
  return number_text("integer", shown);
}

std::optional<std::int64_t> read_signed(const Node& node, std::int64_t lowest, std::int64_t highest,
                                        Reader& reader) {
  const Limits& limits = reader.limits();
  if (!node.is_int() || node.as_int() < lowest || node.as_int() > highest) {
    reader.mismatch_of(node, range_text(lowest, static_cast<std::uint64_t>(highest), limits));
    return std::nullopt;
  }
  if (within(node.as_int(), limits)) return node.as_int();
  reader.mismatch(node);
  return std::nullopt;
}

std::optional<std::uint64_t> read_unsigned(const Node& node, std::uint64_t highest,
                                           Reader& reader) {
  const Limits& limits = reader.limits();
  if (node.is_int() && (node.as_int() < 0 || !within(node.as_int(), limits))) {
    reader.mismatch(node);
    return std::nullopt;
  }
  const std::optional<std::uint64_t> value =
      node.is_int() ? static_cast<std::uint64_t>(node.as_int()) : from_digits(node.as_big_int());
  // An upper limit is below any integer that only an unsigned type can hold.
  if (value && *value <= highest && (node.is_int() || !limits.at_most)) return value;
  reader.mismatch_of(node, range_text(0, highest, limits));
  return std::nullopt;
}

Node write_unsigned(std::uint64_t value) {
  constexpr std::uint64_t kSigned = std::numeric_limits<std::int64_t>::max();
  if (value > kSigned) return Node::big_integer(std::to_string(value));
  return Node::integer(static_cast<std::int64_t>(value));
}

std::optional<double> read_real(const Node& node, Reader& reader) {
  const double value = real_value(node);
  const Number number = node.is_int() ? Number(node.as_int()) : Number(value);
  if (!std::isnan(value) && within(number, reader.limits())) return value;
  reader.mismatch(node);
  return std::nullopt;
}

std::string seconds_text(Tick tick, bool whole_ticks, const Limits& limits) {
  const bool whole_seconds = whole_ticks && tick.denominator == 1;
  return number_text(whole_seconds ? "whole number of seconds" : "number of seconds", limits);
}

std::optional<std::int64_t> read_ticks(const Node& node, Tick tick, Reader& reader) {
  const std::optional<double> seconds = read_real(node, reader);
  if (!seconds) return std::nullopt;
  const double per_second =
      static_cast<double>(tick.denominator) / static_cast<double>(tick.numerator);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const double ticks = *seconds * per_second;
  if (std::abs(ticks) >= static_cast<double>(kMost)) {
    reader.mismatch_of(
        node, "number of seconds below " + float_text(static_cast<double>(kMost) / per_second));
    return std::nullopt;
  }
  // 1.001 * 1000 is not quite 1001 in binary; half a tick is far from one.
  constexpr double kRounding = 1e-6;
  const double whole = std::nearbyint(ticks);
  if (std::abs(ticks - whole) > kRounding * std::max(1.0, std::abs(ticks) * kRounding)) {
    if (tick.numerator == 1 && tick.denominator == 1) {
      reader.mismatch(node);
    } else {
      reader.mismatch_of(node, "number of seconds in steps of " + value_text(write_ticks(1, tick)));
    }
    return std::nullopt;
  }
  if (node.is_int() && tick.numerator == 1) return node.as_int() * tick.denominator;  // exactly
  return static_cast<std::int64_t>(whole);
}

Node write_ticks(std::int64_t ticks, Tick tick) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / tick.numerator;
  const std::int64_t periods = ticks / tick.denominator;
  if (ticks % tick.denominator == 0 && periods <= most && periods >= -most) {
    return Node::integer(periods * tick.numerator);
  }
  return Node::real(static_cast<double>(ticks) * static_cast<double>(tick.numerator) /
                    static_cast<double>(tick.denominator));
}

std::string enum_text(std::span<const EnumEntry> names) {
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const EnumEntry& entry : names) texts.emplace_back(entry.name);
  return "one of " + join(texts, ", ");
}

std::optional<std::int64_t> read_enum(const Node& node, std::span<const EnumEntry> names,
                                      Reader& reader) {
  const std::string_view given =
      node.is_bool() ? (node.as_bool() ? "true" : "false") : std::string_view(node.as_string());
  std::vector<std::string> strings;
  std::string hint;
  for (const EnumEntry& entry : names) {
    if (entry.name == given && entry.is_boolean == node.is_bool()) return entry.value;
    if (entry.name == given && entry.is_boolean) hint = " (without quotes)";
    if (!entry.is_boolean) strings.emplace_back(entry.name);
  }
  if (hint.empty() && node.is_string()) hint = did_you_mean(given, strings);
  reader.mismatch(node, hint);
  return std::nullopt;
}

const EnumEntry& enum_entry(std::int64_t value, std::span<const EnumEntry> names) {
  const auto entry = std::find_if(names.begin(), names.end(),
                                  [&](const EnumEntry& each) { return each.value == value; });
  PL_ASSERT(entry != names.end(), "names() of an enum lists every value that is used");
  return *entry;
}

Node write_enum(std::int64_t value, std::span<const EnumEntry> names) {
  const EnumEntry& entry = enum_entry(value, names);
  return entry.is_boolean ? Node::boolean(entry.name == "true")
                          : Node::string(std::string(entry.name));
}

}  // namespace profline::schema::internal
