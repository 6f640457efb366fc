#include "analysis/judgement/judge.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"

namespace profline::judgement {
namespace {

std::string time(double ns) {
  return human_duration(FractionalNanoseconds(ns));
}
std::string percent(double share) {
  return share > 0 && share < 0.001 ? fmt::format("{:.2g} %", share * 100)
                                    : fmt::format("{:.1f} %", share * 100);
}

/// A cause of idle time, with what it speaks for.
struct Cause {
  std::string_view words;
  double ns;
  bool is_launching;      ///< speaks for launches; else for the host
  std::string_view cure;  ///< of the host's
};

std::array<Cause, 7> causes_of(const DeviceActivity& device, const Limits& limits) {
  const IdleTime& idle = device.idle;
  const auto ns = [](std::int64_t value) { return static_cast<double>(value); };
  const bool short_gaps = !device.gap_mean_ns || *device.gap_mean_ns <= limits.launch_gap_ns;
  return {{
      {"between launches", ns(idle.host_between_ns), short_gaps,
       "look in torch_profiler/operators.md for what the host does between launches, and take it "
       "out of the loop"},
      {"inside launch calls", ns(idle.launching_ns), true, ""},
      {"queued and not begun", ns(idle.queued_ns), true, ""},
      {"host waiting for the device", ns(idle.synchronizing_ns), false,
       "take synchronisation (item(), copies to the host, events) out of the loop"},
      {"host inside copies", ns(idle.copy_wait_ns), false,
       "keep the data on the device, or copy from pinned memory behind other work"},
      {"host allocating", ns(idle.allocating_ns), false,
       "allocate once and use it again: a caching allocator, static buffers"},
      {"nothing queued", ns(idle.nothing_queued_ns), false,
       "overlap what the host does before the first launch and after the last with other work"},
  }};
}

/// What the idle time is put down to.
struct IdleVerdict {
  double launch_share = 0;  ///< of the idle time
  std::string words;        ///< the causes, largest first
  std::string cure;         ///< of the largest cause that is the host's
};

IdleVerdict judge_idle(const DeviceActivity& device, const Limits& limits) {
  auto causes = causes_of(device, limits);
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.ns > b.ns; });
  const auto total = static_cast<double>(device.idle.sum_ns());
  IdleVerdict verdict;
  if (total <= 0) return verdict;
  for (const Cause& cause : causes) {
    if (cause.is_launching) verdict.launch_share += cause.ns / total;
    if (!cause.is_launching && verdict.cure.empty()) verdict.cure = cause.cure;
    if (cause.ns / total < 0.01) continue;
    if (!verdict.words.empty()) verdict.words += ", ";
    verdict.words += fmt::format("{:.0f} % {}", cause.ns / total * 100, cause.words);
  }
  return verdict;
}

class Judge {
 public:
  Judge(const StageEvidence& evidence, const Limits& limits)
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
  void tell_device(const DeviceActivity& device);
  void tell_cost();
  void tell_operators(const HostOperators& operators);
  void allow_no_idle();
  void allow_floor();
  void decide(Class kind, std::string next_step);
  void because(std::string text, std::string source) {
    result_.reasons.push_back({std::move(text), std::move(source)});
  }
  std::string memory_step() const;
  std::string compute_step() const;
  /// Of the stage's measured time; 0 when there is no such figure.
  double compute_share() const {
    return share(evidence_.cost ? evidence_.cost->compute_ns : none_);
  }
  double memory_share() const { return share(evidence_.cost ? evidence_.cost->memory_ns : none_); }
  double share(const std::optional<double>& ns) const {
    return ns && evidence_.measured_ns > 0 ? *ns / evidence_.measured_ns : 0;
  }
  /// Both sources, or one when they are the same.
  std::string with_measured(const std::string& source) const {
    return source == evidence_.measured_in || evidence_.measured_in.empty()
               ? source
               : source + ", " + evidence_.measured_in;
  }

  const StageEvidence& evidence_;
  const Limits& limits_;
  const std::optional<double> none_;
  Judgement result_;
};

void Judge::decide(Class kind, std::string next_step) {
  result_.kind = kind;
  result_.next_step = std::move(next_step);
}

void Judge::allow_no_idle() {
  if (!evidence_.device || !result_.busy_share) return;
  const double left = evidence_.measured_ns * *result_.busy_share;
  if (left <= 0 || left >= evidence_.measured_ns) return;
  result_.gains.push_back({"if the device never waited", evidence_.measured_ns - left, left,
                           evidence_.measured_ns / left});
}

