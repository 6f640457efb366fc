#include "base/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>

#include "base/files.h"
#include "testing/fake_clock.h"

namespace profline {
namespace {

using namespace std::chrono_literals;
using testing::FakeClock;

/// Sets the environment variables that matter for one test, and restores them.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const std::map<std::string, std::string>& values) {
    for (const char* name : {"TERM", "NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"}) {
      if (const char* old = ::getenv(name)) before_[name] = old;
      ::unsetenv(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
    for (const auto& [name, value] : values) added_[name] = value;
  }
  ~ScopedEnvironment() {
    for (const auto& [name, value] : added_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  std::map<std::string, std::string> before_, added_;
};

/// Two ends: what is written to one is read from the other.
struct Channel {
  FileDescriptor reading, writing;

  bool is_open() const { return reading.is_open(); }

  static Channel pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  }
  /// A pseudo-terminal of that many columns, in raw mode; closed where the machine has none (a
  /// container without /dev/pts).
  static Channel terminal(unsigned short columns) {
    int master = -1;
    int slave = -1;
    winsize size{24, columns, 0, 0};
    termios raw{};
    ::cfmakeraw(&raw);
    if (::openpty(&master, &slave, nullptr, &raw, &size) == 0) {
      EXPECT_EQ(::fcntl(master, F_SETFL, O_NONBLOCK), 0);
    }
    return {FileDescriptor(master), FileDescriptor(slave)};
  }

  /// What was written since the last call.
  std::string written() {
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t count = 0; (count = read_some(reading.get(), piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
};

constexpr const char* kClear = "\r\x1b[K";

constexpr const char* kNoTerminal = "no pseudo-terminal here: is /dev/pts mounted?";

class TerminalProgressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!channel_.is_open()) GTEST_SKIP() << kNoTerminal;
  }
  std::unique_ptr<Progress> make(Verbosity verbosity = Verbosity::Normal) {
    return make_progress({verbosity, ColorMode::Never, 10}, channel_.writing.get(), clock_);
  }

  const ScopedEnvironment environment_{{{"TERM", "xterm"}, {"LANG", "C.UTF-8"}}};
  FakeClock clock_;
  Channel channel_ = Channel::terminal(75);
};

TEST_F(TerminalProgressTest, AStepIsOneLineThatBecomesItsOutcome) {
  const auto progress = make();
  progress->begin_step("nsys");
  EXPECT_EQ(channel_.written(), "nsys      running   0.0 s");
  clock_.advance(12300ms);
  progress->tick();
  EXPECT_EQ(channel_.written(), std::string(kClear) + "nsys      running   12.3 s");
  clock_.advance(1700ms);
  progress->end_step(StepOutcome::Ok, "3 reports");
  EXPECT_EQ(channel_.written(), std::string(kClear) + "nsys      ok        14.0 s  3 reports\n");
}

TEST_F(TerminalProgressTest, RedrawsAtMostTenTimesASecond) {
  const auto progress = make();
  progress->begin_step("baseline");
  static_cast<void>(channel_.written());
  progress->begin_loop("images", 1000);
  std::string all;
  for (int image = 0; image < 1000; ++image) {
    clock_.advance(1ms);
    progress->advance(1);
    all += channel_.written();
  }
  std::size_t redraws = 0;
  for (std::size_t at = 0; (at = all.find('\r', at)) != std::string::npos; ++at) ++redraws;
  EXPECT_EQ(redraws, 10U);
}

TEST_F(TerminalProgressTest, RemarksGoAboveTheBar) {
  const auto progress = make();
  progress->begin_step("ncu");
  static_cast<void>(channel_.written());
  progress->warning("unknown metric 'x'");
  EXPECT_EQ(channel_.written(),
            std::string(kClear) + "warning: unknown metric 'x'\nncu       running   0.0 s");
  progress->detail("not asked for");
  EXPECT_EQ(channel_.written(), "");
  progress->error("a\nb");
  EXPECT_EQ(channel_.written(), std::string(kClear) + "error: a\nb\nncu       running   0.0 s");
}

TEST_F(TerminalProgressTest, BreaksWideLinesBetweenWords) {
  const auto progress = make();
  progress->begin_step("nsys");
  static_cast<void>(channel_.written());
  progress->warning(
      "nsys: the capture has no kernels, because the model ran on the CPU of this machine\n"
      "  a line that is short enough stays   as it is");
  EXPECT_EQ(channel_.written(),
            std::string(kClear) +
                "warning: nsys: the capture has no kernels, because the model ran on the\n"
                "  CPU of this machine\n"
                "  a line that is short enough stays   as it is\n"
                "nsys      running   0.0 s");
  progress->end_step(StepOutcome::Skipped, "cannot run 'nsys': not found in PATH (12 folders)");
  EXPECT_EQ(channel_.written(),
            std::string(kClear) +
                "nsys      skipped   0.0 s  cannot run 'nsys': not found in PATH (12\n"
                "                           folders)\n");
}

TEST_F(TerminalProgressTest, OutsideStepsRemarksAreLines) {
  const auto progress = make(Verbosity::Verbose);
  progress->message("run in tmp/x");
  progress->detail("composed in 3 ms");
  progress->tick();
  EXPECT_EQ(channel_.written(), "run in tmp/x\ncomposed in 3 ms\n");
}

TEST_F(TerminalProgressTest, LoopsNestAndEndWithTheirObjects) {
  const auto progress = make();
  {
    const Step step(*progress, "baseline");
    Loop images(*progress, "images", 4);
    static_cast<void>(channel_.written());
    clock_.advance(1s);
    images.advance();
    EXPECT_EQ(channel_.written(),
              std::string(kClear) +
                  "baseline  ██████░░░░░░░░░░░░░░░░░░░  1/4 images  3.0 s left  "
                  "1.00 images/s");
    {
      Loop tokens(*progress, "tokens", std::nullopt);
      clock_.advance(1s);
      tokens.advance(7);
      EXPECT_EQ(channel_.written(), std::string(kClear) +
                                        "baseline  ███░░░░░░░░░░░  1/4 images  6.0 s left  "
                                        "0.500 images/s  tokens 7");
    }
  }
  // Left without end(): that is a failure.
  EXPECT_EQ(channel_.written(), std::string(kClear) + "baseline  failed    2.0 s\n");
}

TEST_F(TerminalProgressTest, FollowsTheWindow) {
  const auto progress = make();
  progress->begin_step("direct_inference");
  EXPECT_EQ(channel_.written(), "direct_inference  running   0.0 s");
  const winsize narrow{24, 11, 0, 0};
  ASSERT_EQ(::ioctl(channel_.writing.get(), TIOCSWINSZ, &narrow), 0);
  clock_.advance(1s);
  progress->tick();
  EXPECT_EQ(channel_.written(), std::string(kClear) + "direct_in…");
}

TEST_F(TerminalProgressTest, LeavesACleanLineAndAVisibleCursor) {
  auto progress = make();
  progress->begin_step("nsys");
  static_cast<void>(channel_.written());
  progress.reset();
  EXPECT_EQ(channel_.written(), kClear);
}

TEST(TerminalProgress, TakesTheWidthFromColumnsWhereTheTerminalHasNone) {
  const ScopedEnvironment environment({{"TERM", "xterm"}, {"COLUMNS", "13"}});
  const FakeClock clock;
  Channel channel = Channel::terminal(0);
  if (!channel.is_open()) GTEST_SKIP() << kNoTerminal;
  const auto progress = make_progress({}, channel.writing.get(), clock);
  progress->begin_step("direct_inference");
  EXPECT_EQ(channel.written(), "direct_in...");
}

class LineProgressTest : public ::testing::Test {
 protected:
  const ScopedEnvironment environment_{{{"TERM", "xterm"}, {"LANG", "C.UTF-8"}}};
  FakeClock clock_;
  Channel channel_ = Channel::pipe();
};

TEST_F(LineProgressTest, TellsStartAndEnd) {
  const auto progress = make_progress({}, channel_.writing.get(), clock_);
  Step step(*progress, "nsys");
  clock_.advance(14s);
  progress->tick();
  step.end(StepOutcome::Ok);
  EXPECT_EQ(channel_.written(), "nsys      started\nnsys      ok        14.0 s\n");
}

TEST_F(LineProgressTest, ALongStepShowsThatItIsAliveEveryHalfMinute) {
  const auto progress = make_progress({}, channel_.writing.get(), clock_);
  progress->begin_step("ncu");
  for (int second = 0; second < 65; ++second) {
    clock_.advance(1s);
    progress->tick();
  }
  EXPECT_EQ(channel_.written(),
            "ncu       started\n"
            "ncu       running   30.0 s\n"
            "ncu       running   1 min 00 s\n");
}

TEST_F(LineProgressTest, ALoopTellsOfEachTenth) {
  const auto progress = make_progress({}, channel_.writing.get(), clock_);
  progress->begin_step("baseline");
  static_cast<void>(channel_.written());
  {
    Loop images(*progress, "images", 30);
    for (int image = 0; image < 30; ++image) {
      // Loops inside write nothing of their own.
      Loop tokens(*progress, "tokens", 2);
      tokens.advance(2);
      clock_.advance(500ms);
      progress->tick();
    }
    EXPECT_EQ(channel_.written(), "");
    for (int image = 0; image < 30; ++image) {
      clock_.advance(500ms);
      images.advance();
    }
  }
  EXPECT_EQ(channel_.written(),
            "baseline  3/30 images (10 %)  2 min 29 s left  0.182 images/s\n"
            "baseline  6/30 images (20 %)  1 min 12 s left  0.333 images/s\n"
            "baseline  9/30 images (30 %)  45.5 s left  0.462 images/s\n"
            "baseline  12/30 images (40 %)  31.5 s left  0.571 images/s\n"
            "baseline  15/30 images (50 %)  22.5 s left  0.667 images/s\n"
            "baseline  18/30 images (60 %)  16.0 s left  0.750 images/s\n"
            "baseline  21/30 images (70 %)  10.9 s left  0.824 images/s\n"
            "baseline  24/30 images (80 %)  6.8 s left  0.889 images/s\n"
            "baseline  27/30 images (90 %)  3.2 s left  0.947 images/s\n"
            "baseline  30/30 images (100 %)  30.0 s  1.00 images/s\n");
}

TEST_F(LineProgressTest, AFastLoopLeavesOneLine) {
  const auto progress = make_progress({}, channel_.writing.get(), clock_);
  Step step(*progress, "baseline");
  {
    Loop images(*progress, "images", 1000);
    for (int image = 0; image < 1000; ++image) {
      clock_.advance(500us);
      images.advance();
    }
  }
  step.end(StepOutcome::Ok);
  EXPECT_EQ(channel_.written(),
            "baseline  started\n"
            "baseline  1000/1000 images (100 %)  0.5 s  2.00 k images/s\n"
            "baseline  ok        0.5 s\n");
}

TEST_F(LineProgressTest, ADumbTerminalGetsLines) {
  const std::map<std::string, std::string> dumb = {{"TERM", "dumb"}};
  const ScopedEnvironment environment(dumb);
  Channel terminal = Channel::terminal(60);
  if (!terminal.is_open()) GTEST_SKIP() << kNoTerminal;
  const auto progress = make_progress({}, terminal.writing.get(), clock_);
  Step(*progress, "nsys").end(StepOutcome::Skipped, "not on PATH");
  progress->warning("x");
  EXPECT_EQ(terminal.written(),
            "nsys      started\nnsys      skipped   0.0 s  not on PATH\nwarning: x\n");
}

TEST_F(LineProgressTest, QuietLeavesWarningsAndErrors) {
  const auto progress =
      make_progress({Verbosity::Quiet, ColorMode::Always, 10}, channel_.writing.get(), clock_);
  {
    Step step(*progress, "nsys");
    Loop loop(*progress, "images", 2);
    loop.advance(2);
    progress->message("m");
    progress->detail("d");
    progress->tick();
    progress->warning("w");
  }
  progress->error("e");
  EXPECT_EQ(channel_.written(), "\x1b[33mwarning:\x1b[0m w\n\x1b[31merror:\x1b[0m e\n");
}

TEST_F(LineProgressTest, DetailsAreForThoseWhoAsk) {
  const auto normal = make_progress({}, channel_.writing.get(), clock_);
  normal->detail("d");
  EXPECT_EQ(channel_.written(), "");
  const auto verbose =
      make_progress({Verbosity::Verbose, ColorMode::Auto, 10}, channel_.writing.get(), clock_);
  verbose->detail("d");
  EXPECT_EQ(channel_.written(), "d\n");
}

TEST_F(LineProgressTest, WhatCannotBeWrittenIsDropped) {
  const FileDescriptor full = open_descriptor("/dev/full", O_WRONLY);
  const auto progress = make_progress({}, full.get(), clock_);
  Step step(*progress, "nsys");
  progress->warning("x");
  step.end(StepOutcome::Ok);
  // It causes neither an error nor a signal: the process continues.
  make_progress({}, channel_.writing.get(), clock_)->warning("y");
  EXPECT_EQ(channel_.written(), "warning: y\n");
}

}  // namespace
}  // namespace profline
