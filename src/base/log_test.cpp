#include "base/log.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/fake_clock.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

using testing::FakeClock;
using testing::TempDir;

TEST(Log, WritesOneLineAnEventAtOnce) {
  const TempDir dir;
  FakeClock clock;
  const Log log = Log::open(dir / "run.log", LogLevel::Debug, clock).value();
  log.debug("composed");
  log.info("started");
  clock.advance(std::chrono::milliseconds(1500));
  log.with_context("stage nsys").with_context("export").warning("slow");
  log.error("failed");
  // The log is still open: nothing is held back.
  EXPECT_EQ(read_file(dir / "run.log").value(),
            "2026-11-15T10:20:30.123Z debug composed\n"
            "2026-11-15T10:20:30.123Z info  started\n"
            "2026-11-15T10:20:31.623Z warn  stage nsys: export: slow\n"
            "2026-11-15T10:20:31.623Z error failed\n");
  EXPECT_TRUE(log.health());
}

TEST(Log, KeepsOnlyWhatIsImportantEnough) {
  const TempDir dir;
  const FakeClock clock;
  const Log log = Log::open(dir / "run.log", LogLevel::Warning, clock).value();
  log.debug("a");
  log.info("b");
  log.warning("c");
  EXPECT_EQ(read_file(dir / "run.log").value(), "2026-11-15T10:20:30.123Z warn  c\n");
}

TEST(Log, TextCannotFakeALine) {
  const TempDir dir;
  const FakeClock clock;
  const Log log = Log::open(dir / "run.log", LogLevel::Info, clock).value();
  log.with_context("kernel\nx").info("a\n2026-11-15T10:20:30.123Z info  fake\x1b[2J {} %v");
  EXPECT_EQ(read_file(dir / "run.log").value(),
            "2026-11-15T10:20:30.123Z info  kernel\\nx: "
            "a\\n2026-11-15T10:20:30.123Z info  fake\\x1b[2J {} %v\n");
}

TEST(Log, GoesOnWhereAnEarlierOneEnded) {
  const TempDir dir;
  const FakeClock clock;
  for (const char* text : {"first run", "resumed"}) {
    Log::open(dir / "run.log", LogLevel::Info, clock).value().info(text);
  }
  EXPECT_EQ(read_file(dir / "run.log").value(),
            "2026-11-15T10:20:30.123Z info  first run\n"
            "2026-11-15T10:20:30.123Z info  resumed\n");
}

TEST(Log, OneThatKeepsNothingTakesEverything) {
  const Log log = Log::null();
  log.with_context("stage").error("x");
  EXPECT_TRUE(log.health());
}

TEST(Log, SaysWhyItCannotBeOpened) {
  const TempDir dir;
  const FakeClock clock;
  const auto log = Log::open(dir / "none/run.log", LogLevel::Info, clock);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().to_string(), "cannot write the log " + (dir / "none/run.log").string() +
                                         ": its folder does not exist");
}

TEST(Log, RemembersThatALineWasLost) {
  const FakeClock clock;
  const Log log = Log::open("/dev/full", LogLevel::Info, clock).value();
  EXPECT_TRUE(log.health());
  log.info("lost");
  ASSERT_FALSE(log.health());
  EXPECT_EQ(log.health().error().to_string(),
            "cannot write the log /dev/full: no space left on device");
}

TEST(Log, IsNotInheritedByProgramsWeStart) {
  const TempDir dir;
  const FakeClock clock;
  const Log log = Log::open(dir / "run.log", LogLevel::Info, clock).value();
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone).filename() != "run.log") continue;
    ++found;
    EXPECT_NE(::fcntl(std::stoi(entry.path().filename().string()), F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(found, 1);
}

TEST(Log, HasNoSecretsAndIsItsOwnersAlone) {
  const TempDir dir;
  const FakeClock clock;
  Redactor redactor;
  redactor.know("opensesame");
  const Log log = Log::open(dir / "run.log", LogLevel::Info, clock, redactor).value();
  log.info("serve --token abc, then opensesame");
  EXPECT_EQ(read_file(dir / "run.log").value(),
            "2026-11-15T10:20:30.123Z info  serve --token <redacted>, then <redacted>\n");
  struct stat status {};
  ASSERT_EQ(::stat((dir / "run.log").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

}  // namespace
}  // namespace profline
