#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/codec.h"
#include "schema/field.h"
#include "schema/problems.h"
#include "settings/stage.h"

namespace profline::settings {

enum class CpuSampling { None, ProcessTree, SystemWide, Cpu };
constexpr auto names(std::type_identity<CpuSampling>) {
  return std::array{named(CpuSampling::None, "none"),
                    named(CpuSampling::ProcessTree, "process-tree"),
                    named(CpuSampling::SystemWide, "system-wide"), named(CpuSampling::Cpu, "cpu")};
}

enum class CaptureRange { None, Nvtx, CudaProfilerApi, Hotkey };
constexpr auto names(std::type_identity<CaptureRange>) {
  return std::array{named(CaptureRange::None, "none"), named(CaptureRange::Nvtx, "nvtx"),
                    named(CaptureRange::CudaProfilerApi, "cudaProfilerApi"),
                    named(CaptureRange::Hotkey, "hotkey")};
}

/// What nsys does when the captured range ends.
struct CaptureRangeEnd {
  enum class Action { None, Stop, StopShutdown, Repeat, RepeatShutdown };
  Action action = Action::Stop;
  /// Number of captures for Repeat (absent: unlimited) and RepeatShutdown.
  std::optional<std::uint32_t> count;

  bool operator==(const CaptureRangeEnd&) const = default;
  /// In nsys' spelling: `stop`, `repeat:3`.
  std::string to_string() const;
};

std::optional<CaptureRangeEnd> parse_capture_range_end(std::string_view text);

enum class GraphTrace { Graph, Node };
constexpr auto names(std::type_identity<GraphTrace>) {
  return std::array{named(GraphTrace::Graph, "graph"), named(GraphTrace::Node, "node")};
}

/// `pipeline.nsys`: the workload under Nsight Systems. An option that a preset leaves out is not
/// passed, as if it were null; the values that profline ships are in conf/profiling/nsys.
struct Nsys : Stage {
  bool gating_nvtx = true;
  std::optional<std::uint32_t> samples;
  std::optional<schema::CommaList> trace;
  std::optional<CpuSampling> sample;
  CaptureRange capture_range = CaptureRange::None;
  std::optional<CaptureRangeEnd> capture_range_end;
  std::optional<schema::OneOrMore> nvtx_capture;
  std::optional<schema::CommaList> nvtx_domain_include;
  std::optional<schema::CommaList> nvtx_domain_exclude;
  std::optional<GraphTrace> cuda_graph_trace;

  bool operator==(const Nsys&) const = default;
  /// Whether `cuda`, `nvtx`, ... are recorded; without a list nsys records both of these.
  bool traces(std::string_view what) const;
};
constexpr auto fields(std::type_identity<Nsys>) {
  return field_list(
      enable_field(),
      field(
          "gating_nvtx", &Nsys::gating_nvtx,
          "false: neither capture_range=nvtx nor the steady requests of your own program limit the "
          "capture"),
      samples_field(&Nsys::samples),
      field("trace", &Nsys::trace, "what to record, by nsys's names; null: nsys's own default"),
      field("sample", &Nsys::sample, "how the CPU is sampled; null: nsys's own default"),
      field("capture_range", &Nsys::capture_range,
            "what starts the capture; none: capture the whole run"),
      field("capture_range_end", &Nsys::capture_range_end,
            "what happens when the range ends; null or empty: nsys's own default, which ends the "
            "workload"),
      field("nvtx_capture", &Nsys::nvtx_capture,
            "the range that capture_range=nvtx waits for (otherwise no effect): name, name@domain, "
            "name@*; a list: one capture each"),
      field("nvtx_domain_include", &Nsys::nvtx_domain_include,
            "record only these NVTX domains; null: all"),
      field("nvtx_domain_exclude", &Nsys::nvtx_domain_exclude,
            "record all but these NVTX domains; null: all"),
      field("cuda_graph_trace", &Nsys::cuda_graph_trace,
            "trace CUDA graphs as a whole or by node; null: nsys's own default"),
      timeout_field());
}
Checks validate(const Nsys& nsys);

}  // namespace profline::settings

namespace profline::schema {

/// An empty string means no value, like null: `capture_range_end=` on a command line.
template <>
struct Codec<std::optional<settings::CaptureRangeEnd>> {
  static constexpr Kinds kKinds{Node::Kind::String, Node::Kind::Null};
  static std::string text(const Limits&) {
    return "one of none, stop, stop-shutdown, repeat, repeat:N, repeat-shutdown:N (N up to " +
           std::to_string(settings::kMostCaptures) + ") or null";
  }
  static void read(const Node& node, std::optional<settings::CaptureRangeEnd>& value,
                   Reader& reader);
  static Node write(const std::optional<settings::CaptureRangeEnd>& value) {
    return value ? Node::string(value->to_string()) : Node();
  }
};

}  // namespace profline::schema
