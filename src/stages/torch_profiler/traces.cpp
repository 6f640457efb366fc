#include "stages/torch_profiler/internal/traces.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "analysis/operators/operator_table.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "records/torch_tables.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "stages/program_gate/program_gate.h"
#include "stages/ranks/ranked_stage.h"
#include "tools/kineto/traced_processes.h"
#include "tools/torch_profiler/trace.h"
#include "workloads/program/recording.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::Severity;

constexpr std::string_view kAdapterPrefix = "trace-";
constexpr std::string_view kKinetoPrefix = "kineto_";
constexpr std::string_view kEnding = ".json";

/// The requests around which a trace was opened.
std::uint64_t requests_of(const std::vector<program::Gate>& gates, const std::string& file) {
  for (const program::Gate& gate : gates) {
    if (gate.trace && fs::path(*gate.trace).filename() == file) return gate.requests.size();
  }
  return 0;
}

void count(const Timeline& trace, ProcessTraceFile& row) {
  row.operators = trace.operators.size();
  row.kernels = trace.work.size();
  for (const DeviceWork& work : trace.work) row.kernel_ns += work.duration_ns();
}

std::string why_no_kernels(const pipeline::RunSetup& setup) {
  const auto& activities = setup.settings.pipeline.torch_profiler.activities;
  const bool asked =
      std::find(activities.begin(), activities.end(), settings::Activity::Cuda) != activities.end();
  if (setup.settings.device.kind != settings::Device::Kind::Cuda)
    return "the program ran on the CPU";
  if (!asked) return "pipeline.torch_profiler.activities does not name cuda";
  return "the profiler recorded no work on the GPU";
}

Result<void> write_node(const fs::path& file, const Node& document) {
  return write_file_atomic(file, PL_TRY(write_json(document)));
}

/// Counts what the other traces hold; one that cannot be read is reported.
void read_others(const fs::path& folder, std::vector<ProcessTraceFile>& traces,
                 pipeline::StageRun& run) {
  for (ProcessTraceFile& row : traces) {
    if (row.main) continue;
    const auto trace = torch_profiler::read_trace(folder / row.file);
    if (trace) {
      count(*trace, row);
    } else {
      row.complete = false;
      run.report({Severity::Warning, "trace_unreadable",
                  "the trace of process " + std::to_string(row.pid) +
                      " cannot be read: " + trace.error().to_string()});
    }
  }
}

/// What the main trace lacks.
void report_lacks(const pipeline::RunSetup& setup, const ProcessTraceFile& main,
                  pipeline::StageRun& run) {
  if (main.operators == 0) {
    run.report({Severity::Warning, "capture_empty",
                std::string(run::files::kTrace) + " holds no operators",
                "the process ran no operators while it was traced; let it run for longer, or mark "
                "its requests"});
  }
  const auto& activities = setup.settings.pipeline.torch_profiler.activities;
  const bool asked =
      std::find(activities.begin(), activities.end(), settings::Activity::Cuda) != activities.end();
  const bool is_gpu = setup.settings.device.kind == settings::Device::Kind::Cuda;
  if (is_gpu && asked && main.kernels == 0) {
    run.report({Severity::Warning, "capture_empty",
                std::string(run::files::kTrace) + " holds no kernels",
                "the program may not use the GPU, or another profiler uses CUPTI"});
  }
}

/// The tables cover one trace only, so the others are named.
std::optional<Finding> others_finding(const std::vector<ProcessTraceFile>& traces) {
  constexpr std::size_t kNamed = 3;
  if (traces.size() < 2 || !traces.front().main) return std::nullopt;
  std::vector<std::string> named;
  for (std::size_t i = 1; i < traces.size() && named.size() < kNamed; ++i) {
    named.push_back(traces[i].file + " (" + counted(traces[i].operators, "operator call") + ", " +
                    counted(traces[i].kernels, "kernel") + ")");
  }
  const std::size_t others = traces.size() - 1;
  if (others > named.size()) named.push_back(std::to_string(others - named.size()) + " more");
  return Finding{Severity::Note, "other_traces",
                 "operators and kernels are those of process " +
                     std::to_string(traces.front().pid) + "; " + counted(others, "other trace") +
                     (others == 1 ? " is" : " are") + " next to its own: " + join(named, ", "),
                 "profline trace FILE reads them"};
}

}  // namespace

std::optional<ProcessTraceFile> trace_named(std::string_view file) {
  ProcessTraceFile row{.file = std::string(file)};
  if (!file.ends_with(kEnding)) return std::nullopt;
  if (file.starts_with(kAdapterPrefix)) {
    row.source = TraceSource::Adapter;
    file.remove_prefix(kAdapterPrefix.size());
  } else if (file.starts_with(kKinetoPrefix)) {
    file.remove_prefix(kKinetoPrefix.size());
  } else {
    return std::nullopt;
  }
  const char* end = file.data() + file.size();
  const auto [rest, status] = std::from_chars(file.data(), end, row.pid);
  // `trace-77.json`, and `trace-77-2.json` for the second one of a process.
  const std::string_view left(rest, static_cast<std::size_t>(end - rest));
  const bool is_numbered = row.source == TraceSource::Adapter && left.starts_with('-');
  if (status != std::errc() || row.pid <= 0 || (left != kEnding && !is_numbered)) {
    return std::nullopt;
  }
  return row;
}

