#include "pipeline/child_output.h"

#include <sys/stat.h>

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "pipeline/internal/live_stage_run.h"
#include "process/runner.h"
#include "testing/temp_dir.h"

namespace profline::pipeline {
namespace {

using ::testing::ElementsAre;

class Noted final : public Progress {
 public:
  void begin_step(std::string_view) override {}
  void end_step(StepOutcome, std::string_view) override {}
  void begin_loop(std::string_view, std::optional<std::uint64_t>) override {}
  void advance(std::uint64_t) override {}
  void end_loop() override {}
  void tick() override { ++ticks; }
  void note(std::string_view text) override { notes.emplace_back(text); }
  void detail(std::string_view) override {}
  void message(std::string_view) override {}
  void warning(std::string_view) override {}
  void error(std::string_view) override {}

  std::vector<std::string> notes;
  int ticks = 0;
};

TEST(ChildOutput, PassesLinesOnAsTheyBecomeWhole) {
  Noted progress;
  ChildOutput output(progress);
  output.take("loading wei");
  output.take("");
  EXPECT_EQ(progress.ticks, 1);
  EXPECT_THAT(progress.notes, ElementsAre());
  output.take("ghts\nbaseline          1/2 images (50 %)  1.0 s left\n");
  output.take(" 10%|#   | 1/10\r 20%|##  | 2/10\r");
  EXPECT_THAT(progress.notes, ElementsAre("loading weights", "1/2 images (50 %)  1.0 s left",
                                          "10%|#   | 1/10", "20%|##  | 2/10"));
}

TEST(ChildOutput, LeavesOutWhatIsReportedElsewhere) {
  for (const char* line : {"", "warning: cuda is left out", "baseline          started",
                           "baseline          ok        1.0 s"}) {
    EXPECT_EQ(shown_part(line), "") << line;
  }
  EXPECT_EQ(shown_part("two words  1/2 images"), "two words  1/2 images");
  EXPECT_EQ(shown_part("a  1/b"), "a  1/b");
}

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string lines_of(char letter, std::uint64_t bytes) {
  std::string text;
  text.reserve(bytes);
  while (text.size() < bytes) text += std::string(63, letter) + '\n';
  return text;
}

TEST(ChildLog, AShortOneIsLeftAlone) {
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder / "log", "hello\ntoken=the\n"));
  struct stat before {};
  ASSERT_EQ(::stat((folder / "log").c_str(), &before), 0);
  EXPECT_EQ(settle_log(folder / "log", Redactor()).value(), 0U);
  struct stat after {};
  ASSERT_EQ(::stat((folder / "log").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(settle_log(folder / "none", Redactor()).value(), 0U);
}

TEST(ChildLog, SecretsDoNotStayInIt) {
  const testing::TempDir folder;
  Redactor redactor;
  redactor.know("opensesame");
  ASSERT_TRUE(write_file_atomic(folder / "log", "say opensesame\nhttps://me:pw1234@host\n"));
  EXPECT_EQ(settle_log(folder / "log", redactor).value(), 0U);
  EXPECT_EQ(read_file(folder / "log").value(), "say <redacted>\nhttps://me:<redacted>@host\n");
}

TEST(ChildLog, ALongOneKeepsItsBeginningAndItsEndAndSaysSo) {
  const testing::TempDir folder;
  const std::string text = "first\n" + lines_of('x', kLogHeadBytes + kLogTailBytes) + "last\n";
  ASSERT_TRUE(write_file_atomic(folder / "log", text));
  const std::uint64_t left_out = settle_log(folder / "log", Redactor()).value();
  EXPECT_GT(left_out, 0U);
  const std::string kept = read_file(folder / "log").value();
  EXPECT_THAT(kept, StartsWith("first\nxxx"));
  EXPECT_THAT(kept, EndsWith("xxx\nlast\n"));
  EXPECT_THAT(kept, HasSubstr(" of output left out here; the first 8.0 MiB and the last 24.0 MiB "
                              "are kept]\n"));
  const std::size_t marker = kept.find("\n[profline: ");
  ASSERT_NE(marker, std::string::npos);
  const std::size_t length = kept.find('\n', marker + 1) - marker;
  EXPECT_EQ(kept.size() - length + left_out, text.size()) << "every byte is accounted for";
}

}  // namespace
}  // namespace profline::pipeline
