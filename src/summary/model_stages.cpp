#include "summary/model_stages.h"

#include <algorithm>

#include "analysis/judgement/judge.h"
#include "summary/stage_times.h"
#include "summary/torch_trace.h"

namespace profline::summary {
namespace {

constexpr std::size_t kMostRanges = 20;

double request_ns(const Samples& samples) {
  return stage_time(samples, "preprocess").ns + stage_time(samples, "prefill").ns +
         stage_time(samples, "decode").ns;
}

SummaryDevice device_row(const judgement::DeviceActivity& activity,
                         const std::optional<double>& busy_share) {
  SummaryDevice device;
  device.units = activity.units;
  device.captured_ns = activity.captured_ns;
  device.unprofiled_ns = activity.unprofiled_ns;
  device.busy_ns = activity.busy_ns;
  device.busy_share = busy_share;
  device.concurrency = activity.concurrency;
  device.launches = static_cast<std::uint64_t>(activity.launches);
  if (activity.units > 0) device.launches_per_unit = activity.launches / activity.units;
  device.gap_mean_ns = activity.gap_mean_ns;
  device.idle = activity.idle;
  device.source = activity.source;
  return device;
}

class Stages {
 public:
  Stages(const RunArtifacts& run, const MeasuredCosts& costs, const DeviceActivities& devices,
         const KernelRows& kernels)
      : run_(run), costs_(costs), devices_(devices), kernels_(kernels) {}

  std::vector<SummaryStage> make() {
    if (run_.baseline && !run_.baseline->empty()) {
      measured();
    } else {
      captured();
    }
    return std::move(stages_);
  }

 private:
  void measured();
  void captured();
  void add_measured(std::string_view name);
  void add_cost(SummaryStage& stage, judgement::StageEvidence& evidence) const;
  void add_operators(SummaryStage& stage, judgement::StageEvidence& evidence) const;
  void judge(SummaryStage stage, judgement::StageEvidence evidence);
  struct Captured {
    std::string name;
    const char* unit = "range";
    double wall_ns = 0;  ///< of all instances
    std::uint64_t instances = 0;
    std::optional<judgement::DeviceActivity> device = {};
  };
  std::vector<Captured> captured_ranges() const;
  void add_captured(const Captured& captured, double all_ns);
  bool on_gpu() const { return run_.run.device.starts_with("cuda"); }
  bool is_program() const {
    return run_.process.is_there ||
           (run_.settings && run_.settings->pipeline.workload.user_command());
  }

