#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/document.h"
#include "schema/field.h"

namespace profline {

/// A range of this name surrounds the work for one token. The built-in workload opens them if
/// configured to; other programs may as well.
inline constexpr std::string_view kTokenRange = "decode_step";
/// A range of this name surrounds what the built-in workload does before it measures.
inline constexpr const char* kWarmUpRange = "warmup";

/// Names of the parts of the built-in residual network, which it writes as phases and opens as
/// ranges; `residual` holds both convolutions of each of its blocks.
namespace shallow_resnet {

inline constexpr const char* kStem = "stem";
inline constexpr const char* kResidual = "residual";
inline constexpr const char* kConv1 = "block.conv1";
inline constexpr const char* kConv2 = "block.conv2";
inline constexpr const char* kHead = "head";

/// In the order in which they are opened.
inline constexpr const char* kRanges[] = {kStem, kResidual, kConv1, kConv2, kHead};

}  // namespace shallow_resnet

/// Time in which a device was idle, by cause; docs/timeline.md has the rules.
struct IdleTime {
  std::int64_t queued_ns = 0;
  std::int64_t launching_ns = 0;
  std::int64_t copy_wait_ns = 0;
  std::int64_t synchronizing_ns = 0;
  std::int64_t allocating_ns = 0;
  std::int64_t host_between_ns = 0;
  std::int64_t nothing_queued_ns = 0;

  bool operator==(const IdleTime&) const = default;

  std::int64_t sum_ns() const {
    return queued_ns + launching_ns + copy_wait_ns + synchronizing_ns + allocating_ns +
           host_between_ns + nothing_queued_ns;
  }
};
constexpr auto fields(std::type_identity<IdleTime>) {
  using schema::field;
  return field_list(
      field("queued_ns", &IdleTime::queued_ns, "work was submitted but had not begun").required(),
      field("launching_ns", &IdleTime::launching_ns, "the host was inside a launch").required(),
      field("copy_wait_ns", &IdleTime::copy_wait_ns, "... inside a copy or fill").required(),
      field("synchronizing_ns", &IdleTime::synchronizing_ns, "... waiting for the device")
          .required(),
      field("allocating_ns", &IdleTime::allocating_ns, "... allocating or freeing").required(),
      field("host_between_ns", &IdleTime::host_between_ns,
            "the host did something else between two launches")
          .required(),
      field("nothing_queued_ns", &IdleTime::nothing_queued_ns,
            "before the first launch, after the last, or no record of launches")
          .required());
}

/// What a device sampled from the first to the last work of a range, or over a capture, including
/// what other programs did on it. Means are 0 to 1; null: not sampled.
struct DeviceMetrics {
  std::uint64_t samples = 0;
  std::int64_t covered_ns = 0;  ///< of the time, without gaps between samples
  std::int64_t gap_ns = 0;      ///< in which samples are missing
  std::optional<double> sm_active;
  std::optional<double> sm_issue;
  std::optional<double> tensor_active;
  std::optional<double> dram_read;
  std::optional<double> dram_write;
  std::optional<double> pcie_receive;
  std::optional<double> pcie_send;
  std::optional<double> nvlink_receive;
  std::optional<double> nvlink_send;
  std::optional<double> dram_bytes;

