#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// How figures are shown to people, everywhere: one rule for rounding, units and plurals.
namespace profline {

/// A measured duration or a mean of several; every std::chrono duration converts to it.
using FractionalNanoseconds = std::chrono::duration<double, std::nano>;

// Text for people: three significant digits for speeds and times, the same in every locale. A value
// that would round up to the next unit is written in that unit (`1.00 ms`, never `1000 us`). A
// value that is not a number (a mean of nothing) is `n/a`.

/// `870 ns`, `12.3 us`, `1.24 ms`, `3.4 s`, `2 min 05 s`, `1 h 02 min`.
std::string human_duration(FractionalNanoseconds duration);
/// For times that a person waits: `0.3 s`, `12.3 s`, then as human_duration().
std::string human_elapsed(FractionalNanoseconds duration);
/// `512 B`, `1.5 KiB`, `3.2 GiB`.
std::string human_bytes(std::uint64_t bytes);
/// `950`, `12.3 k`, `1.24 M`, `3.00 G`, up to `P`; whole numbers below a thousand stay whole.
std::string human_count(double count);
/// `12.3 images/s`, `1.24 k tokens/s`, `0.250 images/s`.
std::string human_rate(double per_second, std::string_view unit);

/// `1 launch`, `20 launches`, `3 copies`. Pass `many` for irregular plurals (`copies or fills`) and
/// for phrases with a verb (`event has`, `events have`).
std::string counted(std::uint64_t number, std::string_view one, std::string_view many = {});

/// A mean: `1 launch`, `399 launches`, `1.4 launches`. From ten on it is rounded to a whole number.
std::string counted_mean(double number, std::string_view one, std::string_view many = {});

/// Three digits with their unit: `2.80 ms`.
std::string duration(double ns);
std::string duration(std::int64_t ns);
/// `28.0 %`; below a tenth of a percent with two digits: `0.012 %`, `0.00049 %`.
std::string percent(double share);
/// `part` as a percentage of `whole`; a dash where `whole` is 0.
std::string percent_of(std::int64_t part, std::int64_t whole);
/// A difference: `+4.9 %`, `-0.3 %`, `+0.0 %`.
std::string signed_percent(double change);
/// A share that somebody chose rather than measured, with the digits that were given: `95 %`, `0.5
/// %`.
std::string chosen_percent(double share);
/// `1.04x`, `3.6x`, `31x`.
std::string factor(double ratio);
/// In steps of a thousand: `1.24 TFLOP/s`, `4.80 TB/s`, `950 B`.
std::string amount(double value, std::string_view unit);
/// A number that has no prefix such as `k`, with three digits: `0.0042`, `12.3`, `1024`.
std::string plain_number(double value);
/// A dash for an unknown value.
std::string duration(const std::optional<double>& ns);
std::string percent(const std::optional<double>& share);
std::string count(const std::optional<double>& value);
std::string amount(const std::optional<double>& value, std::string_view unit);
std::string plain_number(const std::optional<double>& value);

}  // namespace profline
