#include "testing/captures/real_launches.h"

#include <charconv>

#include "formats/csv.h"
#include "testing/captures/zoo.h"
#include "testing/paths.h"

namespace profline::testing {
namespace {

template <typename Number>
Number number(std::string_view text) {
  Number value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Result<std::vector<RealLaunch>> real_launches() {
  const std::string text =
      PL_TRY(unzipped(source_dir() / "tests/golden/kernels/torch-2.11-h200/launches.csv.gz"));
  auto table = PL_TRY(csv::TableReader::open(csv::Reader(std::string_view(text)), {}));
  const auto column = [&](std::string_view name) { return *table.header().find(name); };
  const std::size_t grid = column("grid_x");
  const std::size_t block = column("block_x");
  std::vector<RealLaunch> launches;
  while (const csv::Record* row = PL_TRY(table.next())) {
    const auto& cells = row->cells;
    RealLaunch launch;
    for (std::size_t i = 0; i < 3; ++i) {
      launch.grid[i] = number<std::uint32_t>(cells[grid + i]);
      launch.block[i] = number<std::uint32_t>(cells[block + i]);
    }
    launch.kineto_ns = number<std::int64_t>(cells[column("kineto_ns")]);
    launch.ncu_ns = number<std::int64_t>(cells[column("ncu_ns")]);
    launch.kineto = cells[column("kineto")];
    launch.ncu = cells[column("ncu")];
    launch.full = cells[column("full")];
    launch.mangled = cells[column("mangled")];
    launch.function = cells[column("function")];
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace profline::testing