  bool operator==(const DeviceMetrics&) const = default;
};
constexpr auto fields(std::type_identity<DeviceMetrics>) {
  using schema::field;
  return field_list(
      field("samples", &DeviceMetrics::samples, "that cover it").required(),
      field("covered_ns", &DeviceMetrics::covered_ns, "time that the means are over").required(),
      field("gap_ns", &DeviceMetrics::gap_ns, "time in which samples are missing").required(),
      field("sm_active", &DeviceMetrics::sm_active, "SMs with a warp"),
      field("sm_issue", &DeviceMetrics::sm_issue, "cycles in which an SM issued an instruction"),
      field("tensor_active", &DeviceMetrics::tensor_active, "cycles of the matrix units"),
      field("dram_read", &DeviceMetrics::dram_read, "of the peak bandwidth"),
      field("dram_write", &DeviceMetrics::dram_write, "of the peak bandwidth"),
      field("pcie_receive", &DeviceMetrics::pcie_receive, "of the peak bandwidth"),
      field("pcie_send", &DeviceMetrics::pcie_send, "of the peak bandwidth"),
      field("nvlink_receive", &DeviceMetrics::nvlink_receive, "of the peak bandwidth"),
      field("nvlink_send", &DeviceMetrics::nvlink_send, "of the peak bandwidth"),
      field("dram_bytes", &DeviceMetrics::dram_bytes,
            "read and written; null: the peak bandwidth is not known"));
}

/// Where the time of a range, or of a capture, went on one device. All of the wall time is
/// assigned: `busy_ns + idle.sum_ns() + residual_ns` equals it.
struct DeviceAccount {
  std::int32_t device = 0;
  std::int64_t busy_ns = 0;  ///< union of all work
  std::int64_t compute_ns = 0;
  std::int64_t copy_ns = 0;
  std::int64_t communication_ns = 0;
  IdleTime idle;
  std::int64_t residual_ns = 0;
  /// The range's own work, launched inside it: its union, and the part inside the range.
  std::int64_t own_busy_ns = 0;
  std::int64_t own_inside_ns = 0;
  std::optional<DeviceMetrics> metrics = {};  ///< null: not sampled, or too short

  bool operator==(const DeviceAccount&) const = default;
};
constexpr auto fields(std::type_identity<DeviceAccount>) {
  using schema::field;
  return field_list(
      field("device", &DeviceAccount::device, "as CUDA counts them").required(),
      field("busy_ns", &DeviceAccount::busy_ns, "something ran: the union of all work").required(),
      field("compute_ns", &DeviceAccount::compute_ns, "a kernel ran, other work or not").required(),
      field("copy_ns", &DeviceAccount::copy_ns, "a copy or fill ran, other work or not").required(),
      field("communication_ns", &DeviceAccount::communication_ns, "a collective ran").required(),
      field("idle", &DeviceAccount::idle, "nothing ran, by cause").required(),
      field("residual_ns", &DeviceAccount::residual_ns, "wall minus busy minus idle").required(),
      field("own_busy_ns", &DeviceAccount::own_busy_ns, "union of the work launched in it")
          .required(),
      field("own_inside_ns", &DeviceAccount::own_inside_ns, "the part of that which ran inside it")
          .required(),
      field("metrics", &DeviceAccount::metrics,
            "sampled from the first to the last of that work; null: not sampled"));
}

/// Counts and times of launches.
struct LaunchAccount {
  std::uint64_t launches = 0;    ///< calls that launch a kernel or a graph
  std::uint64_t copy_calls = 0;  ///< calls that copy or fill
  std::uint64_t gaps = 0;        ///< between the end of a launch and the thread's next one
  std::int64_t gap_sum_ns = 0;
  std::uint64_t delays = 0;  ///< from the beginning of a launch to that of its work
  std::int64_t delay_sum_ns = 0;

  bool operator==(const LaunchAccount&) const = default;

  std::optional<double> mean_gap_ns() const {
    if (gaps == 0) return std::nullopt;
    return static_cast<double>(gap_sum_ns) / static_cast<double>(gaps);
  }
};
constexpr auto fields(std::type_identity<LaunchAccount>) {
  using schema::field;
  return field_list(
      field("launches", &LaunchAccount::launches, "calls that launch a kernel or a graph")
          .required(),
      field("copy_calls", &LaunchAccount::copy_calls, "calls that copy or fill").required(),
      field("gaps", &LaunchAccount::gaps, "between a launch's end and the thread's next one")
          .required(),
      field("gap_sum_ns", &LaunchAccount::gap_sum_ns, "of those").required(),
      field("delays", &LaunchAccount::delays, "from a launch's beginning to its work's").required(),
      field("delay_sum_ns", &LaunchAccount::delay_sum_ns, "of those").required());
}

/// All ranges of one name and domain in one capture, whichever tool captured it.
struct RangeUse {
  std::string capture;  ///< NsysCapture::name
  std::string name;
  std::string domain;               ///< empty: the default one
  std::vector<std::string> around;  ///< labels around the first instance, outermost first
  std::uint64_t instances = 0;
  std::uint64_t still_open = 0;  ///< instances that the capture's end cut off
  std::int64_t wall_ns = 0;      ///< of all instances
  LaunchAccount launch;
  std::vector<DeviceAccount> devices;   ///< those active in the capture
  std::uint64_t work = 0;               ///< pieces of device work launched in it
  std::int64_t work_sum_ns = 0;         ///< of their durations
  std::optional<std::uint64_t> tokens;  ///< made in it; null: not known
  std::string tokens_from;              ///< kTokenRange, `requests.jsonl`; empty: not known

