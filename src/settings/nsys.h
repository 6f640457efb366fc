#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "schema/codec.h"
#include "schema/field.h"
#include "schema/problems.h"
#include "schema/text_list.h"
#include "settings/limits.h"
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
  /// Captures of Repeat (none: as many as come) and of RepeatShutdown.
  std::optional<std::uint32_t> count;

  bool operator==(const CaptureRangeEnd&) const = default;
  /// As nsys spells it: `stop`, `repeat:3`.
  std::string to_string() const;
};

std::optional<CaptureRangeEnd> parse_capture_range_end(std::string_view text);

enum class GraphTrace { Graph, Node };
constexpr auto names(std::type_identity<GraphTrace>) {
  return std::array{named(GraphTrace::Graph, "graph"), named(GraphTrace::Node, "node")};
}

/// `pipeline.nsys`: the workload under Nsight Systems.
struct Nsys : Stage {
  bool gating_nvtx = true;
  std::optional<std::uint32_t> samples = 1;
  schema::CommaList trace{{"cuda", "nvtx", "osrt"}};
  CpuSampling sample = CpuSampling::None;
  CaptureRange capture_range = CaptureRange::None;
  std::optional<CaptureRangeEnd> capture_range_end = CaptureRangeEnd{};
  std::optional<schema::OneOrMore> nvtx_capture = schema::OneOrMore{{"prefill"}};
  std::optional<schema::CommaList> nvtx_domain_include;
  std::optional<schema::CommaList> nvtx_domain_exclude;
  std::optional<GraphTrace> cuda_graph_trace;

  bool operator==(const Nsys&) const = default;
};
constexpr auto fields(std::type_identity<Nsys>) {
  return std::tuple(
      enable_field(),
      field("gating_nvtx", &Nsys::gating_nvtx,
            "false: capture_range=nvtx does not limit the capture"),
      field("samples", &Nsys::samples, "first images of the baseline's list; null: all")
          .range(1, kMostImages),
      field("trace", &Nsys::trace, "what is recorded, by nsys's names"),
      field("sample", &Nsys::sample, "sampling of the CPU"),
      field("capture_range", &Nsys::capture_range,
            "what opens the capture; none: all of it is captured"),
      field("capture_range_end", &Nsys::capture_range_end,
            "what happens when the range ends; null: left to nsys, which ends the workload"),
      field("nvtx_capture", &Nsys::nvtx_capture,
            "range of capture_range=nvtx: name, name@domain, name@*; a list: one capture each"),
      field("nvtx_domain_include", &Nsys::nvtx_domain_include,
            "record only these NVTX domains; null: all"),
      field("nvtx_domain_exclude", &Nsys::nvtx_domain_exclude,
            "record all but these NVTX domains; null: all"),
      field("cuda_graph_trace", &Nsys::cuda_graph_trace,
            "CUDA graphs as a whole or by node; null: left to nsys"),
      timeout_field());
}
Checks validate(const Nsys& nsys);

}  // namespace profline::settings

namespace profline::schema {

template <>
struct Codec<settings::CaptureRangeEnd> {
  static constexpr Kinds kKinds{Node::Kind::String};
  static std::string text(const Limits&) {
    return "one of none, stop, stop-shutdown, repeat, repeat:N, repeat-shutdown:N (N up to " +
           std::to_string(settings::kMostCaptures) + ")";
  }
  static void read(const Node& node, settings::CaptureRangeEnd& value, Reader& reader);
  static Node write(const settings::CaptureRangeEnd& value) {
    return Node::string(value.to_string());
  }
};

}  // namespace profline::schema