  const RunArtifacts& run_;
  const MeasuredCosts& costs_;
  const DeviceActivities& devices_;
  const KernelRows& kernels_;
  std::vector<SummaryStage> stages_;
};

void Stages::measured() {
  for (const std::string_view name : kModelStages) {
    if (name == "decode" && stages_.empty()) add_measured("prefill");  // a model without such parts
    add_measured(name);
  }
}

void Stages::add_measured(std::string_view name) {
  const StageTime time = stage_time(*run_.baseline, name);
  if (time.units == 0 || time.ns <= 0) return;
  SummaryStage stage;
  stage.name = name;
  if (name != "decode" && name != "prefill") stage.part_of = "prefill";
  stage.unit = name == "decode" ? "token" : "image";
  stage.time = stage_spread(*run_.baseline, run_.metrics ? &*run_.metrics : nullptr, name);
  stage.mean_ns = time.ns / time.units;
  stage.share = time.ns / request_ns(*run_.baseline);
  stage.source = run_.baseline.file;
  judgement::StageEvidence evidence;
  evidence.measured_ns = *stage.mean_ns;
  evidence.measured_in = stage.source;
  evidence.has_device = on_gpu();
  add_cost(stage, evidence);
  add_operators(stage, evidence);
  judge(std::move(stage), std::move(evidence));
}

void Stages::add_cost(SummaryStage& stage, judgement::StageEvidence& evidence) const {
  const WorkCost* const work = costs_.find(stage.name);
  if (work == nullptr) {
    stage.lacks.push_back("floor and utilisation: " + (costs_.why_not.empty()
                                                           ? "static analysis has no such stage"
                                                           : costs_.why_not));
    return;
  }
  const auto a_unit = [&](const std::optional<double>& ns) {
    return ns ? std::optional(*ns / work->units) : std::nullopt;
  };
  const auto share = [&](const std::optional<double>& ns) {
    return ns && work->measured_ns > 0 ? std::optional(*ns / work->measured_ns) : std::nullopt;
  };
  SummaryCost cost;
  cost.flops = work->flops / work->units;
  cost.bytes = work->bytes / work->units;
  cost.compute_ns = a_unit(work->compute_ns);
  cost.memory_ns = a_unit(work->memory_ns);
  cost.floor_ns = a_unit(work->floor_ns);
  cost.mfu = share(work->compute_ns);
  cost.bandwidth = share(work->memory_ns);
  cost.of_floor = share(work->floor_ns);
  cost.ceilings = costs_.ceilings;
  cost.shapes = costs_.shapes;
  cost.source = costs_.source;
  if (!cost.floor_ns) stage.lacks.emplace_back("floor: a ceiling of this device is not known");
  // Times and costs of the same samples.
  evidence.measured_ns = work->measured_ns / work->units;
  evidence.cost = judgement::Cost{cost.flops,
                                  cost.bytes,
                                  cost.compute_ns,
                                  cost.memory_ns,
                                  cost.floor_ns,
                                  cost.source,
                                  "ceilings of " + costs_.device};
  stage.cost = std::move(cost);
}

void Stages::add_operators(SummaryStage& stage, judgement::StageEvidence& evidence) const {
  if (!run_.trace) return;
  const auto profiled = std::find_if(
      run_.profiled.begin(), run_.profiled.end(),
      [](const ProfiledSamples& one) { return one.stage == "torch_profiler" && one.samples; });
  if (profiled == run_.profiled.end()) return;
  const double units = stage_time(*profiled->samples, stage.name).units;
  const StageOperators found =
      stage_operators(*run_.trace, stage.name, judgement::Limits{}.operator_ns);
  if (units == 0 || found.calls == 0) return;
  stage.operator_calls = static_cast<double>(found.calls) / units;
  evidence.operators =
      judgement::HostOperators{*stage.operator_calls, found.short_share, found.largest,
                               found.largest_share, run_.trace.file};
}

void Stages::judge(SummaryStage stage, judgement::StageEvidence evidence) {
  evidence.stage = stage.name;
  evidence.unit = stage.unit;
  evidence.is_program = is_program();
  if (run_.operators && !run_.operators->operators.empty()) evidence.host_page = "operators.md";
  if (run_.nsys_ranges) {
    evidence.to_see_device =
        "let nsys capture it as well (pipeline.nsys.capture_range=none records every range)";
  }
  if (!evidence.device) evidence.device = devices_.find(stage.name);
  evidence.kernels = bounds_of(kernels_, stage.name);
  const judgement::Judgement judgement = judgement::judge(evidence);
  if (evidence.device) {
    stage.device = device_row(*evidence.device, judgement.busy_share);
  } else if (evidence.has_device) {
    stage.lacks.push_back("GPU activity: no capture of nsys or the torch profiler has range " +
                          stage.name);
  }
  stage.kind = to_text(judgement.kind);
  for (const judgement::Reason& reason : judgement.reasons) {
    stage.reasons.push_back({reason.text, reason.source});
  }
  for (const judgement::Gain& gain : judgement.gains) {
    stage.gains.push_back({gain.when, gain.saved_ns, gain.time_ns, gain.speedup});
  }
  stage.next_step = judgement.next_step;
  stages_.push_back(std::move(stage));
}

void Stages::add_captured(const Captured& captured, double all_ns) {
  SummaryStage stage;
  stage.name = captured.name;
  stage.unit = captured.unit;
  stage.mean_ns = captured.wall_ns / static_cast<double>(captured.instances);
  if (all_ns > 0) stage.share = std::min(captured.wall_ns / all_ns, 1.0);
  stage.source = run_.nsys_ranges.file;
  stage.lacks.emplace_back("time without a profiler: the baseline does not measure it");
  judgement::StageEvidence evidence;
  evidence.measured_ns = *stage.mean_ns;
  evidence.measured_in = stage.source;
  evidence.has_device = on_gpu() || captured.device.has_value();
  evidence.device = captured.device;
  judge(std::move(stage), std::move(evidence));
}

/// Those with the most time first.
std::vector<Stages::Captured> Stages::captured_ranges() const {
  std::vector<Captured> all;
  for (const std::string& name : devices_.range_names()) {
    Captured range;
    range.name = name;
    for (const NsysRange& row : run_.nsys_ranges->ranges) {
      if (row.name != name) continue;
      range.wall_ns += static_cast<double>(row.wall_ns);
      range.instances += row.instances;
    }
    if (range.instances > 0 && range.wall_ns > 0) all.push_back(std::move(range));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Captured& a, const Captured& b) { return a.wall_ns > b.wall_ns; });
  if (all.size() > kMostRanges) all.resize(kMostRanges);
  return all;
}

/// Of what the baseline did not time: each capture as a whole, then its ranges. Shares are of the
/// captured time.
void Stages::captured() {
  if (!run_.nsys_ranges) return;
  double all_ns = 0;
  for (const NsysCapture& capture : run_.nsys_ranges->captures) {
    all_ns += static_cast<double>(capture.wall_ns);
  }
  const std::vector<Captured> ranges = captured_ranges();
  if (!ranges.empty()) all_ns = std::max(all_ns, ranges.front().wall_ns);
  for (const NsysCapture& capture : run_.nsys_ranges->captures) {
    auto device = DeviceActivities::of_capture(capture, run_.nsys_ranges.file);
    if (!device || !capture.range.empty()) continue;
    add_captured({"capture " + capture.name, "capture", static_cast<double>(capture.wall_ns), 1,
                  std::move(device)},
                 all_ns);
  }
  for (const Captured& range : ranges) add_captured(range, all_ns);
}

}  // namespace

