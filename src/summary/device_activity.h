#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/judgement/evidence.h"
#include "summary/run_artifacts.h"

namespace profline::summary {

/// How well a capture with this gate shows a stage, best first: one gated on the stage itself, one
/// of everything, one of what is around it. Of several captures only the best is used: the same
/// work may be in more than one.
int gate_rank(const std::string& gate, const std::string& stage);

/// What gates the capture of this name; empty: nothing does, or it is not known.
std::string gate_of(const RunArtifacts& run, const std::string& capture);

/// What the profilers saw of the device in each stage of the model: nsys where it captured the
/// stage, else the torch profiler.
class DeviceActivities {
 public:
  /// The run must outlive it.
  explicit DeviceActivities(const RunArtifacts& run);

  /// Nothing when no tool saw the device work in this stage.
  std::optional<judgement::DeviceActivity> find(const std::string& stage) const;
  /// All of a capture of nsys', in ranges and outside of them; nothing without device work.
  static std::optional<judgement::DeviceActivity> of_capture(const NsysCapture& capture,
                                                             const std::string& file);
  /// Names of all ranges that nsys saw, longest first.
  std::vector<std::string> range_names() const;

 private:
  struct Rows {
    NsysRange sum;               ///< over captures
    std::uint64_t prefills = 0;  ///< instances of prefill in the same captures
    std::string gate;
  };
  std::optional<Rows> nsys_rows(const std::string& stage) const;
  std::optional<Rows> traced_rows(const std::string& stage) const;
  std::optional<judgement::DeviceActivity> activity(const std::string& stage, const Rows& rows,
                                                    const std::string& tool,
                                                    const std::string& file) const;
  const Samples* samples_of(const std::string& tool, const std::string& gate) const;

  const RunArtifacts& run_;
  std::vector<NsysRange> traced_;
};

}  // namespace profline::summary
