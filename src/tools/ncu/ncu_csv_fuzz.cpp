// For any bytes: reading them whole and in pieces gives the same result, every row is used or
// skipped, and every number is finite.

#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "tools/ncu/csv_reader.h"

namespace {

using namespace profline;  // NOLINT(google-build-using-namespace): a program of one file

Result<CounterReport> read_pieces(std::string_view text, std::size_t size) {
  return ncu::read_csv(
      [text, size]() mutable -> Result<std::string_view> {
        const std::string_view chunk = text.substr(0, size);
        text.remove_prefix(chunk.size());
        return chunk;
      },
      ncu::ReadOptions());
}

void check(const CounterReport& report) {
  for (const ProfiledKernel& kernel : report.kernels) {
    for (const Counter& counter : kernel.counters) {
      PL_ASSERT(!std::isnan(counter.value), "cells without a number are not made into one");
      PL_ASSERT(!report.names.text(counter.name).empty(), "a counter has a name");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libFuzzer hands out bytes
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = ncu::read_csv(text, {});
  const auto pieces = read_pieces(text, 7);
  PL_ASSERT(whole.has_value() == pieces.has_value(), "pieces do not decide what is a table");
  if (!whole) return 0;
  check(*whole);
  PL_ASSERT(whole->reading == pieces->reading, "pieces do not decide what is skipped");
  PL_ASSERT(whole->cells == pieces->cells, "pieces do not decide what is a number");
  PL_ASSERT(whole->kernels.size() == pieces->kernels.size(), "pieces do not decide what is a row");
  return 0;
}