namespace {

/// Finds the traces and gives the main one the name that every run has.
Result<ProcessTraces> named_traces(const pipeline::RunSetup& setup, const fs::path& folder) {
  ProcessTraces list{find_traces(setup, folder)};
  if (list.traces.empty() || !list.traces.front().main) return list;
  ProcessTraceFile& main = list.traces.front();
  if (main.file == run::files::kTrace || main.file == run::files::kCompressedTrace) return list;
  std::error_code failure;
  fs::rename(folder / main.file, folder / run::files::kTrace, failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot rename " + main.file + ": " + failure.message());
  }
  main.file = run::files::kTrace;
  return list;
}

}  // namespace

Result<void> write_rank_tables(const pipeline::StageContext& context, const run::Run& files,
                               pipeline::StageRun& run) {
  const pipeline::RunSetup& setup = context.setup;
  const char* stage = run::stages::kTorchProfiler;
  for (const std::uint32_t rank : observed_ranks(setup, stage)) {
    const pipeline::RunSetup one = for_rank(setup, rank);
    const fs::path folder = one.stage_folder(stage);
    const ProcessTraces list = PL_TRY(named_traces(one, folder));
    PL_TRY(write_file_atomic(folder / run::files::kTraces, PL_TRY(to_document(list))));
  }
  PL_TRY(lift_file(setup, stage, lead_rank(setup, stage), run::files::kTrace));
  if (files.has(run::paths::kTorchTrace)) run.report(lead_finding(setup, stage));
  return write_tables(context, files, run);
}

std::vector<ProcessTraceFile> find_traces(const pipeline::RunSetup& setup, const fs::path& folder) {
  const auto recording = program::read_recording(
      recorded_folder(folder), {.request_range = setup.settings.pipeline.workload.request_range});
  std::vector<ProcessTraceFile> traces;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    auto row = trace_named(at->path().filename().string());
    if (!row) continue;
    std::error_code gone;
    row->bytes = fs::file_size(at->path(), gone);
    row->complete = kineto::is_complete_trace(at->path());
    if (recording) row->requests = requests_of(recording->gates, row->file);
    traces.push_back(std::move(*row));
  }
  // The adapter's trace of a process replaces what was recorded on demand.
  std::erase_if(traces, [&](const ProcessTraceFile& row) {
    return row.source == TraceSource::Kineto &&
           std::any_of(traces.begin(), traces.end(), [&](const ProcessTraceFile& other) {
             return other.pid == row.pid && other.source == TraceSource::Adapter && other.complete;
           });
  });
  const auto rank = [](const ProcessTraceFile& row) {
    return std::tuple(!row.complete, -static_cast<std::int64_t>(row.requests),
                      -static_cast<std::int64_t>(row.bytes), row.pid, row.file);
  };
  std::sort(
      traces.begin(), traces.end(),
      [&](const ProcessTraceFile& a, const ProcessTraceFile& b) { return rank(a) < rank(b); });
  if (!traces.empty()) traces.front().main = traces.front().complete;
  return traces;
}

Result<void> write_tables(const pipeline::StageContext& context, const run::Run& files,
                          pipeline::StageRun& run) {
  const pipeline::RunSetup& setup = context.setup;
  const fs::path folder = setup.stage_folder(run::stages::kTorchProfiler);
  ProcessTraces list = PL_TRY(named_traces(setup, folder));
  if (list.traces.empty()) {
    // A server's engine may have written its own, under the name that the stage's trace gets.
    const fs::path given = files.get(run::kTorchTrace).file;
    if (!files.has(given.string())) return {};
    list.traces.push_back({.file = given.filename().string(), .main = true});
  }
  ProcessTraceFile& main = list.traces.front();
  if (main.main) {
    const run::Artifact<Timeline>& trace = files.get(run::kTorchTrace);
    if (!trace) return Error(ErrorKind::Parse, trace.why_not);
    count(*trace, main);
    const TorchOperators operators = operators::torch_operators(
        *trace, setup.settings.pipeline.torch_profiler.group_by_input_shape);
    PL_TRY(write_node(folder / run::files::kOperators, operators_document(operators)));
    PL_TRY(write_file_atomic(folder / run::files::kOperatorsPage, operators_markdown(operators)));
    const std::vector<TorchKernel> kernels = operators::torch_kernels(*trace);
    const std::string why_none = why_no_kernels(setup);
    PL_TRY(write_node(folder / run::files::kKernels, kernels_document(kernels, why_none)));
    PL_TRY(
        write_file_atomic(folder / run::files::kKernelsPage, kernels_markdown(kernels, why_none)));
    report_lacks(setup, main, run);
  }
  read_others(folder, list.traces, run);
  if (auto others = others_finding(list.traces)) run.report(std::move(*others));
  return write_file_atomic(folder / run::files::kTraces, PL_TRY(to_document(list)));
}

}  // namespace profline::stages::internal

namespace profline::stages {

std::filesystem::path on_demand_file(const std::filesystem::path& folder) {
  return folder / "kineto.json";
}

std::map<std::int64_t, std::uint64_t> kernels_by_process(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / run::files::kTraces;
  std::map<std::int64_t, std::uint64_t> kernels;
  const auto text = read_file(file);
  if (!text) return kernels;
  const auto list = from_document<internal::ProcessTraces>(*text, file.string());
  if (!list) return kernels;
  for (const internal::ProcessTraceFile& trace : list->traces) {
    if (trace.complete && trace.pid != 0) kernels[trace.pid] += trace.kernels;
  }
  return kernels;
}

}  // namespace profline::stages
