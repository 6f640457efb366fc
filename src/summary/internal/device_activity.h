#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/judgement/judge.h"
#include "analysis/requests/phases.h"
#include "analysis/requests/steady.h"
#include "run/artifacts.h"

namespace profline::summary {

/// How well a capture with this gate shows a phase, best first: gated on the phase itself, ungated,
/// gated on an enclosing phase. Of several captures only the best is used, because the same work
/// may be in more than one.
int gate_rank(const requests::PhaseTree& tree, const std::string& gate, const std::string& phase);

/// The gate of the capture of this name; empty: not gated, or not known.
std::string gate_of(const run::Run& run, const std::string& capture);

/// Device activity per phase: from nsys where it captured the phase, else from the torch profiler.
class DeviceActivities {
 public:
  /// All three must outlive it. `steady` is the steady part of the baseline.
  DeviceActivities(const run::Run& run, const requests::PhaseTree& tree,
                   const requests::SteadyPart& steady);

  /// Nothing if no tool recorded device work in this phase.
  std::optional<judgement::DeviceActivity> find(const std::string& phase) const;
  /// A whole nsys capture, inside and outside ranges; nothing if it has no device work.
  static std::optional<judgement::DeviceActivity> of_capture(const NsysCapture& capture,
                                                             const std::string& file);
  /// The names of all ranges that nsys recorded, longest first.
  std::vector<std::string> range_names() const;

 private:
  struct Rows {
    RangeUse sum;  ///< over captures
    /// Instances, in the same captures, of the outermost phase that encloses this one.
    std::uint64_t requests = 0;
    std::string gate;
  };
  std::optional<Rows> nsys_rows(const std::string& phase) const;
  std::optional<Rows> traced_rows(const std::string& phase) const;
  std::optional<judgement::DeviceActivity> activity(const std::string& phase, const Rows& rows,
                                                    const std::string& tool,
                                                    const std::string& file) const;
  const run::Requests* requests_of(const std::string& tool, const std::string& gate) const;

  /// The range of the outermost enclosing phase; empty: the phase is outermost itself.
  std::string range_around(const std::string& phase) const;

  const run::Run& run_;
  const run::Artifact<run::Requests>& baseline_ = run_.baseline();
  const run::Artifact<Timeline>& trace_ = run_.get(run::kTorchTrace);
  const run::Artifact<NsysRanges>& nsys_ranges_ = run_.get(run::kNsysRanges);
  const requests::PhaseTree& tree_;
  const requests::SteadyPart& steady_;
  std::vector<RangeUse> traced_;
};

}  // namespace profline::summary