  bool operator==(const RangeUse&) const = default;

  /// The name used in a kernel's `ranges`: `decode`, `domain:decode`.
  std::string label() const { return domain.empty() ? name : domain + ":" + name; }
  std::optional<double> launches_per_token() const {
    if (!tokens || *tokens == 0) return std::nullopt;
    return static_cast<double>(launch.launches) / static_cast<double>(*tokens);
  }
};
constexpr auto fields(std::type_identity<RangeUse>) {
  using schema::field;
  return field_list(
      field("capture", &RangeUse::capture, "the capture it belongs to").required(),
      field("name", &RangeUse::name, "of the NVTX range").required(),
      field("domain", &RangeUse::domain, "empty: the default one").required(),
      field("around", &RangeUse::around, "ranges around it, outermost first").required(),
      field("instances", &RangeUse::instances, "how often it opened").required(),
      field("still_open", &RangeUse::still_open, "of those, cut off by the capture's end")
          .required(),
      field("wall_ns", &RangeUse::wall_ns, "of all instances").required(),
      field("launch", &RangeUse::launch, "calls made in it").required(),
      field("devices", &RangeUse::devices, "where its time went, per device").required(),
      field("work", &RangeUse::work, "pieces of device work launched in it").required(),
      field("work_sum_ns", &RangeUse::work_sum_ns, "of their durations").required(),
      field("tokens", &RangeUse::tokens, "made in it; null: not known"),
      field("tokens_from", &RangeUse::tokens_from, "source of the count; empty: not known")
          .required());
}

/// Counts of work that belongs to no range.
struct UnplacedWork {
  std::uint64_t outside_ranges = 0;
  std::int64_t outside_ranges_ns = 0;
  std::uint64_t without_launch = 0;
  std::int64_t without_launch_ns = 0;
  std::uint64_t without_device = 0;
  std::int64_t without_device_ns = 0;
  std::uint64_t launches_without_work = 0;

  bool operator==(const UnplacedWork&) const = default;
};
constexpr auto fields(std::type_identity<UnplacedWork>) {
  using schema::field;
  return field_list(
      field("outside_ranges", &UnplacedWork::outside_ranges, "launched in no range").required(),
      field("outside_ranges_ns", &UnplacedWork::outside_ranges_ns, "sum of durations").required(),
      field("without_launch", &UnplacedWork::without_launch, "no record of its launch").required(),
      field("without_launch_ns", &UnplacedWork::without_launch_ns, "sum of durations").required(),
      field("without_device", &UnplacedWork::without_device, "its stream is not known").required(),
      field("without_device_ns", &UnplacedWork::without_device_ns, "sum of durations").required(),
      field("launches_without_work", &UnplacedWork::launches_without_work,
            "captured into a graph, or the work was not recorded")
          .required());
}

/// From the first to the last activity of one device in a capture.
struct GpuSpan {
  std::int32_t device = 0;
  std::int64_t begin_ns = 0;  ///< since the capture's first event
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;  ///< of the time in between

  bool operator==(const GpuSpan&) const = default;

