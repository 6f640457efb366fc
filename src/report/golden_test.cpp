// Whole reports: tests/golden/report/<case>/expected/. The artifacts come from <case>/run or are
// made from other golden captures. PROFLINE_UPDATE_GOLDEN=1 rewrites the expected files.

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/files.h"
#include "report/write_reports.h"
#include "summary/summarise.h"
#include "testing/paths.h"
#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::report {
namespace {

std::filesystem::path golden(const std::string& name) {
  return testing::source_dir() / "tests/golden/report" / name;
}

void expect_golden(const std::filesystem::path& run, const std::string& name) {
  const auto opened = run::Run::open(run);
  ASSERT_TRUE(opened) << opened.error().to_string();
  const auto written = write_reports(*opened, summary::summarise(*opened));
  ASSERT_TRUE(written) << written.error().to_string();
  for (const auto& file : written->files) {
    SCOPED_TRACE(file);
    const std::string text = testing::text_of(run / file);
    const auto expected = golden(name) / "expected" / file;
    if (std::getenv("PROFLINE_UPDATE_GOLDEN") != nullptr) {
      ASSERT_TRUE(create_folders(expected.parent_path()));
      ASSERT_TRUE(write_file_atomic(expected, text));
    }
    EXPECT_EQ(text, testing::text_of(expected));
  }
}

TEST(ReportGolden, TheTinyModelOnACpu) {
  const testing::TempDir folder;
  std::filesystem::copy(golden("cpu-tiny/run"), folder / "run",
                        std::filesystem::copy_options::recursive);
  expect_golden(folder / "run", "cpu-tiny");
}

TEST(ReportGolden, DecodeOnAnH200) {
  const testing::TempDir folder;
  testing::h200_run().write(folder.path());
  expect_golden(folder.path(), "h200-decode");
}

}  // namespace
}  // namespace profline::report
