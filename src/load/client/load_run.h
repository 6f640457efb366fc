#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "load/arrivals.h"
#include "load/client/http_loop.h"
#include "load/metrics.h"
#include "records/load.h"
#include "records/request.h"
#include "settings/load.h"

/// A complete load on a server: finds out what the server accepts, makes the prompts, then loads it
/// once or, for a search, several times.
namespace profline::load {

struct LoadJob {
  settings::Load load;
  std::string url;                       ///< of the server, without the endpoint
  std::optional<std::string> api_key{};  ///< sent, never stored
  std::filesystem::path base{};          ///< where relative paths start
  /// The load goes on until `finishing` holds, whatever `load.measure` says.
  bool until_asked = false;
};

struct LoadHooks {
  std::function<bool()> stopping;
  std::function<void(const std::string& line)> status;  ///< what is going on, on one line
  /// Whether no more requests are to be sent; those in flight are still answered. May be absent.
  std::function<bool()> finishing{};
  /// A line of progress.jsonl's kind: what began or ended. May be absent.
  std::function<void(const std::string& line)> progress{};
};

struct LoadResult {
  LoadRecord record;
  std::vector<Request> requests;
  std::vector<Node> responses;  ///< lines of responses.jsonl; only if they are to be stored
};

/// An Error means that the load could not be attempted: a file of prompts that cannot be read, say.
/// A server that does not answer is a result.
Result<LoadResult> run_load(const LoadJob& job, const LoadHooks& hooks);

/// The load so far, for people.
struct LiveStatus {
  std::uint64_t done = 0;                ///< measured requests that have ended
  std::optional<std::uint64_t> total{};  ///< measured requests; nothing if a time is measured
  double elapsed_s = 0;                  ///< since the first measured request
  std::optional<double> seconds{};       ///< to measure
  std::uint64_t warming_up = 0;          ///< requests of the warm-up that have ended
  std::uint64_t warmup = 0;              ///< requests of the warm-up
  double per_second = 0;                 ///< requests that ended, over the last seconds
  std::size_t in_flight = 0;
  std::uint64_t errors = 0;
  std::optional<double> ttft_p50_ms{};
  std::optional<double> ttft_p99_ms{};
};

/// One request to send.
struct PlannedRequest {
  HttpRequest http;
  std::uint32_t output_tokens = 0;
  std::size_t prompt = 0;
};

/// A load: closed if `due_ns` is empty, else open.
struct LoadPlan {
  std::vector<std::int64_t> due_ns{};  ///< since the start
  std::uint32_t concurrency = 1;       ///< of a closed loop
  Extent extent{};
  std::function<PlannedRequest(std::uint64_t index)> request{};
  bool keep_text = false;
  /// A search ends a run as soon as more requests than this are bad.
  std::optional<std::uint64_t> most_bad{};
  settings::Slo slo{};
};

struct GeneratedLoad {
  Observation observation;
  bool ended_early = false;  ///< too many were bad
  bool interrupted = false;
};

struct GeneratorHooks {
  std::function<bool()> stopping;
  std::function<void(const LiveStatus& status)> status;
  std::function<bool()> finishing{};                        ///< as in LoadHooks
  std::function<void(const std::string& line)> progress{};  ///< as in LoadHooks
};

/// Sends the requests of a plan and waits for all answers. A failed request does not stop the rest.
GeneratedLoad generate(HttpLoop& loop, const LoadPlan& plan, const GeneratorHooks& hooks);

}  // namespace profline::load
