#include "summary/summarise.h"

#include <algorithm>

#include "base/figures.h"
#include "summary/device_activity.h"
#include "summary/kernel_rows.h"
#include "summary/measured_costs.h"
#include "summary/model_stages.h"
#include "summary/overhead.h"
#include "summary/verdict.h"

namespace profline::summary {
namespace {

/// Times by which the slowest tokens exceed the usual one, from which on it is told.
constexpr double kLongTail = 3;
/// Floor by measured time, beyond what noise explains.
constexpr double kAboveFloor = 1.05;
/// Profiled by unprofiled time, below what noise explains.
constexpr double kDisturbed = 0.9;

/// The stage of the pipeline that a file is of: its folder.
std::string stage_of_file(const std::string& file) {
  const std::size_t slash = file.find('/');
  return slash == std::string::npos ? "" : file.substr(0, slash);
}

class Absent {
 public:
  explicit Absent(const RunRecord& run) : run_(run) {}

  template <typename T>
  void look_at(const Artifact<T>& artifact) {
    if (artifact) return;
    const StageRecord* const stage = run_.find_stage(stage_of_file(artifact.file));
    std::string why = artifact.why_not;
    if (!artifact.is_there && stage != nullptr && stage->state != StageState::Ok) {
      why = "stage " + stage->name + " is " + std::string(to_text(stage->state));
    }
    rows_.push_back({artifact.file, std::move(why)});
  }
  std::vector<SummaryAbsent> take() { return std::move(rows_); }

