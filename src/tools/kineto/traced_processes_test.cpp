#include "tools/kineto/traced_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_dir.h"

namespace profline::kineto {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

TEST(KinetoOutcome, NamesWhatBecameOfEachProcess) {
  const testing::TempDir folder;
  const TraceRequest trace{.file = folder / "kineto.json"};
  ASSERT_TRUE(write_file_atomic(folder / "kineto_1.json", "{\"traceEvents\": []}\n"));
  ASSERT_TRUE(write_file_atomic(folder / "kineto_2.json", "{\"traceEvents\": [{\"ph\""));
  const Clock::Steady start{seconds(100)};
  const auto client = [&](std::int32_t pid, bool asked) {
    Client one{.pid = pid, .kernel_pid = pid};
    if (asked) one.asked = start;
    return one;
  };
  Traffic traffic;
  traffic.clients = {client(1, true), client(2, true), client(3, true), client(4, true),
                     client(5, false)};
  const auto process = [&](pid_t pid, const char* name, int lived, bool torch = true) {
    return WatchedProcess{.pid = pid,
                          .start_ticks = 0,
                          .name = name,
                          .has_torch = torch,
                          .last_seen = start + seconds(lived)};
  };
  WatchedProcess copy = process(8, "worker", 60);
  copy.is_copy = true;
  const std::vector<WatchedProcess> processes = {
      process(1, "main", 60),
      process(3, "quick", 1),
      process(4, "slow", 60),
      process(5, "late", 60),
      process(6, "old", 60),
      process(7, "bash", 60, false),
      copy,
  };
  EXPECT_THAT(outcomes(traffic, processes, trace),
              ElementsAre(ProcessTrace{1, "main", Outcome::Traced, folder / "kineto_1.json"},
                          ProcessTrace{2, "", Outcome::Truncated, folder / "kineto_2.json"},
                          ProcessTrace{3, "quick", Outcome::EndedEarly, {}},
                          ProcessTrace{4, "slow", Outcome::NotWritten, {}},
                          ProcessTrace{5, "late", Outcome::NotAsked, {}},
                          ProcessTrace{6, "old", Outcome::NeverPolled, {}},
                          ProcessTrace{8, "worker", Outcome::Forked, {}}));
}

TEST(KinetoTraceFile, IsCompleteWithItsLastBracket) {
  struct Case {
    std::string_view text;
    bool complete;
  };
  const std::string long_text = "{\"a\": \"" + std::string(500, 'x') + "\"}";
  const Case cases[] = {
      {"{}", true},      {" [\n]\n", true}, {long_text, true}, {"", false},
      {"{\"a\"", false}, {"[1, 2", false},  {"[}", false},     {"text }", false},
  };
  const testing::TempDir folder;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    ASSERT_TRUE(write_file_atomic(folder / "t.json", c.text));
    EXPECT_EQ(is_complete_trace(folder / "t.json"), c.complete);
  }
  EXPECT_FALSE(is_complete_trace(folder / "absent.json"));
}

}  // namespace
}  // namespace profline::kineto
