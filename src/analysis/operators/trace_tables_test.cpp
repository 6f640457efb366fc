#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/operators/operator_table.h"

namespace profline::operators {
namespace {

using ::testing::ElementsAre;

/// A trace of one thread and one stream.
class TraceTables : public ::testing::Test {
 protected:
  TraceTables() {
    trace.end_ns = 1000;
    trace.threads.resize(1);
    trace.streams.push_back({.device = 1});
  }
  void range(std::string_view name, std::int64_t start, std::int64_t end) {
    Range row;
    row.start_ns = start;
    row.end_ns = end;
    row.name = trace.names.id_of(name);
    row.thread = 0;
    trace.ranges.push_back(row);
  }
  void op(std::string_view name, std::int64_t start, std::int64_t end,
          std::string_view shapes = "") {
    Operator row;
    row.start_ns = start;
    row.end_ns = end;
    row.name = trace.names.id_of(name);
    row.input_shapes = trace.names.id_of(shapes);
    row.thread = 0;
    trace.operators.push_back(row);
  }
  void launch(std::int64_t start, std::int64_t end, std::string_view kernel, std::int64_t work) {
    HostCall call;
    call.start_ns = start;
    call.end_ns = end;
    call.name = trace.names.id_of("cudaLaunchKernel");
    call.thread = 0;
    trace.calls.push_back(call);
    DeviceWork row;
    row.start_ns = end;
    row.end_ns = end + work;
    row.name = trace.names.id_of(kernel);
    row.stream = 0;
    row.launch = static_cast<RowIndex>(trace.calls.size() - 1);
    trace.work.push_back(row);
  }

  Timeline trace;
};

TEST_F(TraceTables, CountEachInstantOfAThreadOnce) {
  range("decode", 0, 100);
  op("aten::linear", 10, 60);
  op("aten::mm", 20, 50);
  launch(30, 40, "gemm", 70);
  const TorchOperators table = torch_operators(trace, false);
  EXPECT_EQ(table.duration_ns, 1000);
  EXPECT_THAT(table.operators, ElementsAre(TorchOperator{"aten::mm", "", 1, 20, 30, 70, 70},
                                           TorchOperator{"aten::linear", "", 1, 20, 50, 0, 70}));
  EXPECT_THAT(table.runtime_calls,
              ElementsAre(TorchOperator{"cudaLaunchKernel", "", 1, 10, 10, 0, 0}));
  EXPECT_THAT(table.ranges, ElementsAre(TorchOperator{"decode", "", 1, 50, 100, 0, 70}));
}

TEST_F(TraceTables, KeepRangesInTheirOrderAndApartFromOperators) {
  range("prefill", 0, 10);
  range("decode", 20, 90);
  range("prefill", 90, 95);
  op("decode", 30, 40);
  launch(50, 55, "copy", 5);
  const TorchOperators table = torch_operators(trace, false);
  EXPECT_THAT(table.ranges, ElementsAre(TorchOperator{"prefill", "", 2, 15, 15, 0, 0},
                                        TorchOperator{"decode", "", 1, 55, 70, 5, 5}));
  EXPECT_THAT(table.operators, ElementsAre(TorchOperator{"decode", "", 1, 10, 10, 0, 0}));
}

TEST_F(TraceTables, SplitOperatorsByShapesWhenAsked) {
  op("aten::mm", 0, 10, "[[1]]");
  op("aten::mm", 10, 40, "[[2]]");
  EXPECT_EQ(torch_operators(trace, false).operators.size(), 1U);
  EXPECT_THAT(torch_operators(trace, true).operators,
              ElementsAre(TorchOperator{"aten::mm", "[[2]]", 1, 30, 30, 0, 0},
                          TorchOperator{"aten::mm", "[[1]]", 1, 10, 10, 0, 0}));
}

TEST_F(TraceTables, SumUpKernels) {
  launch(0, 5, "gemm", 10);
  launch(5, 9, "gemm", 30);
  launch(9, 12, "copy", 5);
  EXPECT_THAT(torch_kernels(trace), ElementsAre(TorchKernel{"gemm", 1, 2, 40, 10, 30},
                                                TorchKernel{"copy", 1, 1, 5, 5, 5}));
  EXPECT_TRUE(torch_kernels(Timeline()).empty());
}

}  // namespace
}  // namespace profline::operators
