// One program with many kernels (tests/gpu/kernel_zoo.cpp) as nsys, Kineto and ncu recorded it.
// Each ran it separately, so they share no correlation ids; the order of launches is the same and
// identifies the kernels.

#include "testing/captures/zoo.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/join.h"
#include "base/files.h"
#include "testing/temp_dir.h"
#include "tools/ncu/csv_reader.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace.h"

namespace profline::kernels {
namespace {

struct Launch {
  std::string name;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::int64_t time_ns = 0;
};
using Launches = std::vector<Launch>;

Result<Timeline> nsys_capture(const std::string& name) {
  const testing::TempDir folder;
  const auto file = folder.path() / "capture.sqlite";
  PL_TRY(write_file_atomic(file, PL_TRY(testing::unzipped(testing::zoo_capture(name)))));
  return nsys::read_sqlite(file);
}

/// Kineto reports copies and fills of a graph as kernels of the driver, nsys as copies and fills.
bool is_of_the_driver(const std::string& name) {
  return name == "memcpy128" || name == "memset32";
}

/// Kernels in the order in which the program launched them; those of a graph in the order in which
/// they ran.
Launches kernels_in_order(const Timeline& timeline) {
  std::vector<const DeviceWork*> work;
  for (const DeviceWork& one : timeline.work) {
    if (one.kind != WorkKind::Kernel || is_of_the_driver(timeline.names.text(one.name))) continue;
    EXPECT_NE(one.launch, kNoRow) << timeline.names.text(one.name);
    work.push_back(&one);
  }
  std::sort(work.begin(), work.end(), [](const DeviceWork* a, const DeviceWork* b) {
    return std::tie(a->launch, a->start_ns) < std::tie(b->launch, b->start_ns);
  });
  Launches launches;
  for (const DeviceWork* one : work) {
    const LaunchShape& shape = timeline.shapes[one->shape];
    launches.push_back(
        {timeline.names.text(one->name), shape.grid, shape.block, one->duration_ns()});
  }
  return launches;
}

Result<Launches> ncu_launches() {
  const std::string text = PL_TRY(testing::unzipped(testing::zoo_capture("ncu.csv.gz")));
  const CounterReport report = PL_TRY(ncu::read_csv(text, {.source = "ncu.csv", .keep = {}}));
  Launches launches;
  for (const ProfiledKernel& kernel : report.kernels) {
    const Counter* time = report.find(kernel, "gpu__time_duration.sum");
    launches.push_back({report.names.text(kernel.name), kernel.shape.grid, kernel.shape.block,
                        time == nullptr ? 0 : static_cast<std::int64_t>(time->value)});
  }
  return launches;
}

/// The launches of one tool as a table, one row per name and shape, and the row of each launch.
struct Table {
  KernelTable table;
  std::vector<std::size_t> row_of;
};

Table table_of(std::string tool, const Launches& launches) {
  Table made{{std::move(tool), {}}, {}};
  using Shape = std::array<std::uint32_t, 3>;
  std::map<std::tuple<std::string, Shape, Shape>, std::size_t> known;
  for (const Launch& launch : launches) {
    const auto [place, is_new] = known.try_emplace(
        std::tuple(launch.name, launch.grid, launch.block), made.table.rows.size());
    if (is_new) {
      KernelUse& use = made.table.rows.emplace_back();
      use.printed_name = launch.name;
      use.grid.assign(launch.grid.begin(), launch.grid.end());
      use.block.assign(launch.block.begin(), launch.block.end());
    }
    KernelUse& row = made.table.rows[place->second];
    ++row.launches;
    row.total_ns += launch.time_ns;
    made.row_of.push_back(place->second);
  }
  return made;
}

class Zoo : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto nsys = nsys_capture("nsys-node.sqlite.gz");
    ASSERT_TRUE(nsys) << nsys.error().to_string();
    const auto kineto = torch_profiler::read_trace(testing::zoo_capture("kineto.json.gz"));
    ASSERT_TRUE(kineto) << kineto.error().to_string();
    const auto ncu = ncu_launches();
    ASSERT_TRUE(ncu) << ncu.error().to_string();
    tools = {kernels_in_order(*nsys), kernels_in_order(*kineto), *ncu};
    tables = {table_of("nsys", tools[0]), table_of("Kineto", tools[1]), table_of("ncu", tools[2])};
    const std::vector<KernelTable> plain = {tables[0].table, tables[1].table, tables[2].table};
    joined = join(plain);
    kernel_of.resize(tables.size());
    for (std::size_t i = 0; i < joined.kernels.size(); ++i) {
      for (std::size_t table = 0; table < tables.size(); ++table) {
        for (const std::size_t row : joined.kernels[i].rows[table]) {
          EXPECT_TRUE(kernel_of[table].emplace(row, i).second) << "a row in two kernels";
        }
      }
    }
  }

  std::vector<Launches> tools;
  std::vector<Table> tables;
  Joined joined;
  std::vector<std::map<std::size_t, std::size_t>> kernel_of;  // by table: row to joined kernel
};

TEST_F(Zoo, IsSeenByAllToolsInOneOrder) {
  ASSERT_EQ(tools[0].size(), 535U);
  ASSERT_EQ(tools[1].size(), 535U);
  ASSERT_EQ(tools[2].size(), 333U);  // ncu was stopped within the graph
  for (const std::size_t other : {std::size_t{1}, std::size_t{2}}) {
    for (std::size_t i = 0; i < tools[other].size(); ++i) {
      EXPECT_EQ(tools[0][i].grid, tools[other][i].grid) << i << ' ' << tools[0][i].name;
      EXPECT_EQ(tools[0][i].block, tools[other][i].block) << i << ' ' << tools[0][i].name;
    }
  }
}

TEST_F(Zoo, HasEveryRowInOneKernelAndNoWrongPair) {
  for (std::size_t table = 0; table < tables.size(); ++table) {
    EXPECT_EQ(kernel_of[table].size(), tables[table].table.rows.size());
  }
  for (const std::size_t other : {std::size_t{1}, std::size_t{2}}) {
    for (std::size_t i = 0; i < tools[other].size(); ++i) {
      const JoinedKernel& kernel = joined.kernels[kernel_of[0].at(tables[0].row_of[i])];
      if (kernel.state != JoinState::Matched) continue;
      EXPECT_EQ(kernel_of[other].at(tables[other].row_of[i]), kernel_of[0].at(tables[0].row_of[i]))
          << i << "\n  " << tools[0][i].name << "\n  " << tools[other][i].name;
    }
  }
}

TEST_F(Zoo, IsPairedAsAWhole) {
  std::set<std::string> names;
  for (const JoinedKernel& kernel : joined.kernels) {
    names.insert(kernel.name);
    EXPECT_EQ(kernel.state, JoinState::Matched) << kernel.reason << ": " << kernel.name;
  }
  EXPECT_EQ(names.size(), 139U);
  EXPECT_EQ(joined.matched_share, 1.0);
}

}  // namespace
}  // namespace profline::kernels
