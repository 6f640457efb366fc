#include "analysis/timeline/attribution.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/captures/timeline_builder.h"

namespace profline::timeline {
namespace {

using testing::random_timeline;
using testing::TimelineBuilder;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_around(const Timeline& timeline, const Attribution& attribution,
                                      RowIndex call) {
  std::vector<std::string> names;
  attribution.each(attribution.of_call(call), [&](RowIndex range) {
    names.push_back(timeline.names.text(timeline.ranges[range].name));
  });
  return names;
}

TEST(Attribution, GoesToTheInnermostRangeOfTheLaunchingThreadHoweverLateTheWorkRuns) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex other = builder.thread(1, 2);
  const RowIndex stream = builder.stream(0, 7);
  builder.range({0, 50, "decode", thread}).range({10, 20, "layer", thread});
  builder.range({0, 100, "elsewhere", other});
  const auto launch = builder.call({12, 14, thread});
  builder.work({70, 80, stream, launch}).work({90, 95, stream, 0}).window(0, 100);
  const Timeline timeline = builder.build();
  const Attribution attribution = Attribution::of(timeline);

  EXPECT_THAT(names_around(timeline, attribution, 0), ElementsAre("layer", "decode"));
  const RowIndex innermost = attribution.innermost(attribution.of_work(timeline.work[0]));
  EXPECT_EQ(timeline.names.text(timeline.ranges[innermost].name), "layer");
  EXPECT_EQ(attribution.of_work(timeline.work[1]), kNoLaunch);
  EXPECT_EQ(attribution.innermost(kNoLaunch), kNoRow);
}

TEST(Attribution, TakesARangeAsHalfOpen) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  builder.range({10, 20, "first", thread}).range({20, 30, "second", thread});
  for (const std::int64_t start : {9, 10, 19, 20, 29, 30}) builder.call({start, start, thread});
  const Timeline timeline = builder.window(0, 40).build();
  const Attribution attribution = Attribution::of(timeline);
  EXPECT_THAT(names_around(timeline, attribution, 0), IsEmpty());
  EXPECT_THAT(names_around(timeline, attribution, 1), ElementsAre("first"));
  EXPECT_THAT(names_around(timeline, attribution, 2), ElementsAre("first"));
  EXPECT_THAT(names_around(timeline, attribution, 3), ElementsAre("second"));
  EXPECT_THAT(names_around(timeline, attribution, 4), ElementsAre("second"));
  EXPECT_THAT(names_around(timeline, attribution, 5), IsEmpty());
}

TEST(Attribution, LetsAStartEndRangeCloseBelowOneThatIsStillOpen) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  builder.range({0, 15, "request", thread, RangeKind::StartEnd}).range({10, 30, "step", thread});
  builder.call({12, 13, thread});
  builder.call({20, 21, thread});
  const Timeline timeline = builder.window(0, 40).build();
  const Attribution attribution = Attribution::of(timeline);
  EXPECT_THAT(names_around(timeline, attribution, 0), ElementsAre("step", "request"));
  EXPECT_THAT(names_around(timeline, attribution, 1), ElementsAre("step"));
  EXPECT_EQ(timeline.names.text(timeline.ranges[attribution.innermost(attribution.around(1))].name),
            "request");
}

TEST(Attribution, NestsRangesThatOpenTogetherByTheirEnds) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  builder.range({10, 20, "inner", thread}).range({10, 40, "outer", thread});
  builder.call({10, 11, thread});
  const Timeline timeline = builder.window(0, 50).build();
  EXPECT_THAT(names_around(timeline, Attribution::of(timeline), 0), ElementsAre("inner", "outer"));
}

/// Straight from the definition: every range is looked at for every call.
std::vector<RowIndex> naive_ranges_at(const Timeline& timeline, RowIndex thread,
                                      std::int64_t when_ns) {
  std::vector<RowIndex> open;
  for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
    const Range& range = timeline.ranges[row];
    if (range.thread == thread && range.start_ns <= when_ns && when_ns < range.end_ns) {
      open.push_back(row);
    }
  }
  std::sort(open.begin(), open.end(), [&](RowIndex a, RowIndex b) {
    const Range& left = timeline.ranges[a];
    const Range& right = timeline.ranges[b];
    if (left.start_ns != right.start_ns) return left.start_ns > right.start_ns;
    if (left.end_ns != right.end_ns) return left.end_ns < right.end_ns;
    return a > b;
  });
  return open;
}

TEST(Attribution, EqualsTheDefinitionOnRandomTimelines) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const Timeline timeline = random_timeline(seed);
    const Attribution attribution = Attribution::of(timeline);
    for (RowIndex row = 0; row < timeline.calls.size(); ++row) {
      const HostCall& call = timeline.calls[row];
      std::vector<RowIndex> ranges;
      attribution.each(attribution.of_call(row), [&](RowIndex range) { ranges.push_back(range); });
      ASSERT_EQ(ranges, naive_ranges_at(timeline, call.thread, call.start_ns));
    }
  }
}

TEST(RangeNames, LeavesOutWhatPyTorchCounts) {
  struct Case {
    std::string_view name, label;
  };
  constexpr Case kCases[] = {
      {"aten::to, op_id = 999599", "aten::to"},
      {"aten::mm, seq = 12, op_id = 3", "aten::mm"},
      {"aten::addmm, seq = 32, op_id = 3, sizes = [[1, 64], [64, 64]]", "aten::addmm"},
      {"aten::add, op_id = 9, sizes = [], input_op_ids = [(1,0), (2,0)]", "aten::add"},
      {"AddmmBackward0, stashed seq=7", "AddmmBackward0"},
      {"ProfilerStep#0", "ProfilerStep#*"},
      {"ProfilerStep#1234", "ProfilerStep#*"},
      // Not PyTorch's.
      {"decode", "decode"},
      {"layer 3", "layer 3"},
      {"ProfilerStep#", "ProfilerStep#"},
      {"ProfilerStep#a", "ProfilerStep#a"},
      {"load, seq = first", "load, seq = first"},
      {"load, sizes = all", "load, sizes = all"},
      {", op_id = 3", ", op_id = 3"},
      {"", ""},
  };
  for (const Case& c : kCases) EXPECT_EQ(range_label(c.name), c.label) << c.name;
}

TEST(RangeNames, MatchesByNameLabelOrGlob) {
  struct Case {
    std::string_view pattern, name;
    bool matches;
  };
  constexpr Case kCases[] = {
      {"decode", "decode", true},
      {"decode", "decode_step", false},
      {"decode*", "decode_step", true},
      {"*step", "decode_step", true},
      {"de*st?p", "decode_step", true},
      {"?", "ab", false},
      {"*", "", true},
      {"aten::to", "aten::to, op_id = 3", true},
      {"aten::t?", "aten::to, op_id = 3", true},
      {"aten::to, op_id = 3", "aten::to, op_id = 3", true},
      {"aten::to, op_id = 3", "aten::to, op_id = 4", false},
      {"ProfilerStep#3", "ProfilerStep#3", true},
      {"ProfilerStep#3", "ProfilerStep#4", false},
      {"ProfilerStep#*", "ProfilerStep#4", true},
      {"copy [host]", "copy [host]", true},  // brackets mean themselves
      {"copy [h]", "copy h", false},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(matches_range(c.name, c.pattern), c.matches) << c.pattern << " / " << c.name;
  }
}

}  // namespace
}  // namespace profline::timeline