std::vector<SummaryStage> model_stages(const RunArtifacts& run, const MeasuredCosts& costs,
                                       const DeviceActivities& devices, const KernelRows& kernels) {
  return Stages(run, costs, devices, kernels).make();
}

std::optional<SummaryRequest> request_of(const RunArtifacts& run, const MeasuredCosts& costs) {
  if (!run.baseline || run.baseline->empty()) return std::nullopt;
  const Samples& samples = *run.baseline;
  const auto images = static_cast<double>(samples.size());
  SummaryRequest request;
  request.images = samples.size();
  for (const Sample& sample : samples) {
    request.prompt_tokens += sample.prompt_tokens / images;
    request.new_tokens += sample.new_tokens / images;
  }
  const double total = request_ns(samples);
  if (total <= 0) return std::nullopt;
  const StageTime prefill = stage_time(samples, "prefill");
  const StageTime decode = stage_time(samples, "decode");
  request.mean_ns = total / images;
  request.preprocess_share = stage_time(samples, "preprocess").ns / total;
  request.prefill_share = prefill.ns / total;
  request.decode_share = decode.ns / total;
  double parts = 0;
  for (const std::string_view part : {"sam", "clip", "projector", "lm"}) {
    parts += stage_time(samples, part).ns;
  }
  if (parts > 0) request.unaccounted_share = (prefill.ns - parts) / total;
  if (decode.ns > 0) request.tokens_per_second = decode.units * 1e9 / decode.ns;
  double compute = 0;
  double measured = 0;
  bool is_known = !costs.entries.empty();
  for (const MeasuredCosts::Entry& entry : costs.entries) {
    is_known = is_known && entry.cost.compute_ns.has_value();
    compute += entry.cost.compute_ns.value_or(0);
    measured += entry.cost.measured_ns;
  }
  if (is_known && measured > 0) request.mfu = compute / measured;
  request.source = run.baseline.file;
  return request;
}

}  // namespace profline::summary
