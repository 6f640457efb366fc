#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/node.h"
#include "records/document.h"
#include "records/run_record.h"
#include "schema/field.h"

/// What a load on a server showed: load.json. docs/formats/load.md describes the file.
namespace profline {

/// A figure and its confidence interval (95 %); without one there are too few values.
struct LoadFigure {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;

  bool operator==(const LoadFigure&) const = default;
};
constexpr auto fields(std::type_identity<LoadFigure>) {
  return field_list(field("value", &LoadFigure::value, "as measured").required(),
                    field("low", &LoadFigure::low, "lower end of the 95 % confidence interval"),
                    field("high", &LoadFigure::high, "upper end of the 95 % confidence interval"));
}

/// How many values lie between neighbouring edges.
struct LoadHistogram {
  std::vector<double> edges_ms;  ///< one more than there are counts; each bin includes its lower
  std::vector<std::uint64_t> counts;

  bool operator==(const LoadHistogram&) const = default;
};
constexpr auto fields(std::type_identity<LoadHistogram>) {
  return field_list(
      field("edges_ms", &LoadHistogram::edges_ms, "boundaries of the bins, ascending"),
      field("counts", &LoadHistogram::counts, "values in each bin"));
}

/// A latency in milliseconds.
struct LoadLatency {
  std::uint64_t n = 0;
  std::optional<LoadFigure> mean;
  std::optional<LoadFigure> p50;
  std::optional<LoadFigure> p90;
  std::optional<LoadFigure> p95;
  std::optional<LoadFigure> p99;
  std::optional<double> min_ms;
  std::optional<double> max_ms;
  double client_error_ms = 0;
  std::vector<std::string> marked;
  LoadHistogram histogram;

  bool operator==(const LoadLatency&) const = default;
};
constexpr auto fields(std::type_identity<LoadLatency>) {
  return field_list(
      field("n", &LoadLatency::n, "number of values").required(),
      field("mean", &LoadLatency::mean, "ms; null without values"),
      field("p50", &LoadLatency::p50, "ms"), field("p90", &LoadLatency::p90, "ms"),
      field("p95", &LoadLatency::p95, "ms"), field("p99", &LoadLatency::p99, "ms"),
      field("min_ms", &LoadLatency::min_ms, "the smallest"),
      field("max_ms", &LoadLatency::max_ms, "the largest"),
      field("client_error_ms", &LoadLatency::client_error_ms,
            "by how much the client's own error could change a value, at its 99th percentile"),
      field("marked", &LoadLatency::marked,
            "figures that this could change by more than 5 %: p50, mean"),
      field("histogram", &LoadLatency::histogram, "how the values are distributed"));
}

/// Something per second, over the steady part.
struct LoadRate {
  std::optional<LoadFigure> per_second;
  bool marked = false;

  bool operator==(const LoadRate&) const = default;
};
constexpr auto fields(std::type_identity<LoadRate>) {
  return field_list(field("per_second", &LoadRate::per_second, "null if nothing was measured"),
                    field("marked", &LoadRate::marked,
                          "the client's own error could change it by more than 5 %"));
}

/// Requests that met every SLO. Failed requests did not.
struct LoadGoodput {
  std::uint64_t good = 0;
  std::optional<LoadFigure> share;
  std::optional<LoadFigure> per_second;
  bool marked = false;

  bool operator==(const LoadGoodput&) const = default;
};
constexpr auto fields(std::type_identity<LoadGoodput>) {
  return field_list(
      field("good", &LoadGoodput::good, "requests of the steady part that met every SLO"),
      field("share", &LoadGoodput::share, "of all requests of the steady part"),
      field("per_second", &LoadGoodput::per_second, "good requests per second"),
      field("marked", &LoadGoodput::marked,
            "the client's own error could make more than 5 % of the requests good or bad"));
}

struct LoadMetrics {
  LoadLatency ttft;
  LoadLatency tpot;
  LoadLatency itl;
  LoadLatency e2e;
  LoadRate requests;
  LoadRate output_tokens;
  std::optional<LoadGoodput> goodput;

