#include "stages/server/internal/session_parts.h"
#include "workloads/server/http_request.h"

namespace profline::stages::internal {

using std::chrono::milliseconds;

/// The engine's own sums; nothing if it has no such page.
std::optional<server::EngineTimes> EngineWatch::ask() const {
  if (!readiness_.address()) return std::nullopt;
  constexpr milliseconds kShort{500};
  constexpr std::size_t kLargePage = std::size_t{8} << 20U;  // vLLM's has a histogram per engine
  const auto answer = server::call(*readiness_.address(),
                                   {.path = "/metrics", .timeout = kShort, .most_body = kLargePage},
                                   [this] { return session_.is_stopping(); });
  constexpr int kOk = 200;
  if (!answer || answer->status != kOk) return std::nullopt;
  return server::parse_engine_times(answer->body);
}

std::optional<ServerFirstToken> EngineWatch::since_begin(std::uint64_t requests) const {
  if (!when_warm_) return std::nullopt;
  const auto now = ask();
  if (!now) return std::nullopt;
  const server::MeanTimes mean =
      server::mean_times(*when_warm_, *now, requests - requests_when_warm_);
  if (!mean.queue_ns && !mean.prefill_ns) return std::nullopt;
  ServerFirstToken first;
  first.queue_ns = mean.queue_ns;
  first.prefill_ns = mean.prefill_ns;
  first.source = "the engine's /metrics";
  return first;
}

void EngineWatch::begin(std::uint64_t requests) {
  when_warm_ = ask();
  requests_when_warm_ = requests;
}

}  // namespace profline::stages::internal
