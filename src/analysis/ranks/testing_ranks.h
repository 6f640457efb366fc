#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/kernels/classify.h"
#include "analysis/ranks/capture.h"
#include "formats/chunks.h"
#include "testing/captures/planted_ranks.h"
#include "tools/torch_profiler/trace.h"

namespace profline::ranks {

inline Timeline timeline_of(const std::string& trace, const std::string& source) {
  auto timeline = torch_profiler::read_trace(chunks_of(trace), source, {});
  EXPECT_TRUE(timeline) << timeline.error().to_string();
  return timeline ? *std::move(timeline) : Timeline();
}

inline const kernels::Classifier& shipped() {
  static const kernels::Classifier classes = kernels::shipped_classifier().value();
  return classes;
}

/// The captures of a planted program, through the reader of traces.
inline std::vector<Capture> captures_of(const testing::PlantedTraces& planted) {
  std::vector<Capture> captures;
  for (std::size_t r = 0; r < planted.traces.size(); ++r) {
    const std::string source = "trace" + std::to_string(r) + ".json";
    captures.push_back(capture_of(timeline_of(planted.traces[r], source), shipped()));
  }
  return captures;
}

}  // namespace profline::ranks