  bool operator==(const LoadMetrics&) const = default;
};
constexpr auto fields(std::type_identity<LoadMetrics>) {
  return field_list(
      field("ttft", &LoadMetrics::ttft, "time to the first token"),
      field("tpot", &LoadMetrics::tpot, "(E2E - TTFT) / (output tokens - 1), per request"),
      field("itl", &LoadMetrics::itl, "times between the events of a stream that have output"),
      field("e2e", &LoadMetrics::e2e, "from the start of a request to its last event"),
      field("requests", &LoadMetrics::requests, "completed requests per second"),
      field("output_tokens", &LoadMetrics::output_tokens, "generated tokens per second"),
      field("goodput", &LoadMetrics::goodput, "null without SLOs"));
}

/// All counts are of requests unless their names say otherwise.
struct LoadCounts {
  std::uint64_t sent = 0;
  std::uint64_t warmup = 0;
  std::uint64_t measured = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t steady = 0;
  std::uint64_t tokens_estimated = 0;
  std::uint64_t without_done = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t all_prompt_tokens = 0;
  std::uint64_t all_output_tokens = 0;

  bool operator==(const LoadCounts&) const = default;
};
constexpr auto fields(std::type_identity<LoadCounts>) {
  return field_list(
      field("sent", &LoadCounts::sent, "all, including warm-up and probes"),
      field("warmup", &LoadCounts::warmup, "sent at the start, not measured"),
      field("measured", &LoadCounts::measured, "after warm-up"),
      field("succeeded", &LoadCounts::succeeded, "measured and answered completely"),
      field("failed", &LoadCounts::failed, "measured and not answered completely"),
      field("steady", &LoadCounts::steady, "measured and in the steady part"),
      field("tokens_estimated", &LoadCounts::tokens_estimated,
            "succeeded, but without usage: their tokens are the number of events with output"),
      field("without_done", &LoadCounts::without_done,
            "succeeded, but their streams ended without [DONE]"),
      field("prompt_tokens", &LoadCounts::prompt_tokens, "tokens, of succeeded requests, by usage"),
      field("output_tokens", &LoadCounts::output_tokens, "tokens, of succeeded requests"),
      field("all_prompt_tokens", &LoadCounts::all_prompt_tokens,
            "tokens, of all that were answered, including warm-up and probes"),
      field("all_output_tokens", &LoadCounts::all_output_tokens,
            "tokens, of all that were answered, including warm-up and probes"));
}

/// The part of the load that metrics are computed from: requests that began within it.
struct LoadSteady {
  double start_s = 0;
  double end_s = 0;
  std::string verdict;

  bool operator==(const LoadSteady&) const = default;
};
constexpr auto fields(std::type_identity<LoadSteady>) {
  return field_list(
      field("start_s", &LoadSteady::start_s, "since the first request was due"),
      field("end_s", &LoadSteady::end_s, "since the first request was due"),
      field("verdict", &LoadSteady::verdict,
            "steady; too_short: too few requests to tell; drifting: latency still changed"));
}

struct LoadError {
  std::string kind;
  std::uint64_t count = 0;
  std::string example;

  bool operator==(const LoadError&) const = default;
};
constexpr auto fields(std::type_identity<LoadError>) {
  return field_list(field("kind", &LoadError::kind,
                          "refused, reset, timeout, http_503, malformed, truncated ..."),
                    field("count", &LoadError::count, "measured requests that failed in this way"),
                    field("example", &LoadError::example, "the first one, in words"));
}

/// A request that failed.
struct LoadFailure {
  std::uint64_t id = 0;
  double at_s = 0;
  double after_ms = 0;
  std::string kind;
  std::string text;

  bool operator==(const LoadFailure&) const = default;
};
constexpr auto fields(std::type_identity<LoadFailure>) {
  return field_list(field("id", &LoadFailure::id, "of the request"),
                    field("at_s", &LoadFailure::at_s, "its start, since the first request was due"),
                    field("after_ms", &LoadFailure::after_ms, "from its start to the failure"),
                    field("kind", &LoadFailure::kind, "as in errors"),
                    field("text", &LoadFailure::text, "what happened"));
}

/// A distribution of the client's own delays.
struct LoadDelay {
  double p50_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;

