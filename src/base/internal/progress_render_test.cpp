#include "base/internal/progress_render.h"

#include <gtest/gtest.h>

#include "base/terminal_text.h"

namespace profline {
namespace {

using namespace std::chrono_literals;

constexpr ProgressStyle kPlain{};
constexpr ProgressStyle kAscii{false, false, 10};
constexpr ProgressStyle kColored{true, true, 10};

ProgressState baseline(std::uint64_t done, std::optional<std::uint64_t> total) {
  return {"baseline", 7s, {{"images", done, total, 6s}}};
}

TEST(RenderBar, AStepAloneShowsItsTime) {
  const ProgressState nsys{"nsys", 12340ms, {}};
  EXPECT_EQ(render_bar(nsys, 79, kPlain), "nsys      running   12.3 s");
  EXPECT_EQ(render_bar(nsys, 79, kColored), "nsys      \x1b[36mrunning\x1b[0m   12.3 s");
  EXPECT_EQ(render_bar(nsys, 26, kPlain), "nsys      running   12.3 s");
  EXPECT_EQ(render_bar(nsys, 25, kPlain), "nsys      running   12.3…");
  EXPECT_EQ(render_bar(nsys, 25, kAscii), "nsys      running   12...");
  EXPECT_EQ(render_bar(nsys, 0, kPlain), "");
}

TEST(RenderBar, ALoopShowsBarCountTimeLeftAndRate) {
  EXPECT_EQ(render_bar(baseline(16, 40), 71, kPlain),
            "baseline  ████████░░░░░░░░░░░░  16/40 images  9.0 s left  2.67 images/s");
  EXPECT_EQ(render_bar(baseline(16, 40), 71, kAscii),
            "baseline  [#######...........]  16/40 images  9.0 s left  2.67 images/s");
  EXPECT_EQ(render_bar(baseline(16, 40), 71, kColored),
            "baseline  \x1b[36m████████\x1b[0m░░░░░░░░░░░░  16/40 images  9.0 s left  "
            "2.67 images/s");
}

TEST(RenderBar, DropsFromTheEndWhatDoesNotFit) {
  const ProgressState state = baseline(16, 40);
  EXPECT_EQ(render_bar(state, 59, kPlain),
            "baseline  ███░░░░░  16/40 images  9.0 s left  2.67 images/s");
  EXPECT_EQ(render_bar(state, 58, kPlain),
            "baseline  ████████░░░░░░░░░░░░░░  16/40 images  9.0 s left");
  EXPECT_EQ(render_bar(state, 43, kPlain), "baseline  ███████░░░░░░░░░░░░  16/40 images");
  EXPECT_EQ(render_bar(state, 31, kPlain), "baseline  16/40 images");
  EXPECT_EQ(render_bar(state, 20, kPlain), "baseline  16/40 ima…");
}

TEST(RenderBar, TheBarGrowsOnlySoFar) {
  const std::string line = render_bar(baseline(16, 40), 200, kPlain);
  EXPECT_EQ(display_width(line), 10U + 40 + 2 + 39);
}

TEST(RenderBar, FitsEveryWidth) {
  ProgressState state = baseline(16, 40);
  state.loops.push_back({"tokens", 35, 256, 1s});
  for (std::size_t width = 0; width < 120; ++width) {
    ASSERT_LE(display_width(render_bar(state, width, kPlain)), width);
    ASSERT_LE(display_width(render_bar(state, width, kAscii)), width);
  }
}

TEST(RenderBar, TheInnermostLoopIsToldBehind) {
  ProgressState state = baseline(16, 40);
  state.loops.push_back({"tiles", 1, 9, 1s});
  state.loops.push_back({"tokens", 35, 256, 1s});
  EXPECT_EQ(render_bar(state, 76, kPlain),
            "baseline  ████░░░░░░  16/40 images  9.0 s left  2.67 images/s  tokens 35/256");
}

TEST(RenderBar, EndsAreKnownOrNot) {
  struct Case {
    std::string_view name;
    std::uint64_t done;
    std::optional<std::uint64_t> total;
    std::string_view line;
  };
  constexpr Case kCases[] = {
      {"no end known", 12, std::nullopt, "baseline  12 images  6.0 s  2.00 images/s"},
      {"nothing done", 0, 40, "baseline  ░░░░░░░░░░░░░░░░░░░░░░░░░░  0/40 images"},
      {"all done", 40, 40, "baseline  ██████████  40/40 images  6.0 s  6.67 images/s"},
      {"more than all", 41, 40, "baseline  ██████████  41/40 images  6.0 s  6.83 images/s"},
      {"nothing to do", 0, 0, "baseline  ████████████████████  0/0 images  6.0 s"},
      {"nothing done, no end", 0, std::nullopt, "baseline  0 images  6.0 s"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(render_bar(baseline(c.done, c.total), 49, kPlain).substr(0, 10), "baseline  ");
    EXPECT_EQ(render_bar(baseline(c.done, c.total), display_width(c.line), kPlain), c.line);
  }
}

TEST(RenderBar, NamesAreShownNotObeyedAndMeasuredInColumns) {
  EXPECT_EQ(render_bar({"图像\x1b[2J", 1s, {}}, 79, kPlain), "图像\\x1b[2J  running   1.0 s");
  EXPECT_EQ(render_bar({"图像", 1s, {}}, 79, kPlain), "图像      running   1.0 s");
  EXPECT_EQ(render_bar({"direct_inference", 1s, {}}, 12, kPlain), "direct_infe…");
}

TEST(RenderBar, ANoteOfAnotherProgramStandsBehindWithABarIfItCounts) {
  const ProgressStyle style{.color = false, .unicode = true, .name_width = 10};
  ProgressState state{"baseline", std::chrono::seconds(3), {}, "loading weights"};
  EXPECT_EQ(render_bar(state, 79, style), "baseline  running   3.0 s  loading weights");
  state.note = "1/2 images (50 %)  4.0 s left";
  EXPECT_EQ(render_bar(state, 79, style),
            "baseline  ██████████░░░░░░░░░░  3.0 s  1/2 images (50 %)  4.0 s left");
  EXPECT_EQ(render_bar(state, 40, style), "baseline  running   3.0 s  1/2 images (…");
  EXPECT_EQ(render_note(state, style), "baseline  1/2 images (50 %)  4.0 s left");
}

TEST(ShareTold, NeedsACountInFront) {
  EXPECT_EQ(share_in_note("1/4 images"), 0.25);
  EXPECT_EQ(share_in_note("9/4"), 1.0);
  for (const char* text : {"", "1", "1/", "/4", "1/0 images", "1/4images", "step 1/4", "-1/4"}) {
    EXPECT_EQ(share_in_note(text), std::nullopt) << text;
  }
}

TEST(RenderLine, IsWholeAndTellsTheShare) {
  EXPECT_EQ(render_line(baseline(16, 40), kPlain),
            "baseline  16/40 images (40 %)  9.0 s left  2.67 images/s");
  EXPECT_EQ(render_line(baseline(39999, 40000), kPlain),
            "baseline  39999/40000 images (99 %)  0.0 s left  6.67 k images/s");
  EXPECT_EQ(render_line(baseline(12, std::nullopt), kPlain),
            "baseline  12 images  6.0 s  2.00 images/s");
  EXPECT_EQ(render_line({"nsys", 30s, {}}, kPlain), "nsys      running   30.0 s");
}

TEST(RenderEnd, ShowsOutcomeTimeAndNote) {
  const ProgressState nsys{"nsys", 14s, {}};
  EXPECT_EQ(render_start("nsys", kPlain), "nsys      started");
  EXPECT_EQ(render_end(nsys, StepOutcome::Ok, "", kPlain), "nsys      ok        14.0 s");
  EXPECT_EQ(render_end(nsys, StepOutcome::Failed, "exit 1\n", kPlain),
            "nsys      failed    14.0 s  exit 1\\n");
  EXPECT_EQ(render_end(nsys, StepOutcome::Skipped, "no GPU", kPlain),
            "nsys      skipped   14.0 s  no GPU");
  EXPECT_EQ(render_end(nsys, StepOutcome::Cancelled, "", kPlain), "nsys      cancelled 14.0 s");
  EXPECT_EQ(render_end(nsys, StepOutcome::Ok, "", kColored),
            "nsys      \x1b[32mok\x1b[0m        14.0 s");
  const ProgressStyle wide{false, true, 18};
  EXPECT_EQ(render_end(nsys, StepOutcome::Ok, "", wide), "nsys              ok        14.0 s");
}

TEST(RenderRemark, KeepsTheLinesOfAnErrorAndNothingElse) {
  EXPECT_EQ(render_remark(Remark::Plain, "run in tmp/x", kPlain), "run in tmp/x\n");
  EXPECT_EQ(render_remark(Remark::Warning, "3 rows\tskipped", kPlain),
            "warning: 3 rows\\tskipped\n");
  EXPECT_EQ(render_remark(Remark::Error, "unexpected '='\n  a==1\n    ^", kPlain),
            "error: unexpected '='\n  a==1\n    ^\n");
  EXPECT_EQ(render_remark(Remark::Error, "x", kColored), "\x1b[31merror:\x1b[0m x\n");
  EXPECT_EQ(render_remark(Remark::Plain, "", kPlain), "\n");
}

TEST(ChooseDisplay, FollowsFlagsAndEnvironment) {
  using Kind = DisplayChoice::Kind;
  struct Case {
    std::string_view name;
    ProgressOptions options;
    DisplayFacts facts;
    Kind kind;
    bool color, unicode;
  };
  const DisplayFacts terminal{true, "xterm", "", "en_US.UTF-8"};
  const DisplayFacts dumb{true, "dumb", "", "C"};
  const DisplayFacts nameless{true, "", "", "C.utf8"};
  const DisplayFacts plain{true, "xterm", "1", "C"};
  const DisplayFacts pipe{false, "xterm", "", "de_DE.ISO-8859-1"};
  const ProgressOptions usual;
  const ProgressOptions always{Verbosity::Normal, ColorMode::Always, 10};
  const ProgressOptions never{Verbosity::Verbose, ColorMode::Never, 10};
  const ProgressOptions quiet{Verbosity::Quiet, ColorMode::Auto, 10};
  const Case cases[] = {
      {"terminal", usual, terminal, Kind::Bar, true, true},
      {"dumb terminal", usual, dumb, Kind::Lines, false, false},
      {"terminal without a name", usual, nameless, Kind::Lines, false, true},
      {"NO_COLOR", usual, plain, Kind::Bar, false, false},
      {"a flag wins over NO_COLOR", always, plain, Kind::Bar, true, false},
      {"pipe", usual, pipe, Kind::Lines, false, false},
      {"pipe with colour", always, pipe, Kind::Lines, true, false},
      {"never", never, terminal, Kind::Bar, false, true},
      {"quiet", quiet, terminal, Kind::Remarks, true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const DisplayChoice choice = choose_display(c.options, c.facts);
    EXPECT_EQ(choice.kind, c.kind);
    EXPECT_EQ(choice.style.color, c.color);
    EXPECT_EQ(choice.style.unicode, c.unicode);
  }
}

}  // namespace
}  // namespace profline
