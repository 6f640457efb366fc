#include <algorithm>
#include <tuple>

#include "analysis/judgement/judge.h"
#include "analysis/requests/tokens.h"
#include "run/names/artifact_names.h"
#include "summary/internal/parts.h"
#include "summary/steadiness.h"
#include "summary/torch_trace.h"

namespace profline::summary {
namespace {

using requests::PhaseInfo;
using requests::PhaseTime;
using requests::PhaseTree;
using requests::SteadyPart;

constexpr std::size_t kMostRanges = 20;
/// A phase dominates if it takes at least this many times as long as the next longest.
constexpr double kDominates = 1.2;

SummaryTimes times_of(const statistics::Summary& spread) {
  return {spread.n,
          spread.median,
          spread.mean,
          spread.std,
          spread.p90,
          spread.p99,
          spread.min,
          spread.max,
          spread.median_ci95.low,
          spread.median_ci95.high};
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

class Phases {
 public:
  Phases(const run::Run& run, const PhaseTree& tree, const MeasuredCosts& costs,
         const DeviceActivities& devices, const KernelRows& kernels)
      : run_(run), tree_(tree), costs_(costs), devices_(devices), kernels_(kernels) {}

  std::vector<PhaseSummary> make(const std::optional<SummaryRequest>& request) {
    if (request) {
      for (const SummaryPart& part : request->parts) add_measured(part);
    } else if (!baseline_ || baseline_->empty()) {
      captured();
    }
    return std::move(phases_);
  }

 private:
  void captured();
  void add_measured(const SummaryPart& part);
  void add_cost(PhaseSummary& phase, judgement::PhaseEvidence& evidence) const;
  void add_operators(PhaseSummary& phase, judgement::PhaseEvidence& evidence) const;
  void add_live(PhaseSummary& phase, judgement::PhaseEvidence& evidence) const;
  void judge(PhaseSummary phase, judgement::PhaseEvidence evidence);
  struct Captured {
    std::string name;
    const char* unit = "range";
    double wall_ns = 0;  ///< of all instances
    std::uint64_t instances = 0;
    std::optional<judgement::DeviceActivity> device = {};
  };
  std::vector<Captured> captured_ranges() const;
  void add_captured(const Captured& captured, double all_ns);
  bool on_gpu() const { return run_.record().device.starts_with("cuda"); }
  bool is_program() const {
    return process_.is_there || (settings_ && settings_->pipeline.workload.user_command());
  }

  const run::Run& run_;
  const run::Artifact<run::Requests>& baseline_ = run_.baseline();
  const run::Artifact<settings::Root>& settings_ = run_.get(run::kSettings);
  const run::Artifact<Node>& process_ = run_.get(run::kProcess);
  const run::Artifact<TorchOperators>& operators_ = run_.get(run::kTorchOperators);
  const run::Artifact<Timeline>& trace_ = run_.get(run::kTorchTrace);
  const run::Artifact<NsysRanges>& nsys_ranges_ = run_.get(run::kNsysRanges);
  const PhaseTree& tree_;
  const MeasuredCosts& costs_;
  const DeviceActivities& devices_;
  const KernelRows& kernels_;
  const std::optional<MemoryClock> clock_ = memory_clock(run_);
  std::vector<PhaseSummary> phases_;
};

void Phases::add_measured(const SummaryPart& part) {
  if (part.rest_share || part.host) return;
  if (!part.steady || part.steady->mean_ns.value_or(0) <= 0) return;
  PhaseSummary phase;
  phase.path = part.path;
  phase.name = part.name;
  phase.part_of = last_name(tree_.find(part.path)->parent);
  phase.unit = part.unit;
  phase.repeats = part.repeats;
  phase.time = part.time;
  phase.mean_ns = part.steady->mean_ns;
  phase.share = part.share;
  phase.steady = part.steady;
  phase.source = baseline_.file;
  judgement::PhaseEvidence evidence;
  evidence.measured_ns = *phase.mean_ns;
  evidence.measured_in = phase.source;
  evidence.has_device = on_gpu();
  add_cost(phase, evidence);
  add_operators(phase, evidence);
  judge(std::move(phase), std::move(evidence));
}

void Phases::add_cost(PhaseSummary& phase, judgement::PhaseEvidence& evidence) const {
  const WorkCost* const work = costs_.find(phase.name);
  if (work == nullptr) {
    phase.lacks.push_back("floor and utilisation: " + (costs_.why_not.empty()
                                                           ? "static analysis has no such phase"
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
  cost.peak = costs_.peak;
  cost.ceilings = costs_.ceilings;
  cost.shapes = costs_.shapes;
  cost.source = costs_.source;
  if (!cost.floor_ns) phase.lacks.emplace_back("floor: a ceiling of this device is not known");
  // Times and costs must cover the same requests.
  evidence.measured_ns = work->measured_ns / work->units;
  evidence.cost = judgement::Cost{.flops = cost.flops,
                                  .bytes = cost.bytes,
                                  .cache_bytes = work->cache_bytes / work->units,
                                  .compute_ns = cost.compute_ns,
                                  .memory_ns = cost.memory_ns,
                                  .floor_ns = cost.floor_ns,
                                  .source = cost.source,
                                  .ceilings = costs_.words};
  phase.cost = std::move(cost);
}

void Phases::add_operators(PhaseSummary& phase, judgement::PhaseEvidence& evidence) const {
  if (!trace_) return;
  const std::vector<run::ProfiledRequests> all = run_.profiled();
  const auto profiled = std::find_if(all.begin(), all.end(), [](const run::ProfiledRequests& one) {
    return one.stage == run::stages::kTorchProfiler && one.requests;
  });
  if (profiled == all.end()) return;
  const double units = requests::phase_time(*profiled->requests, phase.path).units;
  const RangeOperators found =
      range_operators(*trace_, phase.name, judgement::Limits{}.operator_ns);
  if (units == 0 || found.calls == 0) return;
  phase.operator_calls = static_cast<double>(found.calls) / units;
  evidence.operators = judgement::HostOperators{*phase.operator_calls, found.short_share,
                                                found.largest, found.largest_share, trace_.file};
}

void Phases::add_live(PhaseSummary& phase, judgement::PhaseEvidence& evidence) const {
  if (!evidence.device || !evidence.device->metrics || evidence.device->units <= 0) return;
  const DeviceMetrics& metrics = *evidence.device->metrics;
  SummaryLive live;
  live.sm_active = metrics.sm_active;
  live.sm_issue = metrics.sm_issue;
  live.tensor_active = metrics.tensor_active;
  live.dram_read = metrics.dram_read;
  live.dram_write = metrics.dram_write;
  live.samples = metrics.samples;
  live.source = evidence.device->source;
  judgement::LiveCounters counters;
  counters.source = live.source;
  // Samples that are missing were like the others.
  const auto covered_ns = static_cast<double>(metrics.covered_ns);
  const double whole = (covered_ns + static_cast<double>(metrics.gap_ns)) / covered_ns;
  const double per_unit = whole / (evidence.device->units * evidence.device->sampled_share);
  if (metrics.tensor_active) counters.compute_ns = *metrics.tensor_active * covered_ns * per_unit;
  if (metrics.dram_read && metrics.dram_write) {
    counters.memory_ns = (*metrics.dram_read + *metrics.dram_write) * covered_ns * per_unit;
  }
  if (metrics.dram_bytes) {
    // The samples are shares of what the memory reaches at its clock, and nsys recorded what it
    // reaches at its highest one.
    live.dram_bytes = *metrics.dram_bytes * per_unit * (clock_ ? clock_->share() : 1);
    counters.bytes = *live.dram_bytes;
    const auto& cost = evidence.cost;
    if (cost && cost->bytes > 0) {
      live.of_model = *live.dram_bytes / cost->bytes;
      // At the same roof as the model's bytes.
      if (cost->memory_ns) counters.memory_ns = *cost->memory_ns * *live.of_model;
    }
  }
  live.memory_ns = counters.memory_ns;
  evidence.live = std::move(counters);
  phase.live = std::move(live);
}

void Phases::judge(PhaseSummary phase, judgement::PhaseEvidence evidence) {
  evidence.phase = phase.name;
  evidence.unit = phase.unit;
  evidence.is_program = is_program();
  const StageRecord* const nsys = run_.record().find_stage(run::stages::kNsys);
  evidence.has_nsys = nsys != nullptr && nsys->state != StageState::Skipped;
  if (operators_ && !operators_->operators.empty()) evidence.host_page = run::files::kOperatorsPage;
  if (nsys_ranges_) {
    evidence.to_see_device =
        "let nsys capture it as well (pipeline.nsys.capture_range=none records every range)";
  }
  if (!evidence.device) evidence.device = devices_.find(phase.name);
  add_live(phase, evidence);
  evidence.kernels = bounds_of(kernels_, phase.name);
  const judgement::Judgement judgement = judgement::judge(evidence);
  if (evidence.device) {
    phase.device = device_row(*evidence.device, judgement.busy_share);
  } else if (evidence.has_device) {
    phase.lacks.push_back("GPU activity: no capture of nsys or the torch profiler has range " +
                          phase.name);
  }
  phase.kind = to_text(judgement.kind);
  for (const judgement::Reason& reason : judgement.reasons) {
    phase.reasons.push_back({reason.text, reason.source});
  }
  for (const judgement::Step& step : judgement.steps) {
    phase.steps.push_back({std::string(to_text(step.evidence)), std::string(to_text(step.kind)),
                           step.finding, step.source});
  }
  // A time under a profiler says nothing about how much faster the program could be.
  const bool is_unprofiled = phase.source == baseline_.file;
  for (const judgement::Gain& gain : judgement.gains) {
    if (!is_unprofiled) break;
    std::optional<double> saved;
    if (phase.share) saved = *phase.share * (1 - 1 / gain.speedup);
    phase.gains.push_back({gain.when, gain.saved_ns, gain.time_ns, gain.speedup, saved});
  }
  phase.next_step = judgement.next_step;
  phases_.push_back(std::move(phase));
}

void Phases::add_captured(const Captured& captured, double all_ns) {
  PhaseSummary phase;
  phase.name = captured.name;
  phase.unit = captured.unit;
  phase.mean_ns = captured.wall_ns / static_cast<double>(captured.instances);
  if (all_ns > 0) phase.share = std::min(captured.wall_ns / all_ns, 1.0);
  phase.source = nsys_ranges_.file;
  phase.lacks.emplace_back("time without a profiler: the baseline does not measure it");
  judgement::PhaseEvidence evidence;
  evidence.measured_ns = *phase.mean_ns;
  evidence.measured_in = phase.source;
  evidence.has_device = on_gpu() || captured.device.has_value();
  evidence.device = captured.device;
  judge(std::move(phase), std::move(evidence));
}

/// Most time first.
std::vector<Phases::Captured> Phases::captured_ranges() const {
  std::vector<Captured> all;
  for (const std::string& name : devices_.range_names()) {
    Captured range;
    range.name = name;
    for (const RangeUse& row : nsys_ranges_->ranges) {
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

/// For what the baseline did not time: each capture as a whole, then its ranges. Shares refer to
/// the captured time.
void Phases::captured() {
  if (!nsys_ranges_) return;
  double all_ns = 0;
  for (const NsysCapture& capture : nsys_ranges_->captures) {
    all_ns += static_cast<double>(capture.wall_ns);
  }
  const std::vector<Captured> ranges = captured_ranges();
  if (!ranges.empty()) all_ns = std::max(all_ns, ranges.front().wall_ns);
  for (const NsysCapture& capture : nsys_ranges_->captures) {
    auto device = DeviceActivities::of_capture(capture, nsys_ranges_.file);
    if (!device || !capture.range.empty()) continue;
    add_captured({"capture " + capture.name, "capture", static_cast<double>(capture.wall_ns), 1,
                  std::move(device)},
                 all_ns);
  }
  for (const Captured& range : ranges) add_captured(range, all_ns);
}

/// Nothing unless every request has this number.
std::optional<double> mean_tokens(const run::Requests& requests,
                                  std::optional<std::uint64_t> Request::*tokens) {
  double sum = 0;
  for (const Request& request : requests) {
    if (!(request.*tokens)) return std::nullopt;
    sum += static_cast<double>(*(request.*tokens));
  }
  return sum / static_cast<double>(requests.size());
}

/// Time to first token of the steady requests, or of all if none is; nothing unless every request
/// has it.
std::optional<SummaryTimes> first_token_times(const run::Requests& requests,
                                              const SteadyPart& steady) {
  std::vector<double> times;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].ttft_ns) return std::nullopt;
    if (steady.steady_requests() > 0 && !steady.is_steady(i)) continue;
    times.push_back(static_cast<double>(*requests[i].ttft_ns));
  }
  const auto spread = statistics::summarise(times);
  return spread ? std::optional(times_of(*spread)) : std::nullopt;
}

SummaryPart part_of_request(const run::Requests& requests, const PhaseTree& tree,
                            const SteadyPart& steady, const PhaseInfo& info, double total_ns) {
  const double ns = steady.whole_ns(info.path);
  SummaryPart part{info.path,    info.name, ns / total_ns, {},
                   info.is_host, info.unit, info.repeats,  {}};
  const auto spread = requests::phase_spread(requests, info.path);
  if (spread && spread->max > 0) part.time = times_of(*spread);
  part.steady = steady_row(steady, info.path);
  if (!info.has_parts) return part;
  double inside = 0;
  for (const PhaseInfo& inner : tree.phases()) {
    if (inner.parent == info.path) inside += steady.whole_ns(inner.path);
  }
  part.rest_share = inside > 0 ? std::max((ns - inside) / total_ns, 0.0) : 0;
  return part;
}

/// The path of the model's outermost phase that dominates the request; empty if none does.
std::string dominant_of(const std::vector<SummaryPart>& parts) {
  const SummaryPart* first = nullptr;
  double second = 0;
  for (const SummaryPart& part : parts) {
    if (!part.is_outermost() || part.host || part.share <= 0) continue;
    if (first == nullptr || part.share > first->share) {
      if (first != nullptr) second = first->share;
      first = &part;
    } else {
      second = std::max(second, part.share);
    }
  }
  return first != nullptr && first->share >= kDominates * second ? first->path : "";
}

std::optional<double> tokens_per_second(const run::Requests& requests, const PhaseTree& tree,
                                        const SteadyPart& steady) {
  double made = 0;
  double ns = 0;
  const std::vector<const PhaseInfo*> generating = requests::generating_phases(tree);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto tokens = requests::tokens_of(requests[i]);
    if (!tokens) continue;
    for (const PhaseInfo* const info : generating) {
      const PhaseTime time = steady.time(i, info->path);
      made += time.units * tokens->per_step();
      ns += time.ns;
    }
  }
  return ns > 0 ? std::optional(made * 1e9 / ns) : std::nullopt;
}

/// The sum over all phases whose cost is known; nothing if a ceiling is not known.
std::optional<double> utilisation_of(const MeasuredCosts& costs) {
  double compute = 0;
  double measured = 0;
  for (const MeasuredCosts::Entry& entry : costs.entries) {
    if (!entry.cost.compute_ns) return std::nullopt;
    compute += *entry.cost.compute_ns;
    measured += entry.cost.measured_ns;
  }
  return measured > 0 ? std::optional(compute / measured) : std::nullopt;
}

}  // namespace

std::vector<PhaseSummary> phase_summaries(const run::Run& run, const PhaseTree& tree,
                                          const std::optional<SummaryRequest>& request,
                                          const MeasuredCosts& costs,
                                          const DeviceActivities& devices,
                                          const KernelRows& kernels) {
  return Phases(run, tree, costs, devices, kernels).make(request);
}

std::optional<SummaryRequest> request_of(const run::Run& run, const PhaseTree& tree,
                                         const SteadyPart& steady, const MeasuredCosts& costs) {
  if (!run.baseline() || run.baseline()->empty()) return std::nullopt;
  const double total = steady.whole_ns();
  if (total <= 0) return std::nullopt;
  SummaryRequest request;
  request.requests = run.baseline()->size();
  request.unit = requests::unit_of(*run.baseline());
  request.prompt_tokens = mean_tokens(*run.baseline(), &Request::prompt_tokens);
  request.new_tokens = mean_tokens(*run.baseline(), &Request::new_tokens);
  request.mean_ns = total / static_cast<double>(run.baseline()->size());
  request.ttft = first_token_times(*run.baseline(), steady);
  request.steady = {std::string(to_text(steady.verdict())), steady.steady_requests(),
                    request.mean_ns};
  for (const PhaseInfo& info : tree.phases()) {
    request.parts.push_back(part_of_request(*run.baseline(), tree, steady, info, total));
  }
  request.dominant = dominant_of(request.parts);
  request.tokens_per_second = tokens_per_second(*run.baseline(), tree, steady);
  request.mfu = utilisation_of(costs);
  request.source = run.baseline().file;
  return request;
}

}  // namespace profline::summary
