#include "analysis/judgement/judge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/judgement/internal/bounds.h"
#include "analysis/judgement/internal/idle.h"
#include "base/figures.h"

namespace profline::judgement {
namespace {

/// What the bytes of a cost are of: an image encoder has no KV cache.
std::string_view holders_of(const Cost& cost) {
  return cost.cache_bytes > 0 ? "weights and KV cache" : "weights";
}

class Judge {
 public:
  Judge(const PhaseEvidence& evidence, const Limits& limits)
      : evidence_(evidence), limits_(limits), bounds_(evidence, limits) {}

  Judgement run() {
    result_.steps = bounds_.steps();
    result_.kind = class_of(evidence_, limits_);
    result_.busy_share = bounds_.busy_share();
    if (is_seen()) idle_ = internal::judge_idle(evidence_, limits_);
    describe();
    result_.next_step = evidence_.has_device ? device_step() : cpu_step();
    // What the class suggests comes first.
    const bool waits = is_seen() && *result_.busy_share < limits_.busy && !is_at_ceiling();
    if (waits) allow_no_idle();
    allow_floor();
    if (!waits) allow_no_idle();
    return std::move(result_);
  }

 private:
  bool is_seen() const { return result_.busy_share.has_value(); }
  bool is_at_ceiling() const {
    return result_.kind == Class::MemoryBound || result_.kind == Class::ComputeBound;
  }
  bool waits_for_host() const {
    return result_.kind == Class::LaunchBound || result_.kind == Class::HostBound;
  }

  void describe();
  void describe_device();
  void describe_cost();
  void describe_live();
  void describe_counters();
  void describe_operators(const HostOperators& operators);
  std::string busy_of(const DeviceActivity& device) const;
  std::string launches_per_unit(const DeviceActivity& device) const;

  std::string device_step();
  std::string busy_step();
  std::string unknown_step();
  std::string waiting_step() const;
  std::string idle_step() const;
  std::string cpu_step();
  std::string memory_step() const;
  std::string compute_step() const;

  void allow_no_idle();
  void allow_floor();
  void because(std::string text, std::string source) {
    result_.reasons.push_back({std::move(text), std::move(source)});
  }
  double compute_share() const { return bounds_.floor().compute; }
  double memory_share() const { return bounds_.floor().memory; }
  /// Both sources, or one if they are the same.
  std::string with_measured(const std::string& source) const {
    return source == evidence_.measured_in || evidence_.measured_in.empty()
               ? source
               : source + ", " + evidence_.measured_in;
  }

