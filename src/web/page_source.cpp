#include "web/page_source.h"

#include "summary/phases.h"

namespace profline::web {
namespace {

/// The file that shows a phase: the capture gated on it, else one that contains it, else the first.
std::string sqlite_of(const NsysRanges& ranges, const std::string& phase) {
  std::string seen_in;
  for (const RangeUse& range : ranges.ranges) {
    if (range.name == phase && seen_in.empty()) seen_in = range.capture;
  }
  const NsysCapture* best = nullptr;
  for (const NsysCapture& capture : ranges.captures) {
    if (capture.range == phase) return capture.sqlite;
    if (best == nullptr || capture.name == seen_in) best = &capture;
  }
  return best == nullptr ? "" : best->sqlite;
}

/// Null: nsys' tables name no capture.
const run::Artifact<Timeline>* capture_of(const run::Run& run, const RunSummary& summary) {
  const auto& ranges = run.get(run::kNsysRanges);
  const PhaseSummary* const leading = summary::leading_phase(summary);
  const std::string sqlite =
      ranges ? sqlite_of(*ranges, leading == nullptr ? "" : leading->name) : "";
  return sqlite.empty() ? nullptr : &run.capture(sqlite);
}

}  // namespace

ShownCapture PageSource::shown_capture() const {
  const auto* capture = capture_of(run, summary);
  if (capture != nullptr && *capture) return {capture->file, run::stages::kNsys, &**capture};
  const auto& trace = run.get(run::kTorchTrace);
  if (trace) return {trace.file, run::stages::kTorchProfiler, &*trace};
  return {};
}

std::string PageSource::why_no_capture() const {
  if (const auto* capture = capture_of(run, summary)) return capture->file + " " + capture->why_not;
  const auto& ranges = run.get(run::kNsysRanges);
  return ranges.file + " " + (ranges ? "names no capture" : ranges.why_not);
}

}  // namespace profline::web
