#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace profline {

/// A length of time as measured or as a mean of measurements; every std::chrono duration fits.
using FractionalNanoseconds = std::chrono::duration<double, std::nano>;

// Text for people: three significant digits where it is about speed, the same in every locale. A
// value that would round up to the next unit is written in that unit (`1.00 ms`, never `1000 us`).
// What is not a number (a mean of nothing) is `n/a`.

/// `870 ns`, `12.3 us`, `1.24 ms`, `3.4 s`, `2 min 05 s`, `1 h 02 min`.
std::string human_duration(FractionalNanoseconds duration);
/// For what a person waits for: `0.3 s`, `12.3 s`, then as human_duration().
std::string human_elapsed(FractionalNanoseconds duration);
/// `512 B`, `1.5 KiB`, `3.2 GiB`.
std::string human_bytes(std::uint64_t bytes);
/// `3.2 GiB/s`.
std::string human_byte_rate(double bytes_per_second);
/// `950`, `12.3 k`, `1.24 M`, `3.00 G`; whole numbers below a thousand stay whole.
std::string human_count(double count);
/// `12.3 images/s`, `1.24 k tokens/s`, `0.250 images/s`.
std::string human_rate(double per_second, std::string_view unit);

}  // namespace profline
