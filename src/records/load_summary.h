#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/load.h"
#include "records/run_record.h"
#include "schema/field.h"

namespace profline {

/// A load on a server: what load.json has, without what only charts show.
struct SummaryLoad {
  std::string configuration;
  std::string url;
  std::string model;
  std::string server;
  std::optional<std::uint64_t> concurrency;
  std::optional<double> rate;
  std::optional<double> slo_ttft_ms;
  std::optional<double> slo_tpot_ms;
  std::optional<double> slo_share;
  LoadCounts counts;
  LoadSteady steady;
  LoadMetrics metrics;
  std::vector<LoadError> errors;
  LoadClient client;
  LoadLimit limit = LoadLimit::Server;
  std::string limit_reason;
  bool interrupted = false;
  std::optional<LoadSearch> search;
  std::vector<Finding> findings;
  std::string source;

  bool operator==(const SummaryLoad&) const = default;
};
constexpr auto fields(std::type_identity<SummaryLoad>) {
  return field_list(
      field("configuration", &SummaryLoad::configuration, "what was sent, in sentences").required(),
      field("url", &SummaryLoad::url, "where requests were sent"),
      field("model", &SummaryLoad::model, "as requests named it; empty: not named"),
      field("server", &SummaryLoad::server, "as the server names itself; empty: it does not"),
      field("concurrency", &SummaryLoad::concurrency, "of a closed loop"),
      field("rate", &SummaryLoad::rate, "requests per second that were offered, of an open loop"),
      field("slo_ttft_ms", &SummaryLoad::slo_ttft_ms, "longest TTFT of a good request; null: any"),
      field("slo_tpot_ms", &SummaryLoad::slo_tpot_ms, "longest TPOT of a good request; null: any"),
      field("slo_share", &SummaryLoad::slo_share,
            "of requests that a search wants to be good; null: there are no SLOs"),
      field("counts", &SummaryLoad::counts, "of requests and tokens"),
      field("steady", &SummaryLoad::steady, "the part that metrics are computed from"),
      field("metrics", &SummaryLoad::metrics, "over the steady part"),
      field("errors", &SummaryLoad::errors, "by kind, most frequent first"),
      field("client", &SummaryLoad::client, "the client's own error"),
      field("limit", &SummaryLoad::limit, "who kept the load from being served faster"),
      field("limit_reason", &SummaryLoad::limit_reason, "why, in words"),
      field("interrupted", &SummaryLoad::interrupted, "the load was stopped before its end"),
      field("search", &SummaryLoad::search, "for the highest rate; null: load.search is off"),
      field("findings", &SummaryLoad::findings, "of load.json that run.json does not have"),
      field("source", &SummaryLoad::source, "file"));
}

}  // namespace profline