  const PhaseEvidence& evidence_;
  const Limits& limits_;
  const internal::Bounds bounds_;
  internal::IdleVerdict idle_;
  Judgement result_;
};

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

void Judge::describe_device() {
  const DeviceActivity& device = *evidence_.device;
  because(fmt::format("GPU busy {} of the time{}", percent(*result_.busy_share), busy_of(device)),
          device.unprofiled_ns ? with_measured(device.source) : device.source);
  if (device.launches > 0) {
    std::string text = launches_per_unit(device);
    if (device.gap_mean_ns) text += ", " + duration(*device.gap_mean_ns) + " from one to the next";
    because(std::move(text), device.source);
  }
  if (!idle_.words.empty() && *result_.busy_share < limits_.busy) {
    because("idle time: " + idle_.words, device.source);
  }
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
    parts += fmt::format("{}at full bandwidth {} of {} take {}{}", parts.empty() ? "" : ", ",
                         amount(cost.bytes, "B"), holders_of(cost),
                         percent(*cost.memory_ns / evidence_.measured_ns),
                         parts.empty() ? " of it" : "");
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
  if (bounds_.floor().is_cached) {
    because("its data comes from a cache: reading it from memory would take longer than measured",
            cost.source);
  }
  const bool idle_in_capture =
      is_seen() && is_at_ceiling() && 1 - *result_.busy_share >= limits_.majority;
  if (idle_in_capture) {
    because(
        "the device cannot have been idle for more than the rest of the time: the capture, "
        "which shows it idle for longer, was slowed down by the profiler",
        cost.source);
  }
}

void Judge::describe_live() {
  if (!evidence_.live) return;
  const internal::Shares live = bounds_.live();
  std::string text = fmt::format(
      "counters sampled during the phase: {} of DRAM traffic per {}, which take {} of the time at "
      "full bandwidth",
      amount(evidence_.live->bytes, "B"), evidence_.unit, percent(live.memory));
  if (evidence_.cost && evidence_.cost->bytes > 0) {
    text +=
        fmt::format("; {} are {}", holders_of(*evidence_.cost), amount(evidence_.cost->bytes, "B"));
  }
  if (evidence_.live->compute_ns) {
    text += fmt::format("; the matrix units were active for {}", percent(live.compute));
  }
  because(std::move(text), evidence_.live->source);
}

void Judge::describe_counters() {
  if (!evidence_.kernels || evidence_.kernels->counted_ns() <= 0 || !is_seen()) return;
  const KernelBounds& kernels = *evidence_.kernels;
  const double counted = kernels.counted_ns();
  because(fmt::format("of the time of kernels with counters ({} of all kernel time), {} is "
                      "compute-bound, {} memory-bound and {} far from both limits",
                      percent(bounds_.counted_share()), percent(kernels.compute_ns / counted),
                      percent(kernels.memory_ns / counted), percent(kernels.latency_ns / counted)),
          kernels.source);
  const double agreeing =
      result_.kind == Class::MemoryBound ? kernels.memory_ns : kernels.compute_ns;
  if (is_at_ceiling() && agreeing / counted < limits_.majority) {
    because(
        "ncu runs each kernel alone and with cold caches, so short kernels look further from "
        "the limits than they are in the phase; the class follows from the phase as a whole",
        "");
  }
}

void Judge::describe_operators(const HostOperators& operators) {
  because(fmt::format("{} per {}; {} of the operators' own time is in operators that take less "
                      "than {} per call; the largest is {} ({})",
                      counted_mean(operators.calls, "operator call"), evidence_.unit,
                      percent(operators.short_share), duration(limits_.operator_ns),
                      operators.largest, percent(operators.largest_share)),
          operators.source);
}

void Judge::describe() {
  if (is_seen()) describe_device();
  describe_cost();
  describe_live();
  if (!evidence_.has_device && evidence_.operators && !is_at_ceiling()) {
    describe_operators(*evidence_.operators);
  }
  if (!waits_for_host()) describe_counters();
}

std::string Judge::memory_step() const {
  std::string step =
      fmt::format("move fewer bytes: {}, larger batches, fused operators",
                  evidence_.cost ? fmt::format("{} in fewer bits", holders_of(*evidence_.cost))
                                 : "fewer bits per value");
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

/// For a device that waits for the host for most of the time.
std::string Judge::waiting_step() const {
  if (result_.kind == Class::LaunchBound && evidence_.unit == "capture") {
    return fmt::format(
        "launch less: put the ranges that take most of the time into CUDA graphs or fuse their "
        "kernels; the GPU is busy only {} of the time",
        percent(*result_.busy_share));
  }
  if (result_.kind == Class::LaunchBound) {
    return fmt::format(
        "launch less: put {} into a CUDA graph or fuse its kernels; with {} the GPU is busy only "
        "{} of the time",
        evidence_.phase, launches_per_unit(*evidence_.device), percent(*result_.busy_share));
  }
  return idle_.cure.empty()
             ? "trace CUDA calls as well (pipeline.nsys.trace) to see what the host does"
             : idle_.cure;
}

/// For one that waits for a good part of the time.
std::string Judge::idle_step() const {
  const std::string first = idle_.launch_share >= limits_.majority
                                ? "launch less first (a CUDA graph), then improve the kernels"
                            : idle_.cure.empty() ? "find out what it waits for"
                                                 : idle_.cure;
  return fmt::format("the GPU is idle {} of the time and works for the rest: {}",
                     percent(1 - *result_.busy_share), first);
}

/// For a busy device that is not known to be at a limit.
std::string Judge::busy_step() {
  if (bounds_.counted_share() >= limits_.majority) {
    const KernelBounds& kernels = *evidence_.kernels;
    return kernels.latency_ns / kernels.counted_ns() >= limits_.majority
               ? "make the kernels larger: most of them end before they fill the GPU (see "
                 "kernels.md)"
               : "work through the kernels with the most time (see kernels.md)";
  }
  constexpr double kWorthNaming = 0.25;
  const bool is_memory = memory_share() > compute_share();
  const double nearest = std::max(memory_share(), compute_share());
  const std::string state =
      nearest >= kWorthNaming
          ? fmt::format(
                "the GPU is busy, but its nearest limit, {}, accounts for only {} of the "
                "time",
                is_memory ? "memory bandwidth" : "arithmetic", percent(nearest))
          : "the GPU is busy but not close to a limit";
  return state +
         ": look at the kernels with the most time (kernels.md), with counters "
         "(pipeline.ncu.enable=true)";
}

/// For a busy device about which nothing more is known, or one that no tool saw.
std::string Judge::unknown_step() {
  if (!is_seen()) {
    because("no profiler recorded what the GPU did in this phase", "");
    return evidence_.to_see_device;
  }
  const std::string what = "how close it is to the hardware limits is not known: ";
  const double counted = bounds_.counted_share();
  const std::string counters = counted > 0
                                   ? "only " + percent(counted) + " of the kernel time has counters"
                                   : "there are no counters";
  if (evidence_.is_program) {
    because(what + counters, "");
    return counted > 0 ? "let ncu profile more of its launches (pipeline.ncu.max_launches)"
                       : "count what its kernels do with ncu (pipeline.ncu.enable=true)";
  }
  because(what + counters + " and no static analysis", "");
  return "enable pipeline.static_analysis or pipeline.ncu for this phase";
}

std::string Judge::device_step() {
  switch (result_.kind) {
    case Class::LaunchBound:
    case Class::HostBound:
      return waiting_step();
    case Class::MemoryBound:
      return memory_step();
    case Class::ComputeBound:
      return compute_step();
    case Class::Mixed:
      if (bounds_.floor_is_tied()) {
        return "both limits are equally close: reduce bytes and operations alike";
      }
      return *result_.busy_share < limits_.busy ? idle_step() : busy_step();
    case Class::Unknown:
      break;
  }
  return unknown_step();
}

std::string Judge::cpu_step() {
  switch (result_.kind) {
    case Class::LaunchBound:
    case Class::HostBound:
      return "call fewer operators: fuse them or give each more work; most of the time goes to "
             "calls too short to do much";
    case Class::MemoryBound:
      return memory_step();
    case Class::ComputeBound:
      return compute_step();
    case Class::Mixed:
      if (bounds_.floor_is_tied()) {
        return "both limits are equally close: reduce bytes and operations alike";
      }
      return evidence_.operators
                 ? fmt::format("start with {}, which takes {} of the operators' time",
                               evidence_.operators->largest,
                               percent(evidence_.operators->largest_share))
                 : "far from both limits: enable pipeline.torch_profiler to see which operators "
                   "take the time";
    case Class::Unknown:
      break;
  }
  if (evidence_.is_program) {
    because("no GPU work was captured in it", "");
    const char* const how = evidence_.has_nsys ? " (pipeline.nsys.sample=process-tree)" : "";
    return fmt::format("sample the host's call stacks{} to see what it does", how);
  }
  because("how close it is to the hardware limits is not known: there is no static analysis", "");
  return evidence_.operators ? "enable pipeline.static_analysis"
                             : "enable pipeline.static_analysis and pipeline.torch_profiler";
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
