#include "workloads/program/recording.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "testing/temp_dir.h"

namespace profline::program {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void write(const std::filesystem::path& file, const std::string& text) {
  const auto written = write_file_atomic(file, text);
  ASSERT_TRUE(written) << written.error().to_string();
}

std::string request_line(int pid, int start_ns) {
  return R"({"kind":"request","pid":)" + std::to_string(pid) + R"(,"start_ns":)" +
         std::to_string(start_ns) + R"(,"ns":5,"phases":[],"model":1})" + "\n";
}

TEST(ReadRecording, OrdersTheRequestsOfAllProcesses) {
  const profline::testing::TempDir dir;
  write(dir.path() / "python-1-5.jsonl", request_line(1, 30) + request_line(1, 50));
  write(dir.path() / "python-2-6.jsonl", request_line(2, 40) + "broken\n");
  write(dir.path() / "other.txt", "not ours");
  const auto recording = read_recording(dir.path());
  ASSERT_TRUE(recording) << recording.error().to_string();
  ASSERT_EQ(recording->requests.size(), 3U);
  EXPECT_EQ(recording->requests[1].id, 1U);
  EXPECT_EQ(recording->requests[1].start_ns, 40);
  EXPECT_EQ(recording->requests[1].integer("pid"), 2);
  EXPECT_EQ(recording->requests[1].integer("model"), 1);
  EXPECT_EQ(recording->python_processes, 2U);
  ASSERT_EQ(recording->problems.size(), 1U);
  EXPECT_TRUE(recording->problems[0].starts_with("a line was skipped: python-2-6.jsonl:2: "))
      << recording->problems[0];
}

TEST(ReadRecording, ReportsTheFirstLinesThatWereSkipped) {
  const profline::testing::TempDir dir;
  write(dir.path() / "python-1-5.jsonl", "[]\n[]\n[]\n[]\n[]\n");
  const auto recording = read_recording(dir.path());
  ASSERT_TRUE(recording);
  EXPECT_THAT(recording->problems,
              ElementsAre("a line was skipped: python-1-5.jsonl:1: is not an object",
                          "a line was skipped: python-1-5.jsonl:2: is not an object",
                          "a line was skipped: python-1-5.jsonl:3: is not an object",
                          "2 more lines of python-1-5.jsonl could not be read"));
}

TEST(ReadRecording, IsEmptyWithoutFiles) {
  const profline::testing::TempDir dir;
  for (const auto& folder : {dir.path(), dir.path() / "absent"}) {
    const auto recording = read_recording(folder);
    ASSERT_TRUE(recording) << recording.error().to_string();
    EXPECT_THAT(recording->requests, IsEmpty());
    EXPECT_THAT(recording->problems, IsEmpty());
  }
}

TEST(ReadRecording, KnowsWhetherTheAdapterStarted) {
  const profline::testing::TempDir dir;
  const auto has_started = [&] { return read_recording(dir.path())->adapter_started; };
  EXPECT_FALSE(has_started());
  write(dir.path() / "python-started", "");
  EXPECT_TRUE(has_started());
  EXPECT_EQ(read_recording(dir.path())->python_processes, 0U);
  std::filesystem::remove(dir.path() / "python-started");
  write(dir.path() / "python-1-5.jsonl", request_line(1, 30));
  EXPECT_TRUE(has_started());
}

TEST(SteadyWindow, LeavesOutTheFirstRequest) {
  Recording recording;
  for (const std::int64_t ms : {900, 101, 100, 102, 99, 100}) {
    Request request;
    request.source = RequestSource::Python;
    request.ns = ms * 1'000'000;
    recording.requests.push_back(request);
  }
  const SteadyWindow window = steady_window(recording);
  EXPECT_EQ(window.first, 1U);
  EXPECT_EQ(window.count, 3U);
  EXPECT_EQ(window.requests, 6U);
  EXPECT_FALSE(window.reason.empty());
  for (Request& request : recording.requests) request.ns *= 7;
  EXPECT_EQ(steady_window(recording).count, 2U) << "more than a second would take long to write";
  recording.requests.resize(1);
  EXPECT_EQ(steady_window(recording).count, 1U);
}

/// A request that took `ms`; several processes are told apart by their attribute.
Request made_by(std::int64_t pid, std::int64_t ms) {
  Request request;
  request.source = RequestSource::Python;
  request.ns = ms * 1'000'000;
  request.attributes.emplace("pid", Node::integer(pid));
  return request;
}

TEST(SteadyWindow, IsCountedInOneProcess) {
  Recording recording;
  for (const std::int64_t ms : {900, 100}) {
    for (std::int64_t pid = 1; pid <= 4; ++pid) recording.requests.push_back(made_by(pid, ms));
  }
  const SteadyWindow window = steady_window(recording);
  EXPECT_EQ(window.first, 1U) << "each process makes two, and the first is cold";
  EXPECT_EQ(window.count, 1U);
  EXPECT_EQ(window.requests, 8U);
  EXPECT_EQ(window.in_process, 2U);
}

TEST(SteadyWindow, IsThatOfTheProcessWithTheMostRequests) {
  Recording recording;
  recording.requests = {made_by(7, 900), made_by(9, 800), made_by(9, 101), made_by(9, 100),
                        made_by(7, 102), made_by(9, 100), made_by(9, 99)};
  const SteadyWindow window = steady_window(recording);
  EXPECT_EQ(window.first, 1U);
  EXPECT_EQ(window.count, 3U);
  EXPECT_EQ(window.in_process, 5U);
}

TEST(SteadyWindow, OfRangesCountsThroughAllProcesses) {
  Recording recording;
  for (int i = 0; i < 8; ++i) {
    recording.requests.push_back(made_by(i % 4, i < 4 ? 900 : 100));
    recording.requests.back().source = RequestSource::Nvtx;
  }
  EXPECT_GT(steady_window(recording).first, 3U) << "nsys opens at the ranges of all processes";
  EXPECT_FALSE(steady_window(recording).in_process);
}

TEST(ReadRecording, AddsUpRangesOutsideRequestsAndMarksRequests) {
  const profline::testing::TempDir dir;
  ASSERT_TRUE(write_file_atomic(
      dir / "python-7-1.jsonl",
      R"({"kind":"process","schema":"profline.python/1","pid":7,"python":"3.11.2","start_ns":0}
{"kind":"range","path":"load","start_ns":5,"ns":30,"thread":1}
{"kind":"range","path":"load","start_ns":50,"ns":10,"thread":1}
{"kind":"mark","name":"graph_capture","at_ns":120,"ns":5}
{"kind":"mark","name":"gc","at_ns":121,"ns":5}
{"kind":"request","source":"python","start_ns":100,"ns":50,"phases":[],"pid":7,"thread":1}
{"kind":"end","at_ns":200}
)"));
  const auto recording = read_recording(dir.path());
  ASSERT_TRUE(recording) << recording.error().to_string();
  EXPECT_THAT(recording->problems, IsEmpty());
  ASSERT_EQ(recording->ranges.size(), 1U);
  EXPECT_EQ(recording->ranges[0], (NamedRanges{.name = "load",
                                               .domain = "",
                                               .instances = 2,
                                               .total_ns = 40,
                                               .min_ns = 10,
                                               .max_ns = 30}));
  ASSERT_EQ(recording->requests.size(), 1U);
  const Node marks = recording->requests[0].attributes.at("one_time");
  ASSERT_EQ(marks.as_list().size(), 1U);
  EXPECT_EQ(marks.as_list()[0].as_string(), "graph_capture");
}

TEST(ReadRecording, MarksOnlyRequestsOfTheSameProcess) {
  const profline::testing::TempDir dir;
  const auto write = [&](const std::string& pid, const std::string& mark) {
    ASSERT_TRUE(write_file_atomic(
        dir / ("python-" + pid + "-1.jsonl"),
        R"({"kind":"process","schema":"profline.python/1","pid":)" + pid +
            R"(,"python":"3.11.2","start_ns":0})" + "\n" + mark +
            R"({"kind":"request","source":"python","start_ns":100,"ns":50,"phases":[],"pid":)" +
            pid + R"(,"thread":1})" + "\n"));
  };
  write("7", R"({"kind":"mark","name":"compile","at_ns":120,"ns":5})"
             "\n");
  write("8", "");
  const auto recording = read_recording(dir.path());
  ASSERT_TRUE(recording) << recording.error().to_string();
  ASSERT_EQ(recording->requests.size(), 2U);
  for (const Request& request : recording->requests) {
    EXPECT_EQ(request.attributes.contains("one_time"), request.integer("pid") == 7);
  }
}

}  // namespace
}  // namespace profline::program
