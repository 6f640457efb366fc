#include "analysis/operators/operator_table.h"

#include <gtest/gtest.h>

namespace profline::operators {
namespace {

/// A capture of one thread or two, made by hand.
class Capture {
 public:
  Capture() { timeline.threads = {{1, 1, 0}, {1, 2, 0}}; }

  RowIndex op(const char* name, std::int64_t start_ns, std::int64_t end_ns, RowIndex thread = 0,
              const char* shapes = "") {
    timeline.operators.push_back(
        {start_ns, end_ns, timeline.names.id_of(name), timeline.names.id_of(shapes), thread, 0});
    return static_cast<RowIndex>(timeline.operators.size() - 1);
  }
  void kernel(RowIndex op, std::int64_t duration_ns) {
    HostCall call;
    call.op = op;
    timeline.calls.push_back(call);
    DeviceWork work;
    work.end_ns = duration_ns;
    work.launch = static_cast<RowIndex>(timeline.calls.size() - 1);
    timeline.work.push_back(work);
  }
  std::string table(const OperatorTableOptions& options = {}) const {
    std::string text;
    for (const OperatorRow& row : operator_table(timeline, options).rows) {
      text += timeline.names.text(row.name) + timeline.names.text(row.input_shapes) + " x" +
              std::to_string(row.calls) + " total " + std::to_string(row.total_ns) + " self " +
              std::to_string(row.self_ns) + " device " + std::to_string(row.device_ns) + "/" +
              std::to_string(row.self_device_ns) + "\n";
    }
    return text;
  }

  Timeline timeline;
};

TEST(OperatorTable, CountsEachInstantOfAThreadOnce) {
  Capture capture;
  capture.op("linear", 0, 100);
  const RowIndex mm = capture.op("mm", 10, 60);
  capture.op("linear", 50, 80, 1);
  capture.op("empty", 60, 70);
  capture.kernel(mm, 7);
  capture.kernel(0, 2);
  EXPECT_EQ(capture.table(),
            "linear x2 total 130 self 70 device 9/2\n"
            "mm x1 total 50 self 50 device 7/7\n"
            "empty x1 total 10 self 10 device 0/0\n");
}

TEST(OperatorTable, DoesNotCountAnOperatorInsideItselfTwice) {
  Capture capture;
  capture.op("add", 0, 100);
  capture.op("to", 10, 90);
  const RowIndex inner = capture.op("add", 20, 80);
  capture.kernel(inner, 5);
  EXPECT_EQ(capture.table(),
            "add x2 total 100 self 80 device 5/5\n"
            "to x1 total 80 self 20 device 5/0\n");
}

TEST(OperatorTable, ClipsWhatOutlastsTheOperatorAroundIt) {
  Capture capture;
  capture.op("a", 0, 100);
  capture.op("b", 90, 150);
  EXPECT_EQ(capture.table(),
            "a x1 total 100 self 90 device 0/0\nb x1 total 60 self 10 device 0/0\n");
}

TEST(OperatorTable, IsOrderedByTheColumnAskedFor) {
  Capture capture;
  const RowIndex linear = capture.op("linear", 0, 100);
  const RowIndex mm = capture.op("mm", 10, 20);
  capture.op("mm", 20, 30);
  capture.op("empty", 40, 90);
  capture.kernel(mm, 7);
  capture.kernel(linear, 2);
  const auto names = [&](OperatorOrder order) {
    std::string text;
    for (const OperatorRow& row : operator_table(capture.timeline, {.order = order}).rows) {
      text += capture.timeline.names.text(row.name) + ' ';
    }
    return text;
  };
  EXPECT_EQ(names(OperatorOrder::Self), "empty linear mm ");
  EXPECT_EQ(names(OperatorOrder::Total), "linear empty mm ");
  EXPECT_EQ(names(OperatorOrder::SelfDevice), "mm linear empty ");
  EXPECT_EQ(names(OperatorOrder::Device), "linear mm empty ");
  EXPECT_EQ(names(OperatorOrder::Calls), "mm empty linear ");
}

TEST(OperatorTable, DistinguishesShapesAndKeepsToARange) {
  Capture capture;
  capture.op("mm", 0, 10, 0, "[[1]]");
  capture.op("mm", 20, 40, 0, "[[2]]");
  capture.op("mm", 25, 26, 1, "[[2]]");
  capture.timeline.ranges.push_back(
      {15, 50, capture.timeline.names.id_of("decode"), 0, 0, 0, kNoRow, RangeKind::PushPop, true});
  EXPECT_EQ(capture.table({.by_shape = true}),
            "mm[[2]] x2 total 21 self 21 device 0/0\nmm[[1]] x1 total 10 self 10 device 0/0\n");
  EXPECT_EQ(capture.table({.inside = "decode"}), "mm x1 total 20 self 20 device 0/0\n");
  EXPECT_EQ(capture.table({.inside = "nowhere"}), "");
}

}  // namespace
}  // namespace profline::operators
