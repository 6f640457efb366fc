#include "tools/kineto/protocol.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::kineto {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A datagram of words of 32 bits after a header of that type.
std::string datagram(std::string_view type, const std::vector<std::int32_t>& words,
                     std::int64_t size_error = 0) {
  const auto body_bytes = static_cast<std::int64_t>(words.size() * sizeof(std::int32_t));
  const std::int64_t size = body_bytes + size_error;
  std::string bytes(40, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  type.copy(bytes.data() + 8, type.size());
  bytes.resize(40 + static_cast<std::size_t>(body_bytes));
  if (!words.empty()) {
    std::memcpy(bytes.data() + 40, words.data(), static_cast<std::size_t>(body_bytes));
  }
  return bytes;
}

TEST(KinetoMessage, RegistersAProcess) {
  const auto message = parse_message(datagram("ctxt", {1, 4711, 99, 0}));
  ASSERT_TRUE(message) << message.error().to_string();
  EXPECT_EQ(message->kind, Message::Kind::Context);
  EXPECT_EQ(message->gpu, 1);
  EXPECT_EQ(message->pid(), 4711);
  EXPECT_EQ(message->job, 99);
  EXPECT_FALSE(message->takes_trace());
}

TEST(KinetoMessage, AsksWithItsAncestors) {
  const auto message = parse_message(datagram("req", {2, 3, 7, 0, 4711, 4700, 1}));
  ASSERT_TRUE(message) << message.error().to_string();
  EXPECT_EQ(message->pids, (std::vector<std::int32_t>{4711, 4700, 1}));
  EXPECT_EQ(message->job, 7);
  EXPECT_TRUE(message->takes_trace());
  EXPECT_FALSE(parse_message(datagram("req", {1, 1, 0, 0, 4711}))->takes_trace())
      << "it is recording already";
}

TEST(KinetoMessage, IsNothingElse) {
  struct Case {
    std::string_view name;
    std::string bytes;
    std::string_view why;
  };
  const Case cases[] = {
      {"empty", "", "0 bytes"},
      {"no header", std::string(39, 'x'), "39 bytes"},
      {"a type without an end", std::string(40, 'x'), "a type without an end"},
      {"another type", datagram("data", {}), "an unknown type"},
      {"a wrong size", datagram("ctxt", {0, 1, 0, 0}, 4), "a body of 16 bytes, announced as 20"},
      {"a negative size", datagram("ctxt", {0, 1, 0, 0}, -17), "a body of 16 bytes"},
      {"a short registration", datagram("ctxt", {0, 1}), "a registration of 8 bytes"},
      {"a short request", datagram("req", {2, 1}), "a request of 8 bytes"},
      {"fewer pids than announced", datagram("req", {2, 3, 0, 0, 5}), "for 3 pids"},
      {"more pids than announced", datagram("req", {2, 1, 0, 0, 5, 6}), "for 1 pids"},
      {"no pids", datagram("req", {2, 0, 0, 0}), "for 0 pids"},
      {"a negative count", datagram("req", {2, -1, 0, 0}), "for -1 pids"},
      {"a count that overflows", datagram("req", {2, 0x40000001, 0, 0, 5}), "for 1073741825 pids"},
      {"pid 0", datagram("req", {2, 1, 0, 0, 0}), "a process without a number"},
      {"a negative pid", datagram("ctxt", {0, -5, 0, 0}), "a process without a number"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto message = parse_message(c.bytes);
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().kind(), ErrorKind::Parse);
    EXPECT_THAT(message.error().to_string(), HasSubstr(c.why));
  }
}

TEST(KinetoAnswer, HasTheTypeOfTheMessageAndItsSize) {
  const std::string text = answer(Message::Kind::Request, "A=1\n");
  ASSERT_EQ(text.size(), 44U);
  EXPECT_EQ(text.substr(0, 8), std::string("\4\0\0\0\0\0\0\0", 8));
  EXPECT_STREQ(text.c_str() + 8, "req");
  EXPECT_EQ(text.substr(40), "A=1\n");
  EXPECT_EQ(answer(Message::Kind::Context, registration_body()).size(), 44U);
  EXPECT_EQ(answer(Message::Kind::Request, "").size(), 40U);
}

TEST(KinetoTrace, IsConfiguredWithWhatWasAskedFor) {
  TraceRequest request{.file = "/r/torch_profiler/kineto.json"};
  request.duration = std::chrono::milliseconds(750);
  request.shapes = true;
  const std::string text = trace_config(request);
  EXPECT_EQ(text,
            "ACTIVITIES_LOG_FILE=/r/torch_profiler/kineto.json\nACTIVITIES_DURATION_MSECS=750\n"
            "ACTIVITIES_WARMUP_PERIOD_SECS=0\nPROFILE_REPORT_INPUT_SHAPES=true\n"
            "PROFILE_PROFILE_MEMORY=false\nPROFILE_WITH_STACK=false\n");
  request.cuda = false;
  EXPECT_THAT(trace_config(request), HasSubstr("ACTIVITY_TYPES=cpu_op,user_annotation\n"));
  request.cuda = true;
  request.cpu = false;
  EXPECT_THAT(trace_config(request), HasSubstr("ACTIVITY_TYPES=kernel,"));
  EXPECT_THAT(trace_config(request), Not(HasSubstr("cpu_op")));
}

TEST(KinetoTrace, IsInAFileWithTheProcesssNumber) {
  EXPECT_EQ(trace_file("/r/kineto.json", 77), "/r/kineto_77.json");
  EXPECT_FALSE(unusable_trace_folder("/r/2026-11-18/torch_profiler"));
  EXPECT_TRUE(unusable_trace_folder("/r/my.json.runs/a"));
  EXPECT_TRUE(unusable_trace_folder("/r/a..b"));
}

TEST(KinetoSockets, FitIntoAnAddress) {
  constexpr std::size_t kAddressBytes = 108;
  EXPECT_LE(kMostFolderBytes + 1 + kClientNameBytes + 1, kAddressBytes);
}

}  // namespace
}  // namespace profline::kineto
