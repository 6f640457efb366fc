#include "analysis/judgement/judge.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/figures.h"

namespace profline::judgement {
namespace {

/// A cause of idle time and what it indicates.
struct Cause {
  std::string_view words;
  double ns;
  bool is_launching;  ///< indicates launch-bound; else host-bound
  std::string cure;   ///< for host-bound phases
};

/// Never refers to a page that this run does not have.
std::string cure_between_launches(const PhaseEvidence& evidence) {
  const std::string out = "and move it out of the loop";
  if (!evidence.host_page.empty()) {
    return "see " + evidence.host_page + " for what the host does between launches, " + out;
  }
  return "find out what the host does between launches (" +
         std::string(evidence.is_program ? "the timeline in report.html shows where"
                                         : "pipeline.torch_profiler.enable=true records it") +
         ") " + out;
}

std::array<Cause, 7> causes_of(const PhaseEvidence& evidence, const Limits& limits) {
  const DeviceActivity& device = *evidence.device;
  const IdleTime& idle = device.idle;
  const auto ns = [](std::int64_t value) { return static_cast<double>(value); };
  const bool short_gaps = !device.gap_mean_ns || *device.gap_mean_ns <= limits.launch_gap_ns;
  return {{
      {"between launches", ns(idle.host_between_ns), short_gaps, cure_between_launches(evidence)},
      {"inside launch calls", ns(idle.launching_ns), true, ""},
      {"queued but not started", ns(idle.queued_ns), true, ""},
      {"host waiting for the GPU", ns(idle.synchronizing_ns), false,
       "move synchronisation (item(), copies to the host, events) out of the loop"},
      {"host inside copies", ns(idle.copy_wait_ns), false,
       "keep the data on the GPU, or copy from pinned memory while other work runs"},
      {"host allocating memory", ns(idle.allocating_ns), false,
       "allocate once and reuse the memory: a caching allocator, static buffers"},
      {"nothing queued", ns(idle.nothing_queued_ns), false,
       "overlap the host's work before the first launch and after the last with work on the GPU"},
  }};
}

/// The causes of the idle time.
struct IdleVerdict {
  double launch_share = 0;  ///< of the idle time
  std::string words;        ///< the causes, largest first
  std::string cure;         ///< of the largest cause on the host
};

IdleVerdict judge_idle(const PhaseEvidence& evidence, const Limits& limits) {
  auto causes = causes_of(evidence, limits);
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.ns > b.ns; });
  const auto total = static_cast<double>(evidence.device->idle.sum_ns());
  IdleVerdict verdict;
  if (total <= 0) return verdict;
  for (const Cause& cause : causes) {
    if (cause.is_launching) verdict.launch_share += cause.ns / total;
    if (!cause.is_launching && verdict.cure.empty()) verdict.cure = cause.cure;
    if (cause.ns / total < 0.01) continue;
    if (!verdict.words.empty()) verdict.words += ", ";
    verdict.words += fmt::format("{} {}", percent(cause.ns / total), cause.words);
  }
  return verdict;
}

class Judge {
 public:
  Judge(const PhaseEvidence& evidence, const Limits& limits)
      : evidence_(evidence), limits_(limits) {}

  Judgement run() {
    if (evidence_.has_device) {
      with_device();
    } else {
      on_cpu();
    }
    return std::move(result_);
  }

 private:
  void with_device();
  void on_cpu();
  void waits_for_host(double busy_share, const IdleVerdict& idle);
  void works(bool is_seen);
  bool by_counters();
  bool by_ceilings(double at_least);
  void not_counted();
  void waits_and_works(double busy_share, const IdleVerdict& idle);
  double counted_share() const;
  std::string busy_of(const DeviceActivity& device) const;
  std::string launches_per_unit(const DeviceActivity& device) const;
  void describe_device(const DeviceActivity& device);
  void describe_cost();
  void describe_operators(const HostOperators& operators);
  void allow_no_idle();
  void allow_floor();
  void decide(Class kind, std::string next_step);
  void because(std::string text, std::string source) {
    result_.reasons.push_back({std::move(text), std::move(source)});
  }
  std::string memory_step() const;
  std::string compute_step() const;
  /// Share of the phase's measured time; 0 if not known.
  double compute_share() const {
    return share(evidence_.cost ? evidence_.cost->compute_ns : none_);
  }
  double memory_share() const { return share(evidence_.cost ? evidence_.cost->memory_ns : none_); }
  double share(const std::optional<double>& ns) const {
    return ns && evidence_.measured_ns > 0 ? *ns / evidence_.measured_ns : 0;
  }
  /// Both sources, or one if they are the same.
  std::string with_measured(const std::string& source) const {
    return source == evidence_.measured_in || evidence_.measured_in.empty()
               ? source
               : source + ", " + evidence_.measured_in;
  }

