#pragma once

#include <string>
#include <vector>

#include "records/run_summary.h"

namespace profline::summary {

/// Which files the table of stages is from, stage after stage: pages name each once.
struct StageSources {
  std::vector<std::string> times{};
  std::vector<std::string> costs{};
  std::vector<std::string> devices{};
  std::string ceilings{};  ///< whose floors are told; empty: not known
  std::string shapes{};
};
StageSources stage_sources(const RunSummary& summary);

}  // namespace profline::summary
