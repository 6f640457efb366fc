#include <gtest/gtest.h>

#include "records/kernel_use.h"
#include "records/load.h"
#include "records/ncu_tables.h"
#include "records/range_use.h"

namespace profline {
namespace {

template <typename T>
void expect_reads_back(const T& value, std::string_view first_line) {
  const auto text = to_document(value);
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_EQ(text->substr(0, text->find(',')), first_line);
  const auto back = from_document<T>(*text, "file.json");
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, value);
}

TEST(ToolTables, NsysKernelsReadBack) {
  NsysKernels table;
  table.tool = "nsys 2023.4.4";
  table.launches = 3;
  table.total_ns = 4500;
  KernelUse kernel;
  kernel.name = "ns::gemm<float>";
  kernel.printed_name = "void ns::gemm<float>(float*)";
  kernel.kernel_class = "gemm";
  kernel.grid = {132, 1, 1};
  kernel.ranges = {"prefill", "sam"};
  kernel.median_ns = 1500.5;
  table.kernels.push_back(kernel);
  expect_reads_back(table, "{\n  \"schema\": \"profline.nsys_kernels/1\"");
}

TEST(ToolTables, NsysRangesReadBack) {
  NsysRanges table;
  NsysCapture capture;
  capture.name = "decode";
  capture.losses = {"Not all CUDA events might have been collected."};
  table.captures.push_back(capture);
  RangeUse range;
  range.name = "decode";
  range.wall_ns = 100;
  DeviceAccount device;
  device.busy_ns = 30;
  device.idle.host_between_ns = 70;
  range.devices.push_back(device);
  range.launch.launches = 1219;
  range.tokens = 1;
  table.ranges.push_back(range);
  expect_reads_back(table, "{\n  \"schema\": \"profline.nsys_ranges/1\"");
  EXPECT_EQ(range.launches_per_token(), 1219.0);
  EXPECT_EQ(device.busy_ns + device.idle.sum_ns() + device.residual_ns, range.wall_ns);
}

TEST(ToolTables, ARangeWithoutKnownTokensHasNoLaunchesPerToken) {
  RangeUse range;
  range.launch.launches = 5;
  EXPECT_EQ(range.launches_per_token(), std::nullopt);
  range.domain = "llm";
  range.name = "decode";
  EXPECT_EQ(range.label(), "llm:decode");
}

TEST(ToolTables, NcuKernelsReadBack) {
  NcuKernels table;
  NcuKernel kernel;
  kernel.duration_ns = 6750.0;
  kernel.counters = {{"dram__bytes_read.sum", "byte", 1e6}};
  kernel.work = {{"tensor", "bf16", 2e9, "sm__ops_path_tensor_src_bf16_dst_fp32.sum"}};
  kernel.roofline.intensity = 2000;
  kernel.evidence = {"82 % of the memory ceiling"};
  table.kernels.push_back(kernel);
  expect_reads_back(table, "{\n  \"schema\": \"profline.ncu_kernels/1\"");
}

TEST(ToolTables, ALoadReadsBack) {
  LoadRecord load;
  load.url = "http://127.0.0.1:8000/v1/completions";
  load.rate = 4.5;
  load.metrics.ttft.n = 2;
  load.metrics.ttft.p99 = LoadFigure{12.5, 11.0, 14.0};
  load.metrics.ttft.marked = {"p99"};
  load.metrics.goodput.emplace().good = 1;
  load.errors.push_back({"http_503", 1, "503 Service Unavailable"});
  load.search.emplace().trials.emplace_back().rate = 4;
  load.findings.push_back({Severity::Note, "no_models", "/v1/models answered 404"});
  expect_reads_back(load, "{\n  \"schema\": \"profline.load/1\"");
}

}  // namespace
}  // namespace profline