  bool operator==(const LoadDelay&) const = default;
};
constexpr auto fields(std::type_identity<LoadDelay>) {
  return field_list(field("p50_ms", &LoadDelay::p50_ms, "median"),
                    field("p99_ms", &LoadDelay::p99_ms, "99th percentile"),
                    field("max_ms", &LoadDelay::max_ms, "largest"));
}

/// The client's own error, measured.
struct LoadClient {
  LoadDelay send_lateness;
  LoadDelay event_delay;
  LoadDelay event_error;
  bool kernel_times = false;
  double busy_share = 0;

  bool operator==(const LoadClient&) const = default;
};
constexpr auto fields(std::type_identity<LoadClient>) {
  return field_list(
      field("send_lateness", &LoadClient::send_lateness,
            "from the time a request was due to when it was sent"),
      field("event_delay", &LoadClient::event_delay,
            "from the arrival of data at the socket to when the client looked at it"),
      field("event_error", &LoadClient::event_error,
            "the part of event_delay that event times may still include"),
      field("kernel_times", &LoadClient::kernel_times,
            "true: the times of events are the kernel's, so event_delay is not in them unless "
            "several events were waiting; false: they are when the client woke up"),
      field("busy_share", &LoadClient::busy_share,
            "share of the time that the client's event loop was not waiting"));
}

/// What kept the load from being served faster.
enum class LoadLimit { Server, Client, Neither };
constexpr auto names(std::type_identity<LoadLimit>) {
  return std::array{named(LoadLimit::Server, "server"), named(LoadLimit::Client, "client"),
                    named(LoadLimit::Neither, "neither")};
}

/// One second of the load.
struct LoadSecond {
  double at_s = 0;
  std::uint64_t sent = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t in_flight = 0;
  double output_tokens = 0;

  bool operator==(const LoadSecond&) const = default;
};
constexpr auto fields(std::type_identity<LoadSecond>) {
  return field_list(field("at_s", &LoadSecond::at_s, "its start, since the first request was due"),
                    field("sent", &LoadSecond::sent, "requests sent in it, including warm-up"),
                    field("completed", &LoadSecond::completed, "requests that succeeded in it"),
                    field("failed", &LoadSecond::failed, "requests that failed in it"),
                    field("in_flight", &LoadSecond::in_flight, "requests in flight at its end"),
                    field("output_tokens", &LoadSecond::output_tokens, "tokens received in it"));
}

/// One run of a search.
struct LoadTrial {
  double rate = 0;
  std::uint64_t requests = 0;
  std::uint64_t good = 0;
  LoadFigure share;
  bool met = false;
  bool ended_early = false;
  std::optional<double> ttft_p50_ms;
  std::optional<double> ttft_p99_ms;
  std::optional<double> tpot_p50_ms;
  std::optional<double> tpot_p99_ms;
  std::optional<double> e2e_p50_ms;
  std::optional<double> e2e_p99_ms;

  bool operator==(const LoadTrial&) const = default;
};
constexpr auto fields(std::type_identity<LoadTrial>) {
  return field_list(
      field("rate", &LoadTrial::rate, "requests per second that were offered"),
      field("requests", &LoadTrial::requests, "measured in this run"),
      field("good", &LoadTrial::good, "of them, those that met every SLO"),
      field("share", &LoadTrial::share, "good requests, with its 95 % confidence interval"),
      field("met", &LoadTrial::met, "whether the share is at least slo.share"),
      field("ended_early", &LoadTrial::ended_early,
            "too many requests were bad already, so the rest was not sent"),
      field("ttft_p50_ms", &LoadTrial::ttft_p50_ms, "null if no request succeeded"),
      field("ttft_p99_ms", &LoadTrial::ttft_p99_ms, "null if no request succeeded"),
      field("tpot_p50_ms", &LoadTrial::tpot_p50_ms, "null if no request had two tokens"),
      field("tpot_p99_ms", &LoadTrial::tpot_p99_ms, "null if no request had two tokens"),
      field("e2e_p50_ms", &LoadTrial::e2e_p50_ms, "null if no request succeeded"),
      field("e2e_p99_ms", &LoadTrial::e2e_p99_ms, "null if no request succeeded"));
}

/// The search for the highest rate that meets the SLOs.
struct LoadSearch {
  std::vector<LoadTrial> trials;
  std::optional<double> rate;
  std::optional<double> missed_rate;
  std::optional<LoadFigure> share;
  std::uint64_t confirmations = 0;
  std::string confidence;

