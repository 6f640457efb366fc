#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profline {

/// `1 launch`, `20 launches`, `3 copies`. `many` is for nouns that do not follow the rules
/// (`copy or fill`) and for phrases with their verb (`event has`, `events have`).
std::string counted(std::uint64_t number, std::string_view one, std::string_view many = {});

/// A mean: `1 launch`, `399 launches`, `1.4 launches`. From ten on it is rounded to a whole number.
std::string counted_mean(double number, std::string_view one, std::string_view many = {});

}  // namespace profline