  std::int64_t length_ns() const { return end_ns - begin_ns; }
};
constexpr auto fields(std::type_identity<GpuSpan>) {
  using schema::field;
  return field_list(
      field("device", &GpuSpan::device, "as CUDA counts them").required(),
      field("begin_ns", &GpuSpan::begin_ns, "of its first work, since the capture's first event")
          .required(),
      field("end_ns", &GpuSpan::end_ns, "of the work that ended last").required(),
      field("busy_ns", &GpuSpan::busy_ns, "time in between in which something ran").required());
}

/// One nsys report. A range that repeats produces several per run.
struct NsysCapture {
  std::string name;    ///< unique: `run`, `run.2`, `decode`, `decode.2`
  std::string range;   ///< the range that gated it, as passed to nsys; may be empty
  std::string report;  ///< the files, below the stage's folder
  std::string sqlite;
  std::int64_t wall_ns = 0;  ///< from the first to the last of its events
  std::uint64_t kernels = 0;
  std::uint64_t calls = 0;   ///< of the CUDA API
  std::uint64_t ranges = 0;  ///< instances
  LaunchAccount launch;
  std::vector<DeviceAccount> devices;
  std::vector<GpuSpan> gpu_spans;  ///< as `devices`; empty in files of 0.1
  std::vector<std::string> gpus;   ///< names, in the order of their numbers
  UnplacedWork unplaced;
  std::vector<std::string> losses;  ///< reported by nsys, or because the file is damaged
  std::vector<std::string> notes;
  std::uint64_t events_used = 0;
  std::uint64_t events_skipped = 0;

  bool operator==(const NsysCapture&) const = default;
};
constexpr auto fields(std::type_identity<NsysCapture>) {
  using schema::field;
  return field_list(
      field("name", &NsysCapture::name, "unique in this file").required(),
      field("range", &NsysCapture::range, "the range that gated it; may be empty").required(),
      field("report", &NsysCapture::report, "the .nsys-rep, below the stage's folder").required(),
      field("sqlite", &NsysCapture::sqlite, "its export, below the stage's folder").required(),
      field("wall_ns", &NsysCapture::wall_ns, "from its first event to its last").required(),
      field("kernels", &NsysCapture::kernels, "launches that ran").required(),
      field("calls", &NsysCapture::calls, "of the CUDA API").required(),
      field("ranges", &NsysCapture::ranges, "instances of NVTX ranges").required(),
      field("launch", &NsysCapture::launch, "calls made in it").required(),
      field("devices", &NsysCapture::devices, "where its time went, per device").required(),
      field("gpu_spans", &NsysCapture::gpu_spans, "first to last activity, per device"),
      field("gpus", &NsysCapture::gpus, "names of the GPUs").required(),
      field("unplaced", &NsysCapture::unplaced, "work that belongs to no range").required(),
      field("losses", &NsysCapture::losses, "what is missing from it").required(),
      field("notes", &NsysCapture::notes, "what else a reader must know").required(),
      field("events_used", &NsysCapture::events_used, "rows of its tables that were used")
          .required(),
      field("events_skipped", &NsysCapture::events_skipped, "rows that were not").required());
}

/// `nsys/ranges.json`: where time went, by capture and range.
struct NsysRanges {
  static constexpr DocumentKind kKind{"nsys_ranges", 1};

  std::string tool;  ///< `nsys 2023.4.4`
  std::vector<NsysCapture> captures;
  std::vector<RangeUse> ranges;  ///< by capture, longest wall time first

  bool operator==(const NsysRanges&) const = default;
};
constexpr auto fields(std::type_identity<NsysRanges>) {
  using schema::field;
  return field_list(field("tool", &NsysRanges::tool, "the profiler and its version").required(),
                    field("captures", &NsysRanges::captures, "one per report").required(),
                    field("ranges", &NsysRanges::ranges, "by capture, longest first").required());
}

/// A name for a file or folder from a label, such as that of an NVTX range: `A::A1` is `A__A1`.
/// Everything but letters, digits, `.`, `_` and `-` becomes `_`; a name without any of these is
/// `range`. Labels are untrusted text: the result is never empty, hidden or a path.
std::string folder_name(std::string_view label);

}  // namespace profline