  bool operator==(const LoadSearch&) const = default;
};
constexpr auto fields(std::type_identity<LoadSearch>) {
  return field_list(
      field("trials", &LoadSearch::trials, "the runs it took, in order"),
      field("rate", &LoadSearch::rate,
            "the highest rate that met the SLOs; null: no rate that was tried met them"),
      field("missed_rate", &LoadSearch::missed_rate,
            "the lowest rate above it that did not; null: none was tried"),
      field("share", &LoadSearch::share, "good requests at `rate`, all its runs together"),
      field("confirmations", &LoadSearch::confirmations, "runs at `rate` that met the SLOs"),
      field("confidence", &LoadSearch::confidence, "how certain the result is, in words"));
}

/// What was sent.
struct LoadPromptFacts {
  std::string source;
  std::string length;
  std::uint64_t distinct = 0;
  std::optional<double> mean_prompt_tokens;
  std::optional<double> mean_output_tokens;

  bool operator==(const LoadPromptFacts&) const = default;
};
constexpr auto fields(std::type_identity<LoadPromptFacts>) {
  return field_list(
      field("source", &LoadPromptFacts::source, "synthetic, file or trace"),
      field("length", &LoadPromptFacts::length,
            "exact: the server counted the tokens of each prompt; approximate; given: from a file"),
      field("distinct", &LoadPromptFacts::distinct, "different prompts; they are used in turn"),
      field("mean_prompt_tokens", &LoadPromptFacts::mean_prompt_tokens, "by usage; null: unknown"),
      field("mean_output_tokens", &LoadPromptFacts::mean_output_tokens, "null: nothing succeeded"));
}

/// The content of load.json.
struct LoadRecord {
  static constexpr DocumentKind kKind{"load", 1};

  std::string url;
  std::string model;
  std::string server;
  std::string loop;
  std::optional<std::uint64_t> concurrency;
  std::optional<double> rate;
  Node configuration = Node::map();
  LoadPromptFacts prompts;
  LoadCounts counts;
  LoadSteady steady;
  LoadMetrics metrics;
  std::vector<LoadError> errors;
  std::vector<LoadFailure> failures;
  LoadClient client;
  LoadLimit limit = LoadLimit::Server;
  std::string limit_reason;
  bool interrupted = false;
  std::vector<LoadSecond> seconds;
  std::optional<LoadSearch> search;
  std::vector<Finding> findings;

  bool operator==(const LoadRecord&) const = default;
};
constexpr auto fields(std::type_identity<LoadRecord>) {
  return field_list(
      field("url", &LoadRecord::url, "where requests were sent").required(),
      field("model", &LoadRecord::model, "as requests named it; empty: not named"),
      field("server", &LoadRecord::server, "as the server names itself in its headers"),
      field("loop", &LoadRecord::loop, "closed, poisson, constant or trace"),
      field("concurrency", &LoadRecord::concurrency, "of a closed loop"),
      field("rate", &LoadRecord::rate, "requests per second that were offered, of an open loop"),
      field("configuration", &LoadRecord::configuration, "pipeline.workload.load, as used"),
      field("prompts", &LoadRecord::prompts, "what was sent"),
      field("counts", &LoadRecord::counts, "of requests and tokens"),
      field("steady", &LoadRecord::steady, "the part that metrics are computed from"),
      field("metrics", &LoadRecord::metrics, "over the steady part"),
      field("errors", &LoadRecord::errors, "by kind, most frequent first"),
      field("failures", &LoadRecord::failures, "the first 1000 measured requests that failed"),
      field("client", &LoadRecord::client, "the client's own error"),
      field("limit", &LoadRecord::limit,
            "who kept the load from being served faster; neither: the offered rate did"),
      field("limit_reason", &LoadRecord::limit_reason, "why, in words"),
      field("interrupted", &LoadRecord::interrupted, "the load was stopped before its end"),
      field("seconds", &LoadRecord::seconds, "the load over time, second by second"),
      field("search", &LoadRecord::search, "null without load.search"),
      field("findings", &LoadRecord::findings, "what there is to know about the result"));
}

}  // namespace profline
