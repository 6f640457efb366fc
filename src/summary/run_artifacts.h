#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "records/environment.h"
#include "records/ncu_kernels.h"
#include "records/nsys_kernels.h"
#include "records/nsys_ranges.h"
#include "records/run_record.h"
#include "records/sample.h"
#include "records/timeline.h"
#include "records/torch_operators.h"
#include "settings/root.h"
#include "summary/static_costs.h"

namespace profline::summary {

/// What a file of a run holds, or why nothing was read from it.
template <typename T>
struct Artifact {
  std::string file;  ///< below the run's folder
  std::optional<T> content = {};
  std::string why_not = {};  ///< `is not there`, or what is wrong with it
  bool is_there = false;

  explicit operator bool() const { return content.has_value(); }
  const T* operator->() const { return &*content; }
  const T& operator*() const { return *content; }
};

using Samples = std::vector<Sample>;

/// The workload's own record of a run under a profiler.
struct ProfiledSamples {
  std::string stage;  ///< `nsys`
  std::string gate;   ///< the region, where the stage has one capture for each; else empty
  Artifact<Samples> samples;
};

/// A picture's size, by the name that samples give it.
struct InputSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

/// All that a report is made of. Only run.json has to be there.
struct RunArtifacts {
  std::filesystem::path folder;
  RunRecord run;
  Artifact<settings::Root> settings;
  Artifact<Environment> environment;
  Artifact<Samples> baseline;
  Artifact<Node> metrics;
  Artifact<Node> process;  ///< of a program that is not ours
  Artifact<std::map<std::string, InputSize>> inputs;
  Artifact<StaticCosts> static_costs;
  Artifact<TorchOperators> operators;
  Artifact<Timeline> trace;
  Artifact<NsysRanges> nsys_ranges;
  Artifact<NsysKernels> nsys_kernels;
  Artifact<NcuKernels> ncu_kernels;
  std::vector<ProfiledSamples> profiled;
};

/// Reads a run's folder. An Error when it is none; a file that cannot be read is told in its
/// Artifact.
Result<RunArtifacts> read_run(const std::filesystem::path& folder);

}  // namespace profline::summary
