#include "pipeline/child_output.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(ChildOutput, LeavesOutWhatIsToldElsewhere) {
  for (const char* line : {"", "warning: cuda is left out", "baseline          started",
                           "baseline          ok        1.0 s"}) {
    EXPECT_EQ(shown_part(line), "") << line;
  }
  EXPECT_EQ(shown_part("two words  1/2 images"), "two words  1/2 images");
  EXPECT_EQ(shown_part("a  1/b"), "a  1/b");
}

}  // namespace
}  // namespace profline::pipeline
