#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "analysis/kernels/classify.h"
#include "base/files.h"
#include "trace_report/report.h"

namespace profline::trace_report {

/// One kernel launched directly in range `first`, three by a CUDA graph in range `graphs`, two
/// operators that are called once and twice, and two Python frames, which are not read.
constexpr const char* kGraphTrace = R"json({"traceEvents": [
{"ph":"X","cat":"user_annotation","name":"first","pid":1,"tid":1,"ts":0,"dur":15},
{"ph":"X","cat":"user_annotation","name":"graphs","pid":1,"tid":1,"ts":18,"dur":10},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":9,"args":{"External id":1}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":10,"dur":3,"args":{"External id":2}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":14,"dur":1,"args":{"External id":3}},
{"ph":"X","cat":"python_function","name":"model.py(3): forward","pid":1,"tid":1,"ts":0,"dur":40},
{"ph":"X","cat":"python_function","name":"model.py(9): step","pid":1,"tid":1,"ts":0,"dur":50},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":1,"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"gemm_a","pid":0,"tid":7,"ts":4,"dur":2,"args":{"stream":7,"correlation":1,"grid":[4,1,1],"block":[128,1,1]}},
{"ph":"X","cat":"kernel","name":"gemm_a","pid":0,"tid":7,"ts":30,"dur":1,"args":{"stream":7,"correlation":2,"graph node id":11}},
{"ph":"X","cat":"kernel","name":"copy_b","pid":0,"tid":7,"ts":32,"dur":1,"args":{"stream":7,"correlation":2,"graph node id":12}},
{"ph":"X","cat":"kernel","name":"copy_b","pid":0,"tid":7,"ts":34,"dur":1,"args":{"stream":7,"correlation":2,"graph node id":13}}]})json";

/// Writes the text to a file in the folder and reads it.
inline Timeline trace_in(const std::filesystem::path& folder, const std::string& text) {
  EXPECT_TRUE(write_file_atomic(folder / "trace.json", text));
  auto timeline = read_capture(folder / "trace.json");
  EXPECT_TRUE(timeline) << timeline.error().to_string();
  return timeline ? std::move(*timeline) : Timeline();
}

/// Kernels with `gemm` in their name, and others.
inline kernels::Classifier two_classes() {
  settings::KernelClasses rules;
  rules.rules.push_back({.name = "gemm", .contains = {"gemm"}, .matches = {}});
  return kernels::Classifier::create(rules).value();
}

}  // namespace profline::trace_report