  const PhaseEvidence& evidence_;
  const Limits& limits_;
  const std::optional<double> none_;
  Judgement result_;
};

void Judge::decide(Class kind, std::string next_step) {
  result_.kind = kind;
  result_.next_step = std::move(next_step);
}

void Judge::allow_no_idle() {
  // A profiler lengthens idle time: only time measured without one can be saved.
  if (!evidence_.device || !evidence_.device->unprofiled_ns || !result_.busy_share) return;
  // The work itself stays, however fast or slow the captured inputs happened to be.
  const double left = evidence_.device->busy_ns / std::max(evidence_.device->units, 1.0);
  if (left <= 0 || left >= evidence_.measured_ns) return;
  result_.gains.push_back({"if the GPU never waited", evidence_.measured_ns - left, left,
                           evidence_.measured_ns / left});
}

void Judge::allow_floor() {
  // A CPU's run rehearses a GPU's: "128x faster" on it would be true and of no use.
  if (!evidence_.has_device || !evidence_.cost || !evidence_.cost->floor_ns) return;
  const double left = *evidence_.cost->floor_ns;
  if (left <= 0 || left >= evidence_.measured_ns) return;
  result_.gains.push_back({"at the hardware limit for these shapes", evidence_.measured_ns - left,
                           left, evidence_.measured_ns / left});
}

/// The time that the busy share refers to, and why it differs from the phase's own time if it does.
std::string Judge::busy_of(const DeviceActivity& device) const {
  const double units = std::max(device.units, 1.0);
  const std::string busy = duration(device.busy_ns / units);
  const std::string wall = duration(device.wall_ns() / units);
  if (!device.unprofiled_ns) {
    return fmt::format(" under the profiler ({} of {} per {})", busy, wall, evidence_.unit);
  }
  const std::string mean = duration(evidence_.measured_ns);
  if (wall == mean) return fmt::format(" ({} of {} per {})", busy, wall, evidence_.unit);
  return fmt::format(
      " ({} of the {} per {} that the captured input takes without a profiler; the average of all "
      "inputs is {})",
      busy, wall, evidence_.unit, mean);
}

void Judge::describe_device(const DeviceActivity& device) {
  because(fmt::format("GPU busy {} of the time{}", percent(*result_.busy_share), busy_of(device)),
          device.unprofiled_ns ? with_measured(device.source) : device.source);
  if (device.launches <= 0) return;
  std::string text = launches_per_unit(device);
  if (device.gap_mean_ns) text += ", " + duration(*device.gap_mean_ns) + " from one to the next";
  because(std::move(text), device.source);
}

std::string Judge::launches_per_unit(const DeviceActivity& device) const {
  return counted_mean(device.launches / std::max(device.units, 1.0), "launch") + " per " +
         evidence_.unit;
}

void Judge::describe_cost() {
  if (!evidence_.cost || evidence_.measured_ns <= 0) return;
  const Cost& cost = *evidence_.cost;
  std::string parts;
  if (cost.compute_ns) {
    parts = fmt::format("at peak rate {} take {} of it", amount(cost.flops, "FLOP"),
                        percent(compute_share()));
  }
  if (cost.memory_ns) {
    parts += fmt::format("{}at full bandwidth {} of weights and KV cache take {}{}",
                         parts.empty() ? "" : ", ", amount(cost.bytes, "B"),
                         percent(memory_share()), parts.empty() ? " of it" : "");
  }
  if (parts.empty() && !cost.floor_ns) return;
  std::string text =
      "the measured time is " + duration(evidence_.measured_ns) + " per " + evidence_.unit;
  if (cost.floor_ns) {
    text = fmt::format(
        "the theoretical minimum for these shapes is {} per {}, {} of "
        "the measured {}",
        duration(*cost.floor_ns), evidence_.unit, percent(*cost.floor_ns / evidence_.measured_ns),
        duration(evidence_.measured_ns));
  }
  if (!parts.empty()) text += ": " + parts;
  because(text + " (" + cost.ceilings + ")", with_measured(cost.source));
}

