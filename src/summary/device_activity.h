#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/judgement/judge.h"
#include "analysis/requests/phases.h"
#include "run/artifacts.h"

namespace profline::summary {

/// How well a capture with this gate shows a phase, best first: one gated on the phase itself, one
/// of everything, one of what is around it. Of several captures only the best is used: the same
/// work may be in more than one.
int gate_rank(const requests::PhaseTree& tree, const std::string& gate, const std::string& phase);

/// What gates the capture of this name; empty: nothing does, or it is not known.
std::string gate_of(const run::Run& run, const std::string& capture);

/// What the profilers saw of the device in each phase: nsys where it captured the phase, else the
/// torch profiler.
class DeviceActivities {
 public:
  /// The run and its phases must outlive it.
  DeviceActivities(const run::Run& run, const requests::PhaseTree& tree);

  /// Nothing when no tool saw the device work in this phase.
  std::optional<judgement::DeviceActivity> find(const std::string& phase) const;
  /// All of a capture of nsys', in ranges and outside of them; nothing without device work.
  static std::optional<judgement::DeviceActivity> of_capture(const NsysCapture& capture,
                                                             const std::string& file);
  /// Names of all ranges that nsys saw, longest first.
  std::vector<std::string> range_names() const;

 private:
  struct Rows {
    RangeUse sum;  ///< over captures
    /// Instances of the outermost phase around this one in the same captures.
    std::uint64_t requests = 0;
    std::string gate;
  };
  std::optional<Rows> nsys_rows(const std::string& phase) const;
  std::optional<Rows> traced_rows(const std::string& phase) const;
  std::optional<judgement::DeviceActivity> activity(const std::string& phase, const Rows& rows,
                                                    const std::string& tool,
                                                    const std::string& file) const;
  const run::Requests* requests_of(const std::string& tool, const std::string& gate) const;

  /// The range of the outermost phase around a phase; empty: nothing is around it.
  std::string range_around(const std::string& phase) const;

  const run::Run& run_;
  const run::Artifact<run::Requests>& baseline_ = run_.baseline();
  const run::Artifact<Timeline>& trace_ = run_.get(run::kTorchTrace);
  const run::Artifact<NsysRanges>& nsys_ranges_ = run_.get(run::kNsysRanges);
  const requests::PhaseTree& tree_;
  std::vector<RangeUse> traced_;
};

}  // namespace profline::summary
