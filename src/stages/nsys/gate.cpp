#include <algorithm>
#include <array>

#include "base/files.h"
#include "stages/nsys/internal/captures.h"
#include "tools/nsys/commands.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using settings::CaptureRange;
using settings::CaptureRangeEnd;

/// How many ranges are captured, the first of which are dropped again: nsys cannot skip any, and
/// closing a capture holds up the program for most of a second.
constexpr std::uint32_t kCapturedRanges = 3;

constexpr std::array kKinds = {CaptureGate::Requests, CaptureGate::Ranges, CaptureGate::Everything};

}  // namespace

bool takes_baselines_gate(const pipeline::RunSetup& setup) {
  const settings::Nsys& own = setup.settings.pipeline.nsys;
  return follows_baseline(setup) && own.gating_nvtx && own.capture_range == CaptureRange::None;
}

std::span<const CaptureGate> gate_kinds() {
  return kKinds;
}

pipeline::RunSetup gated(const pipeline::RunSetup& setup, CaptureGate kind) {
  pipeline::RunSetup changed = setup;
  settings::Nsys& own = changed.settings.pipeline.nsys;
  if (kind == CaptureGate::Requests) {
    own.capture_range = CaptureRange::CudaProfilerApi;
    own.capture_range_end = CaptureRangeEnd{.action = CaptureRangeEnd::Action::Stop, .count = {}};
  } else if (kind == CaptureGate::Ranges) {
    own.capture_range = CaptureRange::Nvtx;
    own.nvtx_capture = schema::OneOrMore{{setup.settings.pipeline.workload.request_range + "@*"}};
    own.capture_range_end =
        CaptureRangeEnd{.action = CaptureRangeEnd::Action::Repeat, .count = kCapturedRanges};
  }
  return changed;
}

pipeline::RunSetup as_captured(const pipeline::RunSetup& setup) {
  if (!takes_baselines_gate(setup)) return setup;
  pipeline::RunSetup captured =
      gated(setup, read_gate(setup.stage_folder(run::stages::kNsys)).gate);
  // Fewer captures than this are no surprise: the number was ours, and warm-up was dropped.
  auto& end = captured.settings.pipeline.nsys.capture_range_end;
  if (end) end->count.reset();
  return captured;
}

std::string capture_name(CaptureGate kind) {
  switch (kind) {
    case CaptureGate::Requests:
      return "capture requests";
    case CaptureGate::Ranges:
      return "capture ranges";
    case CaptureGate::Everything:
      break;
  }
  return "capture";
}

bool never_opened(const NsysSession& session, const Exit& exit) {
  if (!exit.succeeded() || !nsys_reports(session).empty() ||
      !unimported_captures(session).empty()) {
    return false;
  }
  const nsys::Messages messages = nsys::read_messages(exit.tail);
  return messages.finished && messages.ranges_started == 0;
}

CapturedRequests drop_warm_up(const NsysSession& session, const ProgramGate& gate) {
  const std::vector<NsysReport> reports = nsys_reports(session);
  if (reports.empty()) return {};
  const std::size_t dropped = std::min<std::size_t>(gate.first, reports.size() - 1);
  std::error_code ignored;
  for (std::size_t i = 0; i < dropped; ++i) fs::remove(reports[i].report, ignored);
  return {.first = dropped, .count = reports.size() - dropped};
}

void report_cold(const CapturedRequests& captured, const ProgramGate& gate,
                 pipeline::StageRun& run) {
  if (captured.count == 0 || captured.first >= gate.first) return;
  run.report({pipeline::Severity::Note, "cold_requests",
              "nsys captured request " + std::to_string(captured.first + 1) +
                  ", which may have one-time costs: it captures only the first ranges, and " +
                  "steady requests begin with number " + std::to_string(gate.first + 1),
              "pipeline.nsys.gating_nvtx=false captures the whole program"});
}

}  // namespace profline::stages::internal
