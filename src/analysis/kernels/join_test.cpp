#include "analysis/kernels/join.h"

#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "testing/captures/real_launches.h"

namespace profline::kernels {
namespace {

using testing::RealLaunch;

KernelUse row(std::string name, std::uint32_t grid, std::int64_t time_ns = 1) {
  KernelUse use;
  use.printed_name = std::move(name);
  use.grid = {grid, 1, 1};
  use.block = {128, 1, 1};
  use.launches = 1;
  use.total_ns = time_ns;
  return use;
}

std::string summary(const Joined& joined) {
  std::string text;
  for (const JoinedKernel& kernel : joined.kernels) {
    constexpr std::string_view kStates[] = {"matched", "ambiguous", "unmatched"};
    text += std::string(kStates[static_cast<std::size_t>(kernel.state)]) + ' ' + kernel.name;
    for (const auto& rows : kernel.rows) {
      text += " [";
      for (const std::size_t index : rows) text += std::to_string(index);
      text += ']';
    }
    text += kernel.reason.empty() ? "\n" : ": " + kernel.reason + '\n';
  }
  return text;
}

TEST(KernelJoin, PairsWhatIsOneKernelByNameAndShape) {
  const std::vector<KernelTable> tables = {
      {"Kineto",
       {row("void a::f<4>(int)", 1, 70), row("void a::f<4>(int)", 2, 20), row("k", 1, 10)}},
      {"ncu", {row("void f<4>(int)", 2), row("void f<4>(int)", 1), row("k", 1)}},
  };
  const Joined joined = join(tables);
  EXPECT_EQ(summary(joined),
            "matched a::f<4>(int) [0] [1]\nmatched a::f<4>(int) [1] [0]\nmatched k [2] [2]\n");
  EXPECT_EQ(joined.matched_share, 1.0);
}

TEST(KernelJoin, NeverGuesses) {
  const std::vector<KernelTable> tables = {
      {"Kineto",
       {row("void a::f<4>(int)", 1, 40), row("void b::f<4>(int)", 1, 30),
        row("void a::g<4>(int)", 1, 10), row("void b::g<4>(int)", 1, 10), row("only", 1, 10)}},
      {"ncu", {row("void f<4>(int)", 1), row("void b::g<4>(int)", 1), row("other", 1)}},
  };
  const Joined joined = join(tables);
  EXPECT_EQ(
      summary(joined),
      "ambiguous a::f<4>(int) [01] [0]: 2 of Kineto agree in name and shape with one kernel of "
      "another table\n"
      "unmatched a::g<4>(int) [2] []: not in ncu\n"
      "matched b::g<4>(int) [3] [1]\n"
      "unmatched only [4] []: not in ncu\n"
      "unmatched other [] [2]: not in Kineto\n");
  EXPECT_DOUBLE_EQ(joined.matched_share, 0.1);
}

TEST(KernelJoin, TakesWhatATableLeavesOut) {
  KernelUse shapeless = row("f", 1);
  shapeless.grid = {};
  shapeless.block = {0, 0, 0};
  const std::vector<KernelTable> without_shapes = {{"Kineto", {row("f", 1)}},
                                                   {"nsys", {shapeless}}};
  EXPECT_EQ(summary(join(without_shapes)), "matched f [0] [0]\n");
  const std::vector<KernelTable> two_shapes = {{"Kineto", {row("f", 1), row("f", 2)}},
                                               {"nsys", {shapeless}}};
  EXPECT_EQ(join(two_shapes).kernels.front().state, JoinState::Ambiguous);
  const std::vector<KernelTable> functions = {
      {"Kineto",
       {row("void a::f<4>(int)", 1), row("void a::g<4>(int)", 1), row("void a::g<8>(int)", 1)}},
      {"ncu", {row("f", 1), row("g", 1)}, true}};
  EXPECT_EQ(
      summary(join(functions)),
      "matched a::f<4>(int) [0] [0]\n"
      "ambiguous a::g<4>(int) [12] [1]: 2 of Kineto agree in name and shape with one kernel of "
      "another table\n");
  EXPECT_TRUE(join({}).kernels.empty());
}

/// The launches of one table as rows, one per spelling and shape, and the row of each launch.
KernelTable table_of(const std::vector<RealLaunch>& launches, std::string tool,
                     std::string RealLaunch::*name, std::int64_t RealLaunch::*time,
                     std::vector<std::size_t>& row_of) {
  KernelTable table{std::move(tool), {}};
  std::map<std::tuple<std::string, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>,
           std::size_t>
      rows;
  for (const RealLaunch& launch : launches) {
    const auto [place, is_new] =
        rows.try_emplace(std::tuple(launch.*name, launch.grid, launch.block), table.rows.size());
    if (is_new) {
      KernelUse& use = table.rows.emplace_back();
      use.printed_name = launch.*name;
      use.grid.assign(launch.grid.begin(), launch.grid.end());
      use.block.assign(launch.block.begin(), launch.block.end());
    }
    KernelUse& found = table.rows[place->second];
    ++found.launches;
    found.total_ns += launch.*time;
    row_of.push_back(place->second);
  }
  return table;
}

// The tables agree launch by launch, so each pair that the join makes can be checked.
TEST(KernelJoin, PairsARealProgramWithoutAWrongPair) {
  const auto launches = testing::real_launches();
  ASSERT_TRUE(launches) << launches.error().to_string();
  std::vector<std::size_t> kineto_rows;
  std::vector<std::size_t> ncu_rows;
  std::vector<std::size_t> full_rows;
  const std::vector<KernelTable> tables = {
      table_of(*launches, "Kineto", &RealLaunch::kineto, &RealLaunch::kineto_ns, kineto_rows),
      table_of(*launches, "ncu", &RealLaunch::ncu, &RealLaunch::ncu_ns, ncu_rows),
      table_of(*launches, "nsys", &RealLaunch::full, &RealLaunch::ncu_ns, full_rows)};
  const Joined joined = join(tables);
  EXPECT_GE(joined.matched_share, 0.95);
  std::vector<std::map<std::size_t, std::size_t>> kernel_of(tables.size());
  for (std::size_t i = 0; i < joined.kernels.size(); ++i) {
    for (std::size_t table = 0; table < tables.size(); ++table) {
      for (const std::size_t index : joined.kernels[i].rows[table]) {
        EXPECT_TRUE(kernel_of[table].emplace(index, i).second) << "a row in two kernels";
      }
    }
  }
  for (std::size_t launch = 0; launch < launches->size(); ++launch) {
    const std::size_t kernel = kernel_of[0].at(kineto_rows[launch]);
    EXPECT_EQ(kernel_of[1].at(ncu_rows[launch]), kernel) << (*launches)[launch].ncu;
    EXPECT_EQ(kernel_of[2].at(full_rows[launch]), kernel) << (*launches)[launch].full;
  }
}

}  // namespace
}  // namespace profline::kernels
