#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/strings.h"
#include "tools/ncu/internal/csv_row.h"

namespace profline::ncu {
namespace {

/// Length of a sign that groups digits in any style: blank, apostrophe, and their Unicode variants.
std::size_t neutral_separator(std::string_view text) {
  constexpr std::array<std::string_view, 6> kSigns = {" ",      "'",      "\u00a0",
                                                      "\u202f", "\u2009", "\u2019"};
  for (const std::string_view sign : kSigns) {
    if (text.starts_with(sign)) return sign.size();
  }
  return 0;
}

/// The separators in the digits of a cell.
struct Signs {
  int points = 0;
  int commas = 0;
  std::size_t last = 0;    // where the last point or comma is
  std::size_t before = 0;  // digits in front of the first one
  char last_sign = 0;
};

/// Nothing if the cell has anything but digits and separators.
std::optional<Signs> signs_of(std::string_view cell) {
  Signs signs;
  bool any_digit = false;
  for (std::size_t i = 0; i < cell.size();) {
    const char c = cell[i];
    if (c == '.' || c == ',') {
      ++(c == '.' ? signs.points : signs.commas);
      signs.last = i;
      signs.last_sign = c;
    } else if (is_digit(c)) {
      any_digit = true;
      if (signs.points + signs.commas == 0) ++signs.before;
    } else if (const std::size_t length = neutral_separator(cell.substr(i)); length > 0) {
      i += length;
      continue;
    } else {
      return std::nullopt;
    }
    ++i;
  }
  if (!any_digit) return std::nullopt;
  return signs;
}

/// The decimal sign that the cell proves, or 0.
char proven_decimal(std::string_view cell) {
  const auto signs = signs_of(cell);
  if (!signs || signs->last_sign == 0) return 0;
  const char other = signs->last_sign == '.' ? ',' : '.';
  const int same_kind = signs->last_sign == '.' ? signs->points : signs->commas;
  if (signs->points > 0 && signs->commas > 0) return same_kind == 1 ? signs->last_sign : char{0};
  if (same_kind > 1) return other;  // 1,234,567: groups
  const std::size_t after = cell.size() - signs->last - 1;
  const bool could_group =
      after == 3 && signs->before >= 1 && signs->before <= 3 && cell.front() != '0';
  return could_group ? char{0} : signs->last_sign;
}

/// Appends the digits of the integer part without separators to `plain`; false if a separator is
/// misplaced. Groups have three digits; in India all but the last have two.
bool append_integer(std::string_view integer, char group, std::string& plain) {
  std::size_t run = 0;      // digits since the last separator
  bool is_grouped = false;  // there was one
  for (std::size_t i = 0; i < integer.size();) {
    if (is_digit(integer[i])) {
      plain += integer[i++];
      ++run;
      continue;
    }
    const std::size_t length = integer[i] == group ? 1 : neutral_separator(integer.substr(i));
    const bool in_place = is_grouped ? run == 2 || run == 3 : run >= 1 && run <= 3;
    if (length == 0 || !in_place) return false;
    i += length;
    run = 0;
    is_grouped = true;
  }
  return !is_grouped || run == 3;
}

std::optional<double> finite(std::string_view plain) {
  double value = 0;
  const char* const end = plain.data() + plain.size();
  const auto [at, status] = std::from_chars(plain.data(), end, value);
  if (status != std::errc() || at != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Numbers of up to 15 digits in groups of three, which is nearly every cell: an integer divided by
/// a power of ten, both exact as doubles, so that the quotient is correctly rounded. Nothing for
/// anything else, including other numbers.
std::optional<double> parse_short(std::string_view cell, char decimal, char group) {
  constexpr std::size_t kMostBytes = 20;
  constexpr int kMostDigits = 15;
  constexpr std::array kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (cell.size() > kMostBytes) return std::nullopt;
  std::uint64_t number = 0;
  int digits = 0;
  int since_sign = 0;
  char last_sign = 0;
  for (const char c : cell) {
    if (is_digit(c)) {
      number = number * 10 + static_cast<std::uint64_t>(c - '0');
      ++digits;
      ++since_sign;
      continue;
    }
    const bool in_place = last_sign == 0 ? since_sign >= 1 : last_sign == group && since_sign == 3;
    const bool is_group = c == group && since_sign <= 3;
    if (!in_place || (c != decimal && !is_group)) return std::nullopt;
    last_sign = c;
    since_sign = 0;
  }
  if (digits > kMostDigits || since_sign == 0) return std::nullopt;
  if (last_sign == group && since_sign != 3) return std::nullopt;
  const int decimals = last_sign == decimal ? since_sign : 0;
  return static_cast<double>(number) / kPowers[static_cast<std::size_t>(decimals)];
}

struct UnitPart {
  std::string base;
  double factor = 1;
  bool is_time = false;  // then the factor is the number per second
};

struct Word {
  std::string_view text;
  double factor;
};

// The number per second: whole numbers, so that whole ns stay whole.
constexpr std::array kTimes = {Word{"second", 1},    Word{"s", 1},         Word{"msecond", 1e3},
                               Word{"ms", 1e3},      Word{"usecond", 1e6}, Word{"us", 1e6},
                               Word{"nsecond", 1e9}, Word{"ns", 1e9}};
constexpr std::array kPrefixes = {Word{"K", 1e3}, Word{"M", 1e6}, Word{"G", 1e9}, Word{"T", 1e12},
                                  Word{"P", 1e15}};
// Things that ncu counts. Some are written in the plural.
constexpr std::string_view kThings[] = {
    "byte",   "bit",     "hz",     "inst",     "cycle",  "sector", "request",     "warp",
    "thread", "block",   "SM",     "register", "sample", "pass",   "cluster",     "op",
    "flop",   "group",   "way",    "tag",      "wave",   "fma",    "transaction", "wavefront",
    "branch", "context", "launch", "kernel",   "pixel",  "quad",   "instruction", "count"};

std::optional<UnitPart> thing(std::string_view text) {
  for (const std::string_view known : kThings) {
    if (text == known) return UnitPart{std::string(known)};
    if (text.size() == known.size() + 1 && text.ends_with('s') && text.starts_with(known)) {
      return UnitPart{std::string(known)};
    }
  }
  return std::nullopt;
}

std::optional<UnitPart> part(std::string_view text) {
  const auto* const time = std::find_if(kTimes.begin(), kTimes.end(),
                                        [&](const Word& word) { return word.text == text; });
  if (time != kTimes.end()) return UnitPart{"s", time->factor, true};
  if (text == "1") return UnitPart{};
  if (text == "%") return UnitPart{"%"};  // ncu 2025.3 has %/byte and %/register
  if (auto plain = thing(text)) return plain;
  for (const Word& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    auto scaled = thing(text.substr(prefix.text.size()));
    if (!scaled) continue;
    scaled->factor = prefix.factor;
    return scaled;
  }
  return std::nullopt;
}

UnitScale rate(const UnitPart& counted, const UnitPart& time) {
  const double factor = counted.factor * time.factor;
  if (counted.base == "cycle" || counted.base.empty()) return {"hz", factor};
  return {counted.base + "/s", factor};
}

}  // namespace

void NumberStyleGuess::see(std::string_view cell) {
  cell = trim(cell);
  if (cell.starts_with('-')) cell.remove_prefix(1);
  const char decimal = proven_decimal(cell);
  if (decimal == '.') ++points_;
  if (decimal == ',') ++commas_;
}

NumberStyle NumberStyleGuess::style() const {
  return {commas_ > points_ ? ',' : '.'};
}

std::optional<double> parse_number(std::string_view cell, NumberStyle style) {
  cell = trim(cell);
  if (cell.empty() || (!is_digit(cell.back()) && cell.back() != style.decimal)) {
    return std::nullopt;
  }
  const char group = style.decimal == '.' ? ',' : '.';
  if (const auto number = parse_short(cell, style.decimal, group)) return number;
  std::string plain;
  if (cell.front() == '-') {
    plain += '-';
    cell.remove_prefix(1);
  }
  const std::size_t integer_end = std::min(cell.find_first_of("eE"), cell.find(style.decimal));
  if (!append_integer(cell.substr(0, integer_end), group, plain)) return std::nullopt;
  if (integer_end < cell.size()) {
    std::string rest(cell.substr(integer_end));
    if (rest.front() == style.decimal) rest.front() = '.';
    plain += rest;
  }
  return finite(plain);
}

std::optional<UnitScale> unit_scale(std::string_view unit) {
  if (unit.empty() || unit == "%") return UnitScale{std::string(unit), 1};
  const std::size_t slash = unit.find('/');
  const auto above = part(unit.substr(0, slash));
  if (!above) return std::nullopt;
  const UnitScale alone =
      above->is_time ? UnitScale{"ns", 1e9 / above->factor} : UnitScale{above->base, above->factor};
  if (slash == std::string_view::npos) return alone;
  const auto below = part(unit.substr(slash + 1));
  if (!below || (below->base.empty() && !below->is_time)) return std::nullopt;
  if (below->is_time && above->base == "%") return std::nullopt;
  if (below->is_time) return rate(*above, *below);
  return UnitScale{alone.base + '/' + below->base, alone.factor / below->factor};
}

}  // namespace profline::ncu