void Judge::waits_for_host(double busy_share, const IdleVerdict& idle) {
  const bool by_launches = idle.launch_share >= 0.5;
  if (!by_launches) {
    return decide(Class::HostBound,
                  idle.cure.empty()
                      ? "trace CUDA calls as well (pipeline.nsys.trace) to see what the host does"
                      : idle.cure);
  }
  decide(Class::LaunchBound,
         fmt::format("launch less: put {} into a CUDA graph or fuse its kernels; with {} the GPU "
                     "is busy only {} of the time",
                     evidence_.phase, launches_per_unit(*evidence_.device), percent(busy_share)));
}

std::string Judge::memory_step() const {
  std::string step =
      "move fewer bytes: weights and KV cache in fewer bits, larger batches, fused operators";
  if (memory_share() > 0) {
    step += fmt::format("; at full bandwidth the necessary bytes take {} of the time",
                        percent(memory_share()));
  }
  return step;
}

std::string Judge::compute_step() const {
  std::string step =
      "compute less or cheaper: fewer or smaller inputs, lower precision, better tiles";
  if (compute_share() > 0) {
    step += fmt::format("; at peak rate the necessary operations take {} of the time",
                        percent(compute_share()));
  }
  return step;
}

/// The share of kernel time in kernels with counters.
double Judge::counted_share() const {
  if (!evidence_.kernels || evidence_.kernels->all_ns <= 0) return 0;
  return evidence_.kernels->counted_ns() / evidence_.kernels->all_ns;
}

bool Judge::by_counters() {
  if (counted_share() < limits_.majority) return false;
  const KernelBounds& kernels = *evidence_.kernels;
  const double counted = kernels.counted_ns();
  because(fmt::format("of the time of kernels with counters ({} of all kernel time), {} is "
                      "compute-bound, {} memory-bound and {} far from both limits",
                      percent(counted_share()), percent(kernels.compute_ns / counted),
                      percent(kernels.memory_ns / counted), percent(kernels.latency_ns / counted)),
          kernels.source);
  if (kernels.memory_ns / counted >= limits_.majority) {
    decide(Class::MemoryBound, memory_step());
  } else if (kernels.compute_ns / counted >= limits_.majority) {
    decide(Class::ComputeBound, compute_step());
  } else if (kernels.latency_ns / counted >= limits_.majority) {
    decide(Class::Mixed,
           "make the kernels larger: most of them end before they fill the GPU (see kernels.md)");
  } else {
    decide(Class::Mixed, "work through the kernels with the most time (see kernels.md)");
  }
  return true;
}

/// Decides by the nearer ceiling, if it is near enough to be the limit.
bool Judge::by_ceilings(double at_least) {
  const double compute = compute_share();
  // More than the whole time means that the bytes came from a cache, not from memory.
  const bool is_cached = memory_share() > 1;
  if (is_cached) {
    because("its data comes from a cache: reading it from memory would take longer than measured",
            evidence_.cost->source);
  }
  const double memory = is_cached ? 0 : memory_share();
  if (std::max(compute, memory) < at_least) return false;
  if (std::abs(compute - memory) <= limits_.margin) {
    decide(Class::Mixed, "both limits are equally close: reduce bytes and operations alike");
  } else if (memory > compute) {
    decide(Class::MemoryBound, memory_step());
  } else {
    decide(Class::ComputeBound, compute_step());
  }
  return true;
}

/// A busy device about which nothing more is known.
void Judge::not_counted() {
  const std::string what = "how close it is to the hardware limits is not known: ";
  const std::string counters =
      counted_share() > 0 ? "only " + percent(counted_share()) + " of the kernel time has counters"
                          : "there are no counters";
  if (evidence_.is_program) {
    because(what + counters, "");
    return decide(Class::Unknown,
                  counted_share() > 0
                      ? "let ncu profile more of its launches (pipeline.ncu.max_launches)"
                      : "count what its kernels do with ncu (pipeline.ncu.enable=true)");
  }
  because(what + counters + " and no static analysis", "");
  decide(Class::Unknown, "enable pipeline.static_analysis or pipeline.ncu for this phase");
}