 private:
  const RunRecord& run_;
  std::vector<SummaryAbsent> rows_;
};

std::vector<SummaryAbsent> absent_files(const RunArtifacts& run) {
  Absent absent(run.run);
  absent.look_at(run.settings);
  absent.look_at(run.environment);
  if (run.process.is_there) {
    absent.look_at(run.process);  // a program that is not ours leaves no samples
  } else {
    absent.look_at(run.baseline);
    absent.look_at(run.metrics);
    absent.look_at(run.inputs);
  }
  absent.look_at(run.static_costs);
  absent.look_at(run.operators);
  absent.look_at(run.trace);
  absent.look_at(run.nsys_ranges);
  absent.look_at(run.nsys_kernels);
  absent.look_at(run.ncu_kernels);
  if (run.process.is_there) return absent.take();
  for (const ProfiledSamples& profiled : run.profiled) absent.look_at(profiled.samples);
  return absent.take();
}

/// What env.json calls the device `cpu` or `cuda:N`.
std::string name_in_environment(const Environment& environment, const std::string& device) {
  if (device == "cpu") return environment.cpu.model;
  for (const GpuFacts& gpu : environment.gpus) {
    if (device == "cuda:" + std::to_string(gpu.index)) return gpu.name;
  }
  return "";
}

std::string device_name(const RunArtifacts& run) {
  if (run.environment) {
    std::string name = name_in_environment(*run.environment, run.run.device);
    if (!name.empty()) return name;
  }
  if (run.run.device == "cpu") return "";
  if (run.nsys_ranges) {
    for (const NsysCapture& capture : run.nsys_ranges->captures) {
      if (!capture.gpus.empty()) return capture.gpus.front();
    }
  }
  if (run.trace && !run.trace->gpus.empty()) return run.trace->gpus.front().name;
  return run.static_costs ? run.static_costs->ceilings.device : "";
}

/// A tool's sentence as a part of ours.
std::string without_stop(std::string text) {
  while (text.ends_with('.')) text.pop_back();
  return text;
}

/// No profiler makes a program faster: one of the two runs was disturbed.
void tell_disturbed(const std::vector<SummaryOverhead>& overhead, std::vector<std::string>& notes) {
  for (const SummaryOverhead& row : overhead) {
    if (row.slowdown >= kDisturbed) continue;
    notes.push_back(
        row.phase + " was faster under " + row.stage + " than without (" +
        duration(row.profiled_ns) + " against " + duration(row.baseline_ns) + " per " + row.unit +
        "): the machine was busy during the baseline, whose times are then " + "too long");
  }
}

/// Figures that should not be as they are.
void tell_odd_times(const std::vector<SummaryStage>& stages, std::vector<std::string>& notes) {
  for (const SummaryStage& stage : stages) {
    if (stage.cost && stage.cost->of_floor.value_or(0) > kAboveFloor) {
      notes.push_back(stage.name + ": measured below its floor (" + percent(stage.cost->of_floor) +
                      "): the ceilings or the shapes do not fit what ran, or it runs from caches");
    }
    // Tokens are alike; images need not be.
    if (stage.unit != "token" || !stage.time) continue;
    const SummaryTimes& time = *stage.time;
    if (time.p99_ns < kLongTail * time.median_ns) continue;
    notes.push_back(stage.name + ": one token in a hundred takes " + duration(time.p99_ns) +
                    " or more, " + factor(time.p99_ns / time.median_ns) +
                    " the median: the machine was busy with something else, or something happens " +
                    "now and then");
  }
}

void tell_nsys(const RunArtifacts& run, std::vector<std::string>& notes) {
  if (run.nsys_ranges) {
    for (const NsysCapture& capture : run.nsys_ranges->captures) {
      for (const std::string& loss : capture.losses) {
        notes.push_back("nsys capture " + capture.name + ": " + without_stop(loss));
      }
    }
  }
  if (run.nsys_kernels && run.nsys_kernels->why_none) {
    notes.push_back("nsys: no kernels: " + *run.nsys_kernels->why_none);
  }
}

void tell_ncu(const NcuKernels& ncu, std::vector<std::string>& notes) {
  if (ncu.why_none) notes.push_back("ncu: no kernels: " + *ncu.why_none);
  if (ncu.gate_dropped) {
    notes.emplace_back("ncu: the rows are of the second try, which was made without the gate");
  }
  for (const std::string& note : ncu.notes) notes.push_back("ncu: " + note);
}

/// What the tools themselves say about their captures, and what does not fit together.
std::vector<std::string> notes_of(const RunArtifacts& run, const MeasuredCosts& costs,
                                  const std::vector<SummaryStage>& stages) {
  std::vector<std::string> notes = costs.notes;
  tell_odd_times(stages, notes);
  tell_nsys(run, notes);
  if (run.ncu_kernels) tell_ncu(*run.ncu_kernels, notes);
  if (run.trace) {
    for (const std::string& loss : run.trace->reading.losses) {
      notes.push_back(run.trace.file + ": " + without_stop(loss));
    }
  }
  if (!run.baseline || run.baseline->empty() || !run.static_costs) return notes;
  const std::string& ran = run.baseline->front().dtype;
  const std::string& format = run.static_costs->format.name;
  const bool is_tf32 = format == "tf32" && ran == "fp32";  // how its products are computed
  if (ran != format && !is_tf32) {
    notes.push_back("static analysis is of " + format + ", the samples ran in " + ran);
  }
  return notes;
}

}  // namespace

RunSummary summarise(const RunArtifacts& run) {
  RunSummary summary;
  summary.run = run.run.id;
  summary.experiment = run.run.experiment;
  summary.device = run.run.device;
  summary.device_name = device_name(run);
  if (run.baseline && !run.baseline->empty()) {
    summary.dtype = run.baseline->front().dtype;
    summary.engine = run.baseline->front().engine;
  }
  const MeasuredCosts costs = measured_costs(run);
  const DeviceActivities devices(run);
  KernelRows kernels = kernel_rows(run);
  summary.request = request_of(run, costs);
  summary.program = program_of(run);
  summary.stages = model_stages(run, costs, devices, kernels);
  summary.overhead = overheads(run);
  summary.join = std::move(kernels.join);
  summary.kernels = std::move(kernels.kernels);
  summary.notes = notes_of(run, costs, summary.stages);
  tell_disturbed(summary.overhead, summary.notes);
  summary.absent = absent_files(run);
  summary.verdict = verdict_of(summary);
  return summary;
}

}  // namespace profline::summary
