#include "tools/nsys/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::nsys {
namespace {

TEST(NsysExport, AsksForSqliteAndKeepsIntermediatesBesideIt) {
  const Command command = export_command("/opt/nsys", "run.nsys-rep", "/tmp/x/run.sqlite");
  EXPECT_EQ(command.argv, (std::vector<std::string>{"/opt/nsys", "export", "--type=sqlite",
                                                    "--quiet=true", "--force-overwrite=true",
                                                    "--output=/tmp/x/run.sqlite", "run.nsys-rep"}));
  EXPECT_EQ(command.env.at("TMPDIR"), "/tmp/x");
}

TEST(NsysExport, CountsTheFileAndNotTheExitCode) {
  const testing::TempDir folder;
  const auto sqlite = folder / "run.sqlite";
  testing::FakeProcesses processes;
  processes.expect({"nsys", "export"}).writes(sqlite, "SQLite format 3");
  EXPECT_TRUE(export_sqlite(processes, "nsys", "run.nsys-rep", sqlite));

  std::filesystem::remove(sqlite);
  processes.expect({"nsys", "export"}).complains("Failed to open report\n");
  const Result<void> nothing = export_sqlite(processes, "nsys", "run.nsys-rep", sqlite);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().to_string(),
            "nsys export of run.nsys-rep exited with code 0 and left no SQLite file: Failed to "
            "open report");
  EXPECT_EQ(nothing.error().kind(), ErrorKind::Tool);

  processes.expect({"nsys", "export"}).exits(1);
  EXPECT_EQ(export_sqlite(processes, "nsys", "run.nsys-rep", sqlite).error().to_string(),
            "nsys export of run.nsys-rep exited with code 1");
}

}  // namespace
}  // namespace profline::nsys
