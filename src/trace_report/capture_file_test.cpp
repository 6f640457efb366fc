#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/captures/nsys_export.h"
#include "testing/captures/zoo.h"
#include "testing/temp_dir.h"
#include "trace_report/report.h"
#include "trace_report/testing_traces.h"

namespace profline::trace_report {
namespace {

class CaptureFileTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file_atomic(folder_ / name, text));
    return folder_ / name;
  }
  std::string failure(const std::string& name, const std::string& text) const {
    const auto timeline = read_capture(file(name, text));
    if (timeline) return "read";
    std::string message = timeline.error().to_string();
    const std::string where = folder_.path().string() + "/";
    while (message.find(where) != std::string::npos) {
      message.erase(message.find(where), where.size());
    }
    return message;
  }

  testing::TempDir folder_;
};

TEST_F(CaptureFileTest, TheContentSaysWhatItIs) {
  const auto trace = read_capture(file("no.extension", kGraphTrace));
  ASSERT_TRUE(trace) << trace.error().to_string();
  EXPECT_EQ(trace->work.size(), 4U);
  const auto zipped = read_capture(testing::zoo_capture("kineto.json.gz"));
  ASSERT_TRUE(zipped) << zipped.error().to_string();
  EXPECT_FALSE(zipped->work.empty());
  ASSERT_TRUE(testing::write_decode_loop(folder_ / "loop.json", {.kernels = 120}));
  const auto sqlite = read_capture(folder_ / "loop.json");
  ASSERT_TRUE(sqlite) << sqlite.error().to_string();
  EXPECT_FALSE(sqlite->ranges.empty());
}

TEST_F(CaptureFileTest, SaysWhatAFileIsInstead) {
  EXPECT_EQ(failure("empty", ""), "empty is empty");
  EXPECT_EQ(failure("run.nsys-rep", "NSYS"),
            "run.nsys-rep is a report of nsys: export it first with 'nsys export --type sqlite "
            "run.nsys-rep'");
  EXPECT_EQ(failure("notes.txt", "hello"),
            "notes.txt is neither a Kineto or Chrome trace (.json, .json.gz) nor an SQLite export "
            "of nsys");
}

TEST_F(CaptureFileTest, AFileWithNothingOfUseSaysWhy) {
  EXPECT_EQ(failure("a.json", R"({"traceEvents": []})"),
            "a.json holds nothing that profline can use: it has no events");
  EXPECT_EQ(failure("b.json", R"({"traceEvents": [{"ph":"X","cat":"FEE","name":"x","pid":1,)"
                              R"("tid":1,"ts":1,"dur":1}]})"),
            "b.json holds nothing that profline can use: 1 event was skipped (1: category 'FEE', "
            "which is not read)");
}

TEST_F(CaptureFileTest, ATraceIsKnownByItsBeginning) {
  EXPECT_TRUE(looks_like_trace(file("a", "\xEF\xBB\xBF  [")).value());
  EXPECT_TRUE(looks_like_trace(testing::zoo_capture("kineto.json.gz")).value());
  EXPECT_FALSE(looks_like_trace(file("b", "Time (%),Total Time (ns)")).value());
  EXPECT_FALSE(looks_like_trace(file("c", "")).value());
  EXPECT_FALSE(looks_like_trace(folder_ / "missing"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(looks_like_trace(folder_ / "pipe").value());  // can be read only once
}

}  // namespace
}  // namespace profline::trace_report