/// The device is the limit; `is_seen`: a profiler recorded its work.
void Judge::works(bool is_seen) {
  if (by_counters() || by_ceilings(is_seen ? limits_.near : limits_.majority)) return;
  if (is_seen && evidence_.cost && evidence_.cost->floor_ns) {
    return decide(Class::Mixed,
                  "the GPU is busy but not close to a limit: look at the kernels with the most "
                  "time (kernels.md), with counters (pipeline.ncu.enable=true)");
  }
  if (is_seen) return not_counted();
  because("no profiler recorded what the GPU did in this phase", "");
  decide(Class::Unknown, evidence_.to_see_device);
}

void Judge::waits_and_works(double busy_share, const IdleVerdict& idle) {
  const std::string first = idle.launch_share >= 0.5
                                ? "launch less first (a CUDA graph), then improve the kernels"
                            : idle.cure.empty() ? "find out what it waits for"
                                                : idle.cure;
  decide(Class::Mixed, fmt::format("the GPU is idle {} of the time and works for the rest: {}",
                                   percent(1 - busy_share), first));
}

void Judge::with_device() {
  if (!evidence_.device || evidence_.device->wall_ns() <= 0) {
    describe_cost();
    works(false);
    return allow_floor();
  }
  const DeviceActivity& device = *evidence_.device;
  const double busy_share = std::min(device.busy_ns / device.wall_ns(), 1.0);
  result_.busy_share = busy_share;
  describe_device(device);
  const IdleVerdict idle = judge_idle(evidence_, limits_);
  if (!idle.words.empty() && busy_share < limits_.busy) {
    because("idle time: " + idle.words, device.source);
  }
  describe_cost();
  if (1 - busy_share >= limits_.idle) {
    waits_for_host(busy_share, idle);
    allow_no_idle();
    return allow_floor();
  }
  if (busy_share >= limits_.busy) {
    works(true);
    allow_floor();
    return allow_no_idle();
  }
  waits_and_works(busy_share, idle);
  allow_no_idle();
  allow_floor();
}

void Judge::describe_operators(const HostOperators& operators) {
  because(fmt::format("{} per {}; {} of the operators' own time is in operators that take less "
                      "than {} per call; the largest is {} ({})",
                      counted_mean(operators.calls, "operator call"), evidence_.unit,
                      percent(operators.short_share), duration(limits_.operator_ns),
                      operators.largest, percent(operators.largest_share)),
          operators.source);
}

void Judge::on_cpu() {
  describe_cost();
  if (by_ceilings(limits_.majority)) return allow_floor();
  if (evidence_.operators) {
    describe_operators(*evidence_.operators);
    if (evidence_.operators->short_share >= limits_.majority) {
      decide(Class::HostBound,
             "call fewer operators: fuse them or give each more work; most of the time goes to "
             "calls too short to do much");
      return allow_floor();
    }
  }
  if (evidence_.cost && evidence_.cost->floor_ns) {
    decide(Class::Mixed, evidence_.operators
                             ? fmt::format("start with {}, which takes {} of the operators' time",
                                           evidence_.operators->largest,
                                           percent(evidence_.operators->largest_share))
                             : "far from both limits: enable pipeline.torch_profiler to see which "
                               "operators take the time");
    return allow_floor();
  }
  if (evidence_.is_program) {
    because("no GPU work was captured in it", "");
    return decide(
        Class::Unknown,
        "sample the host's call stacks (pipeline.nsys.sample=process-tree) to see what it does");
  }
  because("how close it is to the hardware limits is not known: there is no static analysis", "");
  decide(Class::Unknown, evidence_.operators
                             ? "enable pipeline.static_analysis"
                             : "enable pipeline.static_analysis and pipeline.torch_profiler");
}

}  // namespace

std::string_view to_text(Class kind) {
  switch (kind) {
    case Class::LaunchBound:
      return "launch-bound";
    case Class::HostBound:
      return "host-bound";
    case Class::MemoryBound:
      return "memory-bound";
    case Class::ComputeBound:
      return "compute-bound";
    case Class::Mixed:
      return "mixed";
    case Class::Unknown:
      break;
  }
  return "unknown";
}

Judgement judge(const PhaseEvidence& evidence, const Limits& limits) {
  return Judge(evidence, limits).run();
}

}  // namespace profline::judgement
