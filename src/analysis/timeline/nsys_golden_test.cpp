// Captures from real machines, from the file to the accounts: tests/golden/nsys/<case>/input.sqlite
// and expected.txt. PROFLINE_UPDATE_GOLDEN=1 rewrites the latter.

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/group_kernels.h"
#include "base/files.h"
#include "testing/paths.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::timeline {
namespace {

std::string line(const std::string& what, std::int64_t value) {
  return "  " + what + " " + std::to_string(value) + "\n";
}

std::string text_of(const DeviceTime& time) {
  std::string text = line("busy", time.busy_ns());
  for (unsigned kinds = 1; kinds < time.ran_ns.size(); ++kinds) {
    if (time.ran_ns[kinds] > 0) text += line("ran " + std::to_string(kinds), time.ran_ns[kinds]);
  }
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    text += line("idle " + std::string(to_key(static_cast<IdleCause>(cause))), time.idle_ns[cause]);
  }
  return text;
}

std::string text_of(const LaunchFigures& launch) {
  return line("launches", static_cast<std::int64_t>(launch.launches)) +
         line("gaps", static_cast<std::int64_t>(launch.gap.count)) +
         line("gap sum", launch.gap.sum_ns) + line("delay sum", launch.delay_from_start.sum_ns) +
         line("delay min", launch.delay_from_start.min_ns) +
         line("delay max", launch.delay_from_start.max_ns);
}

std::string text_of(const Timeline& timeline, const AccountingOptions& options = {}) {
  const Attribution attribution = Attribution::of(timeline);
  const Accounting accounts = account(timeline, attribution, options);
  std::string text = timeline.tool + "\ncapture, ns\n" + line("wall", accounts.wall_ns());
  for (std::size_t device = 0; device < accounts.devices.size(); ++device) {
    text += "device " + std::to_string(accounts.devices[device]) + "\n";
    text += text_of(accounts.time[device]);
  }
  text += text_of(accounts.launch);
  for (const RangeAccount& range : accounts.ranges) {
    text += "range " + timeline.names.text(range.name) + "\n" + line("wall", range.wall_ns);
    text += text_of(range.time[0]) + line("own", range.own[0].busy_ns) + text_of(range.launch);
  }
  text += "unplaced\n" +
          line("without launch", static_cast<std::int64_t>(accounts.without_launch.count)) +
          line("outside ranges", static_cast<std::int64_t>(accounts.outside_ranges.count)) +
          "kernels\n";
  const KernelUses uses =
      group_kernels(timeline, {.spelling = true, .ranges = true}, {.attribution = &attribution});
  for (const KernelUse& row : uses.rows) {
    const std::string range = row.ranges.empty() ? "" : row.ranges.back();
    text += "  " + std::to_string(row.total_ns) + " " + std::to_string(row.launches) + " " + range +
            " " + row.printed_name + "\n";
  }
  return text;
}

TEST(NsysGolden, AccountsForCapturesOfRealMachines) {
  int cases = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::source_dir() / "tests/golden/nsys")) {
    const auto input = entry.path() / "input.sqlite";
    if (!std::filesystem::exists(input)) continue;
    SCOPED_TRACE(entry.path().filename());
    ++cases;
    const Result<Timeline> timeline = nsys::read_sqlite(input);
    ASSERT_TRUE(timeline) << timeline.error().to_string();
    const std::string text = text_of(*timeline);
    const auto expected = entry.path() / "expected.txt";
    if (std::getenv("PROFLINE_UPDATE_GOLDEN") != nullptr) {
      ASSERT_TRUE(write_file_atomic(expected, text));
    }
    EXPECT_EQ(text, *read_file(expected));
    EXPECT_EQ(text_of(*timeline, {.rows_for_threads = 0}), text) << "on two threads";
  }
  EXPECT_GT(cases, 0);
}

}  // namespace
}  // namespace profline::timeline
