#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "formats/node.h"
#include "records/load.h"
#include "records/request.h"
#include "records/run_record.h"
#include "settings/load.h"

namespace profline::testing {

/// What a load of a made-up server is like.
struct LoadShape {
  std::uint32_t requests = 200;
  std::uint32_t concurrency = 8;  ///< of a closed loop
  double rate = 0;                ///< above 0: an open loop
  double ttft_ms = 40;            ///< values lie around this
  double token_ms = 8;
  std::uint32_t tokens = 32;
  std::uint32_t failures = 0;  ///< of the requests, http_503 and reset in turn
  double lateness_ms = 0.05;   ///< with which the client sends
  settings::Slo slo{};
  std::uint64_t seed = 1;
};

/// The folder of `profline load`, computed from made-up events by the load generator's own code. A
/// test changes what it is about, then writes it.
struct LoadRun {
  explicit LoadRun(const LoadShape& shape = {});

  /// Writes run.json, the config, load.json and requests.jsonl.
  void write(const std::filesystem::path& folder) const;

  RunRecord run;
  Node config;
  LoadRecord load;
  std::vector<Request> requests;
};

/// A search that found 12 requests/s.
LoadSearch made_up_search();

}  // namespace profline::testing
