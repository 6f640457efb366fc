#include "summary/summarise.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/energy/energy.h"
#include "analysis/requests/tokens.h"
#include "base/figures.h"
#include "summary/internal/parts.h"
#include "summary/load.h"
#include "summary/ranks.h"
#include "summary/server.h"
#include "summary/steadiness.h"
#include "summary/verdict.h"

namespace profline::summary {
namespace {

/// Slowest steps are reported from this multiple of the median on.
constexpr double kLongTail = 3;
/// Floor divided by measured time, beyond what noise explains.
constexpr double kAboveFloor = 1.05;
/// Profiled divided by unprofiled time, below what noise explains.
constexpr double kDisturbed = 0.9;

/// The stage that a file belongs to: its folder.
std::string stage_of_file(const std::string& file) {
  const std::size_t slash = file.find('/');
  return slash == std::string::npos ? "" : file.substr(0, slash);
}

class Absent {
 public:
  explicit Absent(const RunRecord& run) : run_(run) {}

  template <typename T>
  void look_at(const run::Artifact<T>& artifact) {
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

std::vector<SummaryAbsent> absent_files(const run::Run& run) {
  const auto& process = run.get(run::kProcess);
  const auto& load = run.get(run::kLoad);
  Absent absent(run.record());
  absent.look_at(run.get(run::kSettings));
  const bool has_stages = run.record().find_stage(run::stages::kBaseline) != nullptr;
  if (load.is_there && !has_stages) {  // the client alone
    absent.look_at(load);
    absent.look_at(run.requests(""));
    return absent.take();
  }
  absent.look_at(run.get(run::kEnvironment));
  if (run.get(run::kBaselineServer).is_there) {
    absent.look_at(load);
    absent.look_at(run::load_requests(run));
    absent.look_at(run.get(run::kTorchServer));
    absent.look_at(run.get(run::kNsysServer));
    absent.look_at(run.get(run::kTorchTrace));
    absent.look_at(run.get(run::kNsysKernels));
    return absent.take();
  }
  if (const auto& classes = run.get(kClassifier); classes.is_there) absent.look_at(classes);
  if (process.is_there) {
    absent.look_at(process);  // a user's program writes no requests
  } else {
    absent.look_at(run.baseline());
    absent.look_at(run.get(run::kMetrics));
    absent.look_at(run.get(run::kInputSizes));
  }
  absent.look_at(run.get(kStaticCosts));
  absent.look_at(run.get(run::kTorchOperators));
  absent.look_at(run.get(run::kTorchTrace));
  absent.look_at(run.get(run::kNsysRanges));
  absent.look_at(run.get(run::kNsysKernels));
  absent.look_at(run.get(run::kNcuKernels));
  if (process.is_there) return absent.take();
  for (const run::ProfiledRequests& profiled : run.profiled()) absent.look_at(profiled.requests);
  return absent.take();
}

/// From the environment, else from a capture.
std::string shown_device_name(const run::Run& run) {
  const auto& trace = run.get(run::kTorchTrace);
  const auto& nsys_ranges = run.get(run::kNsysRanges);
  const auto& static_costs = run.get(kStaticCosts);
  std::string name = run::device_name(run);
  if (!name.empty()) return name;
  if (run.record().device == "cpu") return "";
  if (nsys_ranges) {
    for (const NsysCapture& capture : nsys_ranges->captures) {
      if (!capture.gpus.empty()) return capture.gpus.front();
    }
  }
  if (trace && !trace->gpus.empty()) return trace->gpus.front().name;
  return static_costs ? static_costs->ceilings.device : "";
}

/// Of the measured run, where NVML was read.
std::vector<SummaryEnergy> energy_of(const run::Run& run) {
  const auto& readings = run.get(run::kGpuReadings);
  const auto& baseline = run.baseline();
  if (!readings) return {};
  if (const auto& load = run.get(run::kLoad)) {
    const auto& requests = run::load_requests(run);
    auto energy = requests ? energy::energy_of(*readings, *requests, *load) : std::nullopt;
    if (!energy) return {};
    energy->source = readings.file;
    return {std::move(*energy)};
  }
  if (!baseline) return {};
  std::vector<SummaryEnergy> found = energy::energy_of(*readings, *baseline);
  if (const auto& repeats = run.get(run::kRepeatedPhases)) {
    for (const RepeatedPhase& phase : repeats->phases) {
      const bool is_known = std::any_of(found.begin(), found.end(), [&](const auto& energy) {
        return energy.phase == phase.phase && energy.joules;
      });
      if (!is_known) found.push_back(energy::energy_of(*readings, phase));
    }
  }
  for (SummaryEnergy& energy : found) energy.source = readings.file;
  return found;
}

/// A tool's sentence, without its full stop, for use inside one of ours.
std::string without_stop(std::string text) {
  while (text.ends_with('.')) text.pop_back();
  return text;
}

/// No profiler makes a program faster, so one of the two runs was disturbed.
void note_disturbed(const std::vector<SummaryOverhead>& overhead, std::vector<std::string>& notes) {
  for (const SummaryOverhead& row : overhead) {
    if (row.slowdown >= kDisturbed) continue;
    notes.push_back(
        row.phase + " was faster under " + row.stage + " than without (" +
        duration(row.profiled_ns) + " against " + duration(row.baseline_ns) + " per " + row.unit +
        "): the machine was busy during the baseline, whose times are then " + "too long");
  }
}

/// Figures that look wrong.
void note_odd_times(const std::vector<PhaseSummary>& phases, std::vector<std::string>& notes) {
  for (const PhaseSummary& phase : phases) {
    if (phase.cost && phase.cost->of_floor.value_or(0) > kAboveFloor) {
      notes.push_back(phase.name + ": measured below its floor (" + percent(phase.cost->of_floor) +
                      "): the ceilings or shapes do not match what ran, or its data was cached");
    }
    // Steps are alike; requests need not be.
    if (!phase.repeats || !phase.time) continue;
    const SummaryTimes& time = *phase.time;
    if (time.p99_ns < kLongTail * time.median_ns) continue;
    if (phase.steady && phase.steady->units < time.n) continue;  // reported as one-time costs
    notes.push_back(phase.name + ": one " + phase.unit + " in a hundred takes " +
                    duration(time.p99_ns) + " or more, " + factor(time.p99_ns / time.median_ns) +
                    " the median: the machine was busy with something else, or something happens " +
                    "now and then");
  }
}

/// A kernel above a measured roof says that the roof is too low.
void note_above_roof(const RunSummary& summary, std::vector<std::string>& notes) {
  constexpr double kAboveRoof = 1.02;
  if (!summary.ceilings) return;
  const bool is_measured =
      std::any_of(summary.ceilings->roofs.begin(), summary.ceilings->roofs.end(),
                  [](const Roof& roof) { return roof.is_used && roof.kind == "measured"; });
  if (!is_measured) return;
  double highest = kAboveRoof;
  const SummaryKernel* found = nullptr;
  for (const SummaryKernel& kernel : summary.kernels) {
    if (!kernel.counters) continue;
    const NcuRoofline& at = kernel.counters->roofline;
    const auto& duration_ns = kernel.counters->duration_ns;
    if (!at.floor_ns || !duration_ns || *duration_ns <= 0) continue;
    if (*at.floor_ns / *duration_ns <= highest) continue;
    highest = *at.floor_ns / *duration_ns;
    found = &kernel;
  }
  if (found == nullptr) return;
  notes.push_back(found->short_name + " reached " + percent(highest) +
                  " of the measured roof: it was measured too low, or at other clocks; measure "
                  "again with `profline ceilings`");
}

void note_nsys(const run::Run& run, std::vector<std::string>& notes) {
  const auto& nsys_ranges = run.get(run::kNsysRanges);
  const auto& nsys_kernels = run.get(run::kNsysKernels);
  if (nsys_ranges) {
    for (const NsysCapture& capture : nsys_ranges->captures) {
      for (const std::string& loss : capture.losses) {
        notes.push_back("nsys capture " + capture.name + ": " + without_stop(loss));
      }
    }
  }
  if (nsys_kernels && nsys_kernels->why_none) {
    notes.push_back("nsys: no kernels: " + *nsys_kernels->why_none);
  }
}

/// At which clock of the memory sampled traffic became bytes.
void note_memory_clock(const run::Run& run, const std::vector<PhaseSummary>& phases,
                       std::vector<std::string>& notes) {
  constexpr double kHighest = 0.999;
  const bool has_bytes = std::any_of(phases.begin(), phases.end(), [](const PhaseSummary& phase) {
    return phase.live && phase.live->dram_bytes;
  });
  if (!has_bytes) return;
  const auto clock = memory_clock(run);
  if (!clock) {
    notes.emplace_back(
        "sampled DRAM bytes are those at the memory's highest clock, because its clock was not "
        "recorded: at a lower one they are too high");
  } else if (clock->share() < kHighest) {
    notes.push_back(fmt::format(
        "sampled DRAM bytes are those at a memory clock of {:.0f} MHz, the median of the baseline "
        "(highest: {:.0f} MHz)",
        clock->mhz, clock->highest_mhz));
  }
}

void note_ncu(const NcuKernels& ncu, std::vector<std::string>& notes) {
  if (ncu.why_none) notes.push_back("ncu: no kernels: " + *ncu.why_none);
  if (ncu.gate_dropped) {
    notes.emplace_back("ncu: the rows are from the second attempt, which ran without the gate");
  }
  for (const std::string& note : ncu.notes) notes.push_back("ncu: " + note);
}

void note_generation(const run::Requests& requests, std::vector<std::string>& notes) {
  for (std::string& note : requests::generation_notes(requests)) notes.push_back(std::move(note));
}

/// What the tools say about their captures, and what is inconsistent.
std::vector<std::string> notes_of(const run::Run& run, const MeasuredCosts& costs,
                                  const std::vector<PhaseSummary>& phases) {
  const auto& baseline = run.baseline();
  const auto& trace = run.get(run::kTorchTrace);
  const auto& ncu_kernels = run.get(run::kNcuKernels);
  const auto& static_costs = run.get(kStaticCosts);
  std::vector<std::string> notes = costs.notes;
  note_odd_times(phases, notes);
  note_nsys(run, notes);
  note_memory_clock(run, phases, notes);
  if (ncu_kernels) note_ncu(*ncu_kernels, notes);
  if (trace) {
    for (const std::string& loss : trace->reading.losses) {
      notes.push_back(trace.file + ": " + without_stop(loss));
    }
  }
  if (!baseline || baseline->empty() || !static_costs) return notes;
  const std::string ran = baseline->front().text("dtype");
  const std::string& format = static_costs->format.name;
  const bool is_tf32 = format == "tf32" && ran == "fp32";  // how its products are computed
  if (!ran.empty() && ran != format && !is_tf32) {
    notes.push_back("static analysis assumed " + format + ", but the requests ran in " + ran);
  }
  return notes;
}

}  // namespace

RunSummary summarise(const run::Run& run) {
  const auto& baseline = run.baseline();
  RunSummary summary;
  summary.run = run.record().id;
  summary.experiment = run.record().experiment;
  summary.device = run.record().device;
  summary.device_name = shown_device_name(run);
  if (baseline && !baseline->empty()) {
    summary.dtype = baseline->front().text("dtype");
    summary.engine = baseline->front().text("engine");
  }
  const requests::PhaseTree tree = phase_tree(run);
  const requests::SteadyPart steady = steady_part(run, tree);
  const MeasuredCosts costs = measured_costs(run, tree, steady);
  const DeviceActivities devices(run, tree, steady);
  KernelRows kernels = kernel_rows(run, tree);
  summary.request = request_of(run, tree, steady, costs);
  summary.program = program_of(run);
  summary.load = load_of(run);
  summary.server = servers_of(run);
  summary.ranks = ranks_of(run);
  summary.phases = phase_summaries(run, tree, summary.request, costs, devices, kernels);
  summary.one_time = one_time_costs(tree, steady, baseline.file);
  summary.overhead = overheads(run, tree, steady);
  summary.memory_roof = memory_roof(run, summary.phases);
  if (const auto& ceilings = run.get(run::kRunCeilings)) summary.ceilings = *ceilings;
  summary.energy = energy_of(run);
  summary.join = std::move(kernels.join);
  summary.kernels = std::move(kernels.kernels);
  summary.notes = notes_of(run, costs, summary.phases);
  if (baseline) note_generation(*baseline, summary.notes);
  note_above_roof(summary, summary.notes);
  note_patterns(tree, steady, summary.notes);
  note_disturbed(summary.overhead, summary.notes);
  summary.absent = absent_files(run);
  summary.verdict = verdict_of(summary);
  if (summary.ranks && summary.ranks->straggler()) {
    const std::string late = without_stop(summary.ranks->findings.front());
    summary.verdict = summary.phases.empty() ? late : summary.verdict + ". " + late;
  }
  return summary;
}

}  // namespace profline::summary
