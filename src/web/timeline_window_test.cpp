#include "web/internal/timeline_window.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::web {
namespace {

using ::testing::ElementsAre;

/// Steps of 1000 ns: a launch of 10 ns, and 100 ns later a kernel of 500 ns; all in one `decode`.
Timeline decode_of(std::size_t steps, bool with_step_ranges) {
  Timeline timeline;
  timeline.threads.push_back({1, 1, 0});
  timeline.streams.push_back({0, 1, 7});
  const auto length = static_cast<std::int64_t>(steps) * 1000;
  timeline.end_ns = length;
  const auto range = [&](std::int64_t start, std::int64_t end, const char* name) {
    Range made;
    made.start_ns = start;
    made.end_ns = end;
    made.name = timeline.names.id_of(name);
    made.thread = 0;
    timeline.ranges.push_back(made);
  };
  range(0, length, "decode");
  for (std::int64_t at = 0; at < length; at += 1000) {
    if (with_step_ranges) range(at, at + 1000, "decode_step");
    HostCall call;
    call.start_ns = at + 10;
    call.end_ns = at + 20;
    call.name = timeline.names.id_of("cudaLaunchKernel");
    call.thread = 0;
    call.kind = CallKind::Launch;
    timeline.calls.push_back(call);
    DeviceWork work;
    work.start_ns = at + 110;
    work.end_ns = at + 610;
    work.name = timeline.names.id_of("void ns::gemm<128>(float*)");
    work.stream = 0;
    work.launch = static_cast<RowIndex>(timeline.calls.size() - 1);
    timeline.work.push_back(work);
  }
  return timeline;
}

std::size_t count(const Window& window, EventKind kind) {
  return static_cast<std::size_t>(
      std::count_if(window.events.begin(), window.events.end(),
                    [&](const WindowEvent& event) { return event.kind == kind; }));
}

std::vector<std::string> lanes(const Window& window) {
  std::vector<std::string> names;
  for (const Lane& lane : window.lanes) names.push_back(lane.name);
  return names;
}

TEST(TimelineWindow, TakesWholeStepsFromTheMiddle) {
  const auto window = window_of(decode_of(20, true), {"decode"});
  ASSERT_TRUE(window);
  EXPECT_EQ(window->what, "decode steps 9 to 12 of 20");
  EXPECT_EQ(window->begin_ns, 8000);
  EXPECT_EQ(window->end_ns, 12000);
  EXPECT_THAT(lanes(*window), ElementsAre("host: ranges", "host: ranges +1", "host: CUDA calls",
                                          "GPU 0, stream 7"));
  EXPECT_EQ(count(*window, EventKind::Kernel), 4U);
  EXPECT_EQ(count(*window, EventKind::Launch), 4U);
  EXPECT_EQ(count(*window, EventKind::Range), 5U);
  EXPECT_EQ(window->all_events, 61U);
  EXPECT_EQ(window->left_out, 0U);
}

TEST(TimelineWindow, KnowsWhenWorkWasLaunchedAndWhatPeopleCallIt) {
  const auto window = window_of(decode_of(20, true), {"decode"});
  ASSERT_TRUE(window);
  const auto kernel =
      std::find_if(window->events.begin(), window->events.end(),
                   [](const WindowEvent& event) { return event.kind == EventKind::Kernel; });
  ASSERT_NE(kernel, window->events.end());
  EXPECT_EQ(kernel->since_launch_ns, 100);
  EXPECT_EQ(kernel->start_ns, 110);
  EXPECT_EQ(kernel->duration_ns, 500);
  EXPECT_EQ(window->names[kernel->name].find("void"), std::string::npos)
      << window->names[kernel->name];
}

TEST(TimelineWindow, GuessesStepsByTheirNumberWhereThereAreNoRanges) {
  const auto window = window_of(decode_of(20, false), {"decode", 20});
  ASSERT_TRUE(window);
  EXPECT_EQ(window->what, "the time of 4 of 20 steps, from the middle of decode");
  EXPECT_EQ(window->end_ns - window->begin_ns, 4000);
  EXPECT_EQ(window->begin_ns, 8000);
}

TEST(TimelineWindow, ShrinksUntilItFits) {
  WindowLimits limits;
  limits.events = 20;
  const auto window = window_of(decode_of(1000, false), {"decode"}, limits);
  ASSERT_TRUE(window);
  EXPECT_LE(window->events.size(), 20U);
  EXPECT_EQ(window->what, "all of decode (0.8 % of that time, 49.6 % into it)");
}

TEST(TimelineWindow, ReportsThreadsThatAreNotShown) {
  Timeline timeline = decode_of(4, true);
  timeline.threads.push_back({1, 2, 0});
  HostCall call = timeline.calls.back();
  call.thread = 1;
  timeline.calls.push_back(call);
  WindowLimits limits;
  limits.threads = 1;
  const auto window = window_of(timeline, {}, limits);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->left_out, 1U);
}

TEST(TimelineWindow, AnEmptyCaptureHasNone) {
  EXPECT_FALSE(window_of(Timeline(), {}));
}

TEST(LaneAccount, IsTheTimeInWhichTheLaneHasAnEvent) {
  Window window;
  window.end_ns = 1'000;
  window.lanes = {{"GPU 0, stream 7", true}, {"host: ranges", false}};
  const auto add = [&](std::uint32_t lane, std::int64_t start, std::int64_t duration) {
    WindowEvent event;
    event.lane = lane;
    event.start_ns = start;
    event.duration_ns = duration;
    window.events.push_back(event);
  };
  add(0, 500, 100);
  add(0, -50, 150);  // begun before the window
  add(0, 550, 100);  // overlaps
  add(0, 950, 200);  // ends after it
  add(1, 0, 1'000);
  const LaneAccount device = account_of(window, 0);
  EXPECT_EQ(device.events, 4U);
  EXPECT_EQ(device.busy_ns, 100 + 150 + 50);
  EXPECT_EQ(device.longest_gap_ns, 400);
  EXPECT_EQ(device.longest, &window.events[3]);
  EXPECT_EQ(account_of(window, 1).longest_gap_ns, 0);
  EXPECT_EQ(account_of(window, 2), (LaneAccount{0, nullptr, 0, 1'000}));
}

}  // namespace
}  // namespace profline::web
