#include "testing/runs/recorded_run.h"

#include <fstream>

#include <gtest/gtest.h>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/classify.h"
#include "analysis/roofline/counted_kernel.h"
#include "analysis/timeline/group_kernels.h"
#include "base/files.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "settings/hardware.h"
#include "summary/torch_trace.h"
#include "testing/paths.h"
#include "tools/ncu/csv_reader.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::testing {
namespace {

constexpr std::uint32_t kPromptTokens = 282;
constexpr std::uint32_t kSteps = 20;

std::filesystem::path golden(const std::string& name) {
  return testing::source_dir() / "tests/golden" / name;
}

template <typename T>
T must(Result<T> result) {
  EXPECT_TRUE(result) << result.error().to_string();
  return std::move(result).value();
}

settings::Ceilings h200_ceilings() {
  const auto path = testing::source_dir() / "conf/hardware/devices.yaml";
  const Node table = must(parse_yaml(text_of(path), "devices.yaml"));
  const settings::Hardware hardware = must(settings::read_hardware(table));
  return settings::ceilings_of(*hardware.find("NVIDIA H200"));
}

std::vector<Request> requests_of(std::int64_t token_ns) {
  Request request;
  request.prompt_tokens = kPromptTokens;
  request.new_tokens = kSteps + 1;
  request.batch = 1;
  request.phases = {
      {"preprocess", 0, 100'000, {}, true},
      {"prefill", 100'000, 1'000'000, {}},
      {"prefill/sam", 100'000, 600'000, {}},
      {"prefill/clip", 700'000, 150'000, {}},
      {"prefill/projector", 850'000, 10'000, {}},
      {"prefill/lm", 860'000, 230'000, {}},
      {"decode", 1'100'000, token_ns * kSteps, std::vector<std::int64_t>(kSteps, token_ns)}};
  request.ns = 1'100'000 + token_ns * kSteps;
  request.ttft_ns = 1'100'000;
  request.attributes = {{"image", Node::string("page-0001")}, {"epoch", Node::integer(0)},
                        {"index", Node::integer(0)},          {"finish", Node::string("length")},
                        {"dtype", Node::string("bf16")},      {"threads", Node::integer(16)},
                        {"engine", Node::string("eager")}};
  return {request};
}

static_model::StaticCompute tiny_on_h200() {
  static_model::StaticCompute result;
  result.ceilings = h200_ceilings();
  result.device = "NVIDIA H200";
  result.views = {{1024, 1}};
  result.request.prompt_tokens = kPromptTokens;
  result.request.new_tokens = kSteps + 1;
  result.shapes_from = "model.preprocess";
  result.config_from = "the tiny model's shapes";
  result.cost = static_model::deepseek_ocr_cost(tiny_config(), *static_model::number_format("bf16"),
                                                result.views, result.request);
  return result;
}

std::vector<std::uint32_t> numbers(const std::array<std::uint32_t, 3>& shape) {
  return {shape.begin(), shape.end()};
}

const kernels::Classifier& shipped_classes() {
  static const kernels::Classifier classes = must(kernels::shipped_classifier());
  return classes;
}

NsysRanges ranges_of(const Timeline& timeline) {
  NsysRanges ranges;
  ranges.tool = timeline.tool;
  NsysCapture capture;
  capture.name = "decode";
  capture.range = "decode";
  capture.gpus = {"NVIDIA H200"};
  capture.losses = timeline.reading.losses;
  ranges.captures = {capture};
  ranges.ranges = summary::traced_ranges(timeline);
  for (RangeUse& range : ranges.ranges) range.capture = capture.name;
  return ranges;
}

NsysKernels kernels_of(const Timeline& timeline) {
  NsysKernels kernels;
  kernels.tool = timeline.tool;
  const timeline::KernelKeys keys{
      .spelling = true, .shape = timeline::KernelKeys::Shape::Whole, .ranges = true};
  timeline::KernelUses uses =
      timeline::group_kernels(timeline, keys, {.classes = &shipped_classes()});
  kernels.launches = uses.launches;
  kernels.total_ns = uses.total_ns;
  for (KernelUse& row : uses.rows) {
    row.ranges = row.ranges.empty() ? std::vector<std::string>{""}
                                    : std::vector<std::string>{row.ranges.back()};
    row.capture = "decode";
    kernels.kernels.push_back(std::move(row));
  }
  return kernels;
}

NcuKernels counters_of(const CounterReport& report) {
  NcuKernels kernels;
  kernels.tool = "ncu 2025.3.1";
  for (roofline::KernelMean& mean : roofline::mean_kernels(report)) {
    const auto row = roofline::make_row(report, std::move(mean), "k", h200_ceilings(), {});
    NcuKernel kernel;
    kernel.printed_name = row.name;
    const auto name = kernels::canonical_name(row.name);
    kernel.name = name.full;
    kernel.short_name = name.short_name;
    kernel.kernel_class = shipped_classes().class_of(name);
    kernel.grid = numbers(row.mean.kernel.shape.grid);
    kernel.block = numbers(row.mean.kernel.shape.block);
    kernel.ranges = {"decode"};
    kernel.device_name = row.device_name;
    kernel.launches = row.mean.launches;
    kernel.duration_ns = row.point.time_ns;
    kernel.roofline.operations = row.point.operations;
    kernel.roofline.dram_bytes = row.point.dram_bytes;
    kernel.roofline.floor_ns = row.point.floor_ns;
    kernel.roofline.compute_share = row.point.compute_share;
    kernel.roofline.memory_share = row.point.memory_share;
    kernel.bound = to_text(row.point.bound);
    kernel.margin_class = to_text(row.margin_class);
    kernel.evidence = row.point.evidence;
    kernels.launches += kernel.launches;
    kernels.kernels.push_back(std::move(kernel));
  }
  return kernels;
}

void put(const std::filesystem::path& file, const Result<std::string>& text) {
  ASSERT_TRUE(text) << text.error().to_string();
  ASSERT_TRUE(create_folders(file.parent_path()));
  ASSERT_TRUE(std::ofstream(file, std::ios::binary) << *text);
}

void put(const std::filesystem::path& file, const std::optional<std::vector<Request>>& requests) {
  if (!requests) return;
  std::string text;
  for (const Request& request : *requests) text += to_json_line(request) + '\n';
  put(file, Result<std::string>(text));
}

template <typename T>
void put_document(const std::filesystem::path& file, const std::optional<T>& document) {
  if (document) put(file, to_document(*document));
}

}  // namespace

StageRecord& TestRun::stage(std::string_view name) {
  for (StageRecord& stage : run.stages) {
    if (stage.name == name) return stage;
  }
  run.stages.push_back({});
  run.stages.back().name = name;
  return run.stages.back();
}

void TestRun::write(const std::filesystem::path& folder) const {
  put(folder / "run.json", write_json(to_node(run)));
  put(folder / "baseline/requests.jsonl", baseline);
  put(folder / "nsys/workload/requests.jsonl", nsys_requests);
  put(folder / "torch_profiler/workload/requests.jsonl", torch_requests);
  put_document(folder / "nsys/ranges.json", nsys_ranges);
  put_document(folder / "nsys/kernels.json", nsys_kernels);
  put_document(folder / "ncu/kernels.json", ncu_kernels);
  if (static_compute) {
    ASSERT_TRUE(create_folders(folder / "static_analysis"));
    ASSERT_TRUE(write_static_compute(*static_compute, folder / "static_analysis"));
  }
  if (!trace.empty()) put(folder / "torch_profiler/trace.json", read_file(trace));
}

TestRun h200_run() {
  TestRun run;
  run.run.id = "20261115-102030";
  run.run.experiment = "h200";
  run.run.started = "2026-11-15T10:20:30Z";
  run.run.device = "cuda:0";
  for (const char* name : {"static_analysis", "baseline", "torch_profiler", "nsys", "ncu"}) {
    run.stage(name).state = StageState::Ok;
  }
  run.stage("direct_inference").state = StageState::Off;
  run.baseline = requests_of(130'000);
  run.nsys_requests = requests_of(155'000);
  run.torch_requests = requests_of(360'000);
  run.static_compute = tiny_on_h200();
  const Timeline capture = must(nsys::read_sqlite(golden("nsys/2025.3-decode/input.sqlite")));
  run.nsys_ranges = ranges_of(capture);
  run.nsys_kernels = kernels_of(capture);
  run.ncu_kernels =
      counters_of(must(ncu::load_csv(golden("ncu/2025.3-raw-kernels/input.csv").string(), {})));
  run.trace = golden("trace/kineto-torch-2.11-h200.json.gz");
  return run;
}

Phase& phase_of(Request& request, std::string_view path) {
  for (Phase& phase : request.phases) {
    if (phase.path == path) return phase;
  }
  ADD_FAILURE() << "no phase " << path;
  static Phase none;
  return none;
}

std::string text_of(const std::filesystem::path& file) {
  return must(read_file(file));
}

}  // namespace profline::testing
