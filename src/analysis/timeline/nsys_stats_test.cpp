// Compares our tables with those of NVIDIA's own `nsys stats` for a generated capture: the output
// of nsys 2023.4 is in tests/golden/nsys/2023.4-stats, and where an nsys is available
// (PROFLINE_NSYS, on PATH, or under build/tools) it is run again.

#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/group_kernels.h"
#include "analysis/timeline/transfers.h"
#include "base/files.h"
#include "formats/csv.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "testing/captures/nsys_export.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/nsys/stats_csv.h"

namespace profline::timeline {
namespace {

/// The capture that the stored tables belong to.
constexpr testing::DecodeLoop kLoop{.kernels = 240, .seed = 1};

using StatsRow = std::map<std::string, std::string>;

std::vector<StatsRow> rows_of(const std::string& csv_text, const std::string& required) {
  std::vector<StatsRow> rows;
  Result<csv::TableReader> table = csv::TableReader::open(
      csv::Reader(std::string_view(csv_text)), {.required = {required}, .preamble = true});
  EXPECT_TRUE(table) << csv_text;
  if (!table) return rows;
  const std::vector<std::string> names = table->header().names();
  Result<const csv::Record*> record = table->next();
  for (; record && *record != nullptr; record = table->next()) {
    StatsRow row;
    for (std::size_t cell = 0; cell < names.size(); ++cell) {
      row[names[cell]] = std::string((*record)->cells[cell]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::int64_t integer(const StatsRow& row, const std::string& column) {
  const auto number = csv::parse_integer(row.at(column));
  EXPECT_TRUE(number) << column << ": " << row.at(column);
  return number ? *number : -1;
}

double rounded(double value) {
  return std::round(value * 10) / 10;
}

/// A figure that nsys prints with one decimal; it may round halves either way.
void expect_printed(std::optional<double> printed, double ours) {
  ASSERT_TRUE(printed);
  EXPECT_NEAR(*printed, rounded(ours), 0.1001);
}

/// Tables of nsys by report name.
using Stats = std::function<std::string(const std::string& report)>;

class Comparison {
 public:
  Comparison(const Timeline& timeline, const Stats& stats)
      : timeline_(timeline), attribution_(Attribution::of(timeline)), stats_(stats) {}

  void kernels(const std::string& report, bool by_shape) const {
    SCOPED_TRACE(report);
    const auto theirs = nsys::read_kernel_summary(stats_(report));
    ASSERT_TRUE(theirs) << theirs.error().to_string();
    const auto shape = by_shape ? KernelKeys::Shape::Whole : KernelKeys::Shape::Any;
    const KernelUses ours = group_kernels(timeline_, {.spelling = true, .shape = shape});
    ASSERT_EQ(theirs->rows.size(), ours.rows.size());
    for (std::size_t row = 0; row < ours.rows.size(); ++row) {
      SCOPED_TRACE(row);
      const nsys::KernelSummaryRow& their = theirs->rows[row];
      const KernelUse& our = ours.rows[row];
      EXPECT_EQ(their.name, our.printed_name);
      EXPECT_EQ(their.total_ns, our.total_ns);
      EXPECT_EQ(their.instances, our.launches);
      EXPECT_EQ(their.min_ns, static_cast<double>(our.min_ns));
      EXPECT_EQ(their.max_ns, static_cast<double>(our.max_ns));
      expect_printed(their.time_percent, ours.share(our));
      expect_printed(their.mean_ns, our.mean_ns());
      expect_printed(their.median_ns, our.median_ns);
      if (!by_shape) continue;
      EXPECT_THAT(our.grid, ::testing::ElementsAreArray(their.grid.value()));
      EXPECT_THAT(our.block, ::testing::ElementsAreArray(their.block.value()));
    }
  }

  void kernels_by_range() const {
    std::set<std::string> theirs;
    std::set<std::string> names;
    for (const StatsRow& row : rows_of(stats_("nvtx_kern_sum"), "Kern Inst")) {
      names.insert(row.at("NVTX Range"));
      theirs.insert(row.at("NVTX Range") + "|" + row.at("Kernel Name") + "|" + row.at("Kern Inst") +
                    "|" + row.at("Total Time (ns)"));
    }
    std::set<std::string> ours;
    for (const std::string& name : names) {
      const KernelUses uses = group_kernels(timeline_, {.spelling = true},
                                            {.inside = name, .attribution = &attribution_});
      for (const KernelUse& row : uses.rows) {
        ours.insert(name + "|" + row.printed_name + "|" + std::to_string(row.launches) + "|" +
                    std::to_string(row.total_ns));
      }
    }
    EXPECT_GE(names.size(), 14U);
    EXPECT_EQ(ours, theirs);
  }

  void ranges() const {
    const Accounting accounts = account(timeline_, attribution_);
    std::map<std::string, const RangeAccount*> ours;
    for (const RangeAccount& range : accounts.ranges) {
      ours[timeline_.names.text(range.name)] = &range;
    }
    const std::vector<StatsRow> theirs = rows_of(stats_("nvtx_gpu_proj_sum"), "Total GPU Ops");
    EXPECT_EQ(theirs.size(), ours.size());
    for (const StatsRow& row : theirs) {
      SCOPED_TRACE(row.at("Range"));
      ASSERT_EQ(ours.count(row.at("Range")), 1U);
      const RangeAccount& our = *ours.at(row.at("Range"));
      EXPECT_EQ(integer(row, "Total Range Time (ns)"), our.wall_ns);
      EXPECT_EQ(integer(row, "Range Instances"), static_cast<std::int64_t>(our.instances));
      EXPECT_EQ(integer(row, "Total GPU Ops"), static_cast<std::int64_t>(our.work.count));
    }
  }

  void copies() const {
    const std::vector<StatsRow> theirs = rows_of(stats_("cuda_gpu_mem_time_sum"), "Operation");
    const std::vector<TransferRow> ours = transfer_table(timeline_);
    ASSERT_EQ(theirs.size(), ours.size());
    for (std::size_t row = 0; row < theirs.size(); ++row) {
      EXPECT_EQ(theirs[row].at("Operation"), timeline_.names.text(ours[row].name));
      EXPECT_EQ(integer(theirs[row], "Total Time (ns)"), ours[row].total_ns);
      EXPECT_EQ(integer(theirs[row], "Count"), static_cast<std::int64_t>(ours[row].instances));
    }
  }

  void calls() const {
    const Accounting accounts = account(timeline_, attribution_);
    std::map<std::string, std::int64_t> counts;
    for (const StatsRow& row : rows_of(stats_("cuda_api_sum"), "Num Calls")) {
      counts[row.at("Name")] = integer(row, "Num Calls");
    }
    EXPECT_EQ(counts["cudaLaunchKernel"], static_cast<std::int64_t>(accounts.launch.launches));
    EXPECT_EQ(counts["cudaMemcpyAsync"], static_cast<std::int64_t>(accounts.launch.copy_calls));
  }

  void all() const {
    kernels("cuda_gpu_kern_sum", false);
    kernels("cuda_gpu_kern_gb_sum", true);
    kernels_by_range();
    ranges();
    copies();
    calls();
  }

 private:
  const Timeline& timeline_;
  Attribution attribution_;
  const Stats& stats_;
};

TEST(NsysStats, EqualsWhatNsys2023PrintedOfTheSameCapture) {
  const testing::TempDir folder;
  ASSERT_TRUE(testing::write_decode_loop(folder / "syn.sqlite", kLoop));
  const Result<Timeline> timeline = nsys::read_sqlite(folder / "syn.sqlite");
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  const Stats kept = [](const std::string& report) {
    return *read_file(testing::source_dir() / "tests/golden/nsys/2023.4-stats" / (report + ".csv"));
  };
  Comparison(*timeline, kept).all();
}

TEST(NsysStats, EqualsWhatTheInstalledNsysPrints) {
  const char* named = std::getenv("PROFLINE_NSYS");
  Result<std::filesystem::path> program = find_program(named != nullptr ? named : "nsys");
  if (!program && named == nullptr) {
    const auto unpacked = testing::source_dir() / "build/tools/nsight-trixie/bin/nsys";
    program = find_program(unpacked.string());
  }
  if (!program) {
    GTEST_SKIP() << program.error().message() << " (scripts/fetch_nsight pair gets one)";
  }
  const testing::TempDir folder;
  const auto sqlite = folder / "syn.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(sqlite, {.kernels = 1200, .seed = 7}));
  const Result<Timeline> timeline = nsys::read_sqlite(sqlite);
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  const Interrupt interrupt;
  PosixRunner runner(interrupt);
  const Stats asked = [&](const std::string& report) {
    Command command{.argv = {program->string(), "stats", "--quiet", "--report", report, "--format",
                             "csv", sqlite.string()}};
    command.out = folder / (report + ".csv");
    command.log = folder / "nsys.log";
    command.timeout = std::chrono::seconds(60);
    const Result<Exit> exit = runner.run(command);
    EXPECT_TRUE(exit && exit->succeeded());
    return *read_file(command.out);
  };
  asked("cuda_gpu_kern_sum");
  if (read_file(folder / "nsys.log").value().find("could not be found") != std::string::npos) {
    GTEST_SKIP() << "this nsys is older than 2023 and names its reports otherwise";
  }
  Comparison(*timeline, asked).all();
}

}  // namespace
}  // namespace profline::timeline