void Judge::allow_floor() {
  if (!evidence_.cost || !evidence_.cost->floor_ns) return;
  const double left = *evidence_.cost->floor_ns;
  if (left <= 0 || left >= evidence_.measured_ns) return;
  result_.gains.push_back({"at the floor of its shapes", evidence_.measured_ns - left, left,
                           evidence_.measured_ns / left});
}

void Judge::tell_device(const DeviceActivity& device) {
  const double units = std::max(device.units, 1.0);
  const std::string source = device.unprofiled_ns ? with_measured(device.source) : device.source;
  because(fmt::format("device busy {} of {} per {} ({}){}", time(device.busy_ns / units),
                      time(device.wall_ns() / units), evidence_.unit, percent(*result_.busy_share),
                      device.unprofiled_ns ? "" : ", both under the profiler"),
          source);
  if (device.launches <= 0) return;
  std::string text = fmt::format("{:.0f} launches per {}", device.launches / units, evidence_.unit);
  if (device.gap_mean_ns) text += ", " + time(*device.gap_mean_ns) + " from one to the next";
  because(std::move(text), device.source);
}

void Judge::tell_cost() {
  if (!evidence_.cost || evidence_.measured_ns <= 0) return;
  const Cost& cost = *evidence_.cost;
  std::string text;
  if (cost.floor_ns) {
    text =
        fmt::format("floor {} per {}, {} of the measured {}", time(*cost.floor_ns), evidence_.unit,
                    percent(*cost.floor_ns / evidence_.measured_ns), time(evidence_.measured_ns));
  }
  const auto add = [&](const std::string& part) {
    text += (text.empty() ? "" : text.find(':') == std::string::npos ? ": " : "; ") + part;
  };
  if (cost.compute_ns) {
    add(fmt::format("{}FLOP take {} of the time at the peak", human_count(cost.flops),
                    percent(compute_share())));
  }
  if (cost.memory_ns) {
    add(fmt::format("{}B of weights and KV cache take {} of it at full bandwidth",
                    human_count(cost.bytes), percent(memory_share())));
  }
  if (text.empty()) return;
  because(text + " (" + cost.ceilings + ")", with_measured(cost.source));
}

void Judge::waits_for_host(double busy_share, const IdleVerdict& idle) {
  const bool by_launches = idle.launch_share >= 0.5;
  if (!by_launches) {
    return decide(Class::HostBound,
                  idle.cure.empty()
                      ? "capture with CUDA calls traced, to see what the host waits for"
                      : idle.cure);
  }
  const DeviceActivity& device = *evidence_.device;
  const double launches = device.launches / std::max(device.units, 1.0);
  decide(Class::LaunchBound,
         fmt::format("launch less: put {} into a CUDA graph, or fuse its kernels; {:.0f} "
                     "launches keep the device busy only {} of the time",
                     evidence_.stage, launches, percent(busy_share)));
}

std::string Judge::memory_step() const {
  std::string step =
      "move fewer bytes: weights and KV cache in fewer bits, more sequences a pass, "
      "fused operators";
  if (memory_share() > 0) {
    step += fmt::format("; at full bandwidth what must be read takes {} of the time",
                        percent(memory_share()));
  }
  return step;
}

std::string Judge::compute_step() const {
  std::string step =
      "compute less or cheaper: fewer or smaller inputs, a lower precision, better tiles";
  if (compute_share() > 0) {
    step += fmt::format("; the products take {} of the time at the peak", percent(compute_share()));
  }
  return step;
}

bool Judge::by_counters() {
  if (!evidence_.kernels) return false;
  const KernelBounds& kernels = *evidence_.kernels;
  const double counted = kernels.counted_ns();
  if (kernels.all_ns <= 0 || counted / kernels.all_ns < limits_.majority) return false;
  because(fmt::format("of the kernel time that has counters ({}): {} compute-bound, {} "
                      "memory-bound, {} far from both ceilings",
                      percent(counted / kernels.all_ns), percent(kernels.compute_ns / counted),
                      percent(kernels.memory_ns / counted), percent(kernels.latency_ns / counted)),
          kernels.source);
  if (kernels.memory_ns / counted >= limits_.majority) {
    decide(Class::MemoryBound, memory_step());
  } else if (kernels.compute_ns / counted >= limits_.majority) {
    decide(Class::ComputeBound, compute_step());
  } else if (kernels.latency_ns / counted >= limits_.majority) {
    decide(Class::Mixed,
           "make its kernels larger: most of them end before they fill the device (kernels.md)");
  } else {
    decide(Class::Mixed, "take the kernels with the most time one by one (kernels.md)");
  }
  return true;
}

