// Kernels that ncu counted on an H200, against the highest rate that its memory reached.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/roofline/roofline.h"
#include "base/files.h"
#include "records/ncu_tables.h"
#include "testing/captures/zoo.h"
#include "testing/paths.h"
#include "tools/ncu/csv_reader.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

/// DRAM write of `profline ceilings` on an H200, sustained: docs/performance.md.
constexpr double kMemoryRoof = 4.68e12;
/// Measurements are not exact.
constexpr double kMost = 1.02 * kMemoryRoof;

/// ncu's tables below tests/golden/ncu and docs/examples, and that of the zoo.
std::vector<std::pair<std::string, std::string>> recorded_tables() {
  std::vector<std::pair<std::string, std::string>> tables;
  const auto zoo = testing::unzipped(testing::zoo_capture("ncu.csv.gz"));
  EXPECT_TRUE(zoo) << zoo.error().to_string();
  if (zoo) tables.emplace_back("the zoo", *zoo);
  for (const char* folder : {"tests/golden/ncu", "docs/examples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(testing::source_dir() / folder)) {
      if (entry.path().extension() != ".csv") continue;
      auto text = read_file(entry.path());
      EXPECT_TRUE(text) << text.error().to_string();
      const bool is_of_ncu = text && text->find("\"ID\",\"Process ID\"") != std::string::npos;
      if (is_of_ncu) tables.emplace_back(entry.path().string(), std::move(*text));
    }
  }
  return tables;
}

TEST(RecordedKernels, DoNotExceedTheMeasuredMemoryRoof) {
  std::size_t kernels = 0;
  double highest = 0;
  for (const auto& [name, text] : recorded_tables()) {
    SCOPED_TRACE(name);
    const auto report = ncu::read_csv(text, {.source = name, .keep = {}});
    ASSERT_TRUE(report) << report.error().to_string();
    for (const ProfiledKernel& kernel : report->kernels) {
      const auto rate =
          roofline::place(roofline::measure(*report, kernel), {}).bytes_per_second.value_or(0);
      if (rate <= 0) continue;
      ++kernels;
      highest = std::max(highest, rate);
      EXPECT_LE(rate, kMost) << report->names.text(kernel.name);
    }
  }
  EXPECT_GT(kernels, 300U);
  EXPECT_GT(highest, 0.5 * kMemoryRoof) << "some kernels come close";
}

TEST(RecordedKernels, OfAWholeRunDoNotExceedItEither) {
  const fs::path file = testing::source_dir() / "docs/examples/h200/ncu/kernels.json";
  const auto text = read_file(file);
  ASSERT_TRUE(text) << text.error().to_string();
  const auto table = from_document<NcuKernels>(*text, file.string());
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_GT(table->kernels.size(), 30U);
  for (const NcuKernel& kernel : table->kernels) {
    ASSERT_TRUE(kernel.roofline.dram_bytes && kernel.duration_ns) << kernel.short_name;
    constexpr double kNsPerSecond = 1e9;
    EXPECT_LE(*kernel.roofline.dram_bytes / *kernel.duration_ns * kNsPerSecond, kMost)
        << kernel.short_name;
  }
}

}  // namespace
}  // namespace profline
