#include "base/counted.h"

#include <cmath>

#include <fmt/format.h>

namespace profline {
namespace {

bool ends_in_consonant_and_y(std::string_view noun) {
  constexpr std::string_view kVowels = "aeiou";
  return noun.size() > 1 && noun.back() == 'y' &&
         kVowels.find(noun[noun.size() - 2]) == std::string_view::npos;
}

bool takes_es(std::string_view noun) {
  return noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with('s') || noun.ends_with('x');
}

std::string plural_of(std::string_view one, std::string_view many) {
  if (!many.empty()) return std::string(many);
  if (ends_in_consonant_and_y(one)) return std::string(one.substr(0, one.size() - 1)) + "ies";
  return std::string(one) + (takes_es(one) ? "es" : "s");
}

}  // namespace

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? std::string(one) : plural_of(one, many));
}

std::string counted_mean(double number, std::string_view one, std::string_view many) {
  constexpr double kWholeFrom = 9.95;
  const bool is_whole = number >= kWholeFrom || std::abs(number - std::round(number)) < 0.05;
  const std::string shown = fmt::format("{:.{}f}", number, is_whole ? 0 : 1);
  return shown + ' ' + (shown == "1" ? std::string(one) : plural_of(one, many));
}

}  // namespace profline