/// By the nearer ceiling, if it is near enough to be what bounds the stage.
bool Judge::by_ceilings(double at_least) {
  const double compute = compute_share();
  // More than all of the time means that the bytes did not come from memory: they are in a cache.
  const bool is_cached = memory_share() > 1;
  if (is_cached) {
    because("what it reads is nearer than memory: at full bandwidth it would take longer",
            evidence_.cost->source);
  }
  const double memory = is_cached ? 0 : memory_share();
  if (std::max(compute, memory) < at_least) return false;
  if (std::abs(compute - memory) <= limits_.margin) {
    decide(Class::Mixed, "both ceilings are equally near: fewer bytes and fewer operations alike");
  } else if (memory > compute) {
    decide(Class::MemoryBound, memory_step());
  } else {
    decide(Class::ComputeBound, compute_step());
  }
  return true;
}

/// The device is the limit; `is_seen`: a profiler saw it work.
void Judge::works(bool is_seen) {
  if (by_counters() || by_ceilings(is_seen ? limits_.near : limits_.majority)) return;
  if (is_seen && evidence_.cost && evidence_.cost->floor_ns) {
    return decide(Class::Mixed,
                  "the device works, and not near a ceiling: look at the kernels with the most "
                  "time (kernels.md), with counters (pipeline.ncu.enable=true)");
  }
  if (is_seen) {
    because("nothing says how near the ceilings it is: no counters, no static analysis", "");
    return decide(Class::Unknown,
                  "switch on pipeline.static_analysis or pipeline.ncu for this stage");
  }
  because("nothing saw what the device did in this stage", "");
  decide(Class::Unknown, evidence_.to_see_device);
}

void Judge::with_device() {
  if (!evidence_.device || evidence_.device->wall_ns() <= 0) {
    tell_cost();
    works(false);
    return allow_floor();
  }
  const DeviceActivity& device = *evidence_.device;
  const double busy_share = std::min(device.busy_ns / device.wall_ns(), 1.0);
  result_.busy_share = busy_share;
  tell_device(device);
  const IdleVerdict idle = judge_idle(device, limits_);
  if (!idle.words.empty() && busy_share < limits_.busy) {
    because("of the idle time: " + idle.words, device.source);
  }
  tell_cost();
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
  decide(Class::Mixed,
         fmt::format("the device waits for {} of the time and works for the rest: {}",
                     percent(1 - busy_share),
                     idle.launch_share >= 0.5 ? "launch less first (a CUDA graph), then its kernels"
                                              : "first " + idle.cure));
  allow_no_idle();
  allow_floor();
}

void Judge::tell_operators(const HostOperators& operators) {
  because(
      fmt::format("{:.0f} operator calls per {}; {} of the operators' own time is in those that "
                  "take less than {} a call; most of it in {} ({})",
                  operators.calls, evidence_.unit, percent(operators.short_share),
                  time(limits_.operator_ns), operators.largest, percent(operators.largest_share)),
      operators.source);
}

void Judge::on_cpu() {
  tell_cost();
  if (by_ceilings(limits_.majority)) return allow_floor();
  if (evidence_.operators) {
    tell_operators(*evidence_.operators);
    if (evidence_.operators->short_share >= limits_.majority) {
      decide(Class::HostBound,
             "call fewer operators: fuse them, or give each more to do; most of the time goes to "
             "calls too short to do much");
      return allow_floor();
    }
  }
  if (evidence_.cost && evidence_.cost->floor_ns) {
    decide(Class::Mixed, evidence_.operators
                             ? "most of the time is in long operators that are far from both "
                               "ceilings: look at " +
                                   evidence_.operators->largest + " first"
                             : "far from both ceilings: switch on pipeline.torch_profiler to see "
                               "which operators take the time");
    return allow_floor();
  }
  because("nothing says how near the ceilings it is: no static analysis", "");
  decide(Class::Unknown, evidence_.operators
                             ? "switch on pipeline.static_analysis"
                             : "switch on pipeline.static_analysis and pipeline.torch_profiler");
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

Judgement judge(const StageEvidence& evidence, const Limits& limits) {
  return Judge(evidence, limits).run();
}

}  // namespace profline::judgement
