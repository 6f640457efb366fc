#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/node.h"
#include "schema/field.h"
#include "schema/problems.h"
#include "settings/stage.h"

/// `pipeline.workload.server` and `pipeline.workload.load`: a server, and the requests that it is
/// sent. Alternatives are keys next to each other, null unless set; if none is set, a default
/// applies.
namespace profline::settings {

constexpr std::uint32_t kMostInFlight = 16'384;  ///< requests of one load at the same time
constexpr double kMostRate = 100'000;            ///< requests per second

enum class ArrivalProcess { Poisson, Constant };
constexpr auto names(std::type_identity<ArrivalProcess>) {
  return std::array{named(ArrivalProcess::Poisson, "poisson"),
                    named(ArrivalProcess::Constant, "constant")};
}

/// When requests are sent.
struct Arrival {
  std::optional<std::uint32_t> concurrency;
  std::optional<double> rate;
  ArrivalProcess process = ArrivalProcess::Poisson;
  std::optional<std::filesystem::path> trace;

  static constexpr std::uint32_t kDefaultConcurrency = 8;

  bool operator==(const Arrival&) const = default;
  /// Whether requests are sent at given times, whatever the server does.
  bool is_open() const { return rate.has_value() || trace.has_value(); }
  std::uint32_t in_flight() const { return concurrency.value_or(kDefaultConcurrency); }
};
constexpr auto fields(std::type_identity<Arrival>) {
  return field_list(
      field("concurrency", &Arrival::concurrency,
            "closed loop: this many requests are always in flight; null: 8, unless rate or trace "
            "is set")
          .range(1, kMostInFlight),
      field("rate", &Arrival::rate,
            "open loop: requests are sent at this rate, whether or not earlier ones were answered")
          .unit("requests/s")
          .above(0)
          .at_most(kMostRate),
      field("process", &Arrival::process,
            "distribution of the times between requests when rate is set"),
      field("trace", &Arrival::trace,
            "open loop: JSONL file with one request per line, sent `at_s` seconds after the first; "
            "`input_tokens`, `output_tokens` or `prompt` may differ per line"));
}
Checks validate(const Arrival& arrival);

/// What requests ask for.
struct LoadPrompts {
  std::optional<std::uint32_t> input_tokens;
  std::optional<std::uint32_t> output_tokens;
  std::optional<std::filesystem::path> file;

  static constexpr std::uint32_t kDefaultInput = 512;
  static constexpr std::uint32_t kDefaultOutput = 128;

  bool operator==(const LoadPrompts&) const = default;
};
constexpr auto fields(std::type_identity<LoadPrompts>) {
  return field_list(
      field("input_tokens", &LoadPrompts::input_tokens,
            "length of synthetic prompts; exact if the server has /tokenize; null: 512, unless "
            "file is set")
          .unit("tokens")
          .range(1, kMostTokens),
      field("output_tokens", &LoadPrompts::output_tokens,
            "tokens to generate per request, without an early end where the server supports "
            "ignore_eos; null: 128, or what the lines of file say")
          .unit("tokens")
          .range(1, kMostTokens),
      field("file", &LoadPrompts::file,
            "JSONL file with one prompt per line, used in turn: `prompt` or `messages`, and "
            "`output_tokens` where it differs"));
}
Checks validate(const LoadPrompts& prompts);

struct LoadWarmup {
  std::uint32_t requests = 16;

  bool operator==(const LoadWarmup&) const = default;
};
constexpr auto fields(std::type_identity<LoadWarmup>) {
  return field_list(field("requests", &LoadWarmup::requests,
                          "requests at the start of the load that are not measured")
                        .range(0, kMostImages));
}

struct LoadMeasure {
  std::optional<std::uint32_t> requests;
  std::optional<double> seconds;

  static constexpr std::uint32_t kDefaultRequests = 200;

  bool operator==(const LoadMeasure&) const = default;
};
constexpr auto fields(std::type_identity<LoadMeasure>) {
  return field_list(
      field("requests", &LoadMeasure::requests,
            "measure this many requests; null: 200, or the whole trace, unless "
            "seconds is set")
          .range(1, kMostImages),
      field("seconds", &LoadMeasure::seconds, "measure the requests that are sent within this time")
          .unit("s")
          .above(0)
          .at_most(86'400));
}
Checks validate(const LoadMeasure& measure);

/// What a good request is.
struct Slo {
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;
  double share = 0.9;

  bool operator==(const Slo&) const = default;
  bool is_set() const { return ttft_ms || tpot_ms; }
};
constexpr auto fields(std::type_identity<Slo>) {
  return field_list(
      field("ttft_ms", &Slo::ttft_ms,
            "longest time to the first token of a good request; null: any")
          .unit("ms")
          .above(0),
      field("tpot_ms", &Slo::tpot_ms,
            "longest time per output token after the first of a good request; null: any")
          .unit("ms")
          .above(0),
      field("share", &Slo::share,
            "share of requests that must be good at the rate that load.search finds")
          .above(0)
          .at_most(1));
}

/// `pipeline.workload.load`.
struct Load {
  std::string endpoint = "/v1/completions";
  Arrival arrival;
  LoadPrompts prompts;
  LoadWarmup warmup;
  LoadMeasure measure;
  Slo slo;
  bool search = false;
  std::optional<std::string> model;
  std::optional<std::string> api_key_env;
  std::map<std::string, std::string> headers;
  Node extra_body = Node::map();
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
  std::uint64_t seed = 0;
  bool save_responses = false;
  std::optional<std::vector<std::string>> command;

  bool operator==(const Load&) const = default;
};
constexpr auto fields(std::type_identity<Load>) {
  return field_list(
      field("endpoint", &Load::endpoint,
            "path that requests are posted to: /v1/completions, /v1/chat/completions or a "
            "path that ends in one of them"),
      field("arrival", &Load::arrival, "when requests are sent: one of concurrency, rate, trace"),
      field("prompts", &Load::prompts, "what requests contain: synthetic, or from a file"),
      field("warmup", &Load::warmup, "the unmeasured start of the load"),
      field("measure", &Load::measure, "how much is measured: requests or seconds"),
      field("slo", &Load::slo,
            "latencies that a good request may have; goodput counts good requests"),
      field("search", &Load::search,
            "find the highest rate at which slo.share of the requests are good; needs slo"),
      field("model", &Load::model,
            "the model's name in requests; null: the first one of /v1/models"),
      field("api_key_env", &Load::api_key_env,
            "environment variable with the API key, which is sent as a bearer token and never "
            "stored; null: no key"),
      field("headers", &Load::headers, "further headers of each request"),
      field("extra_body", &Load::extra_body,
            "further keys of each request's body, such as {temperature: 0}; null removes a key"),
      field("timeout", &Load::timeout, "a request that takes longer has failed").above(0),
      field("seed", &Load::seed, "seed of synthetic prompts and Poisson arrivals"),
      field("save_responses", &Load::save_responses,
            "store prompts and generated texts in responses.jsonl"),
      field("command", &Load::command,
            "another load generator for 'profline run', which gets the server's address in "
            "PROFLINE_SERVER_URL; null: the built-in one"));
}
Checks validate(const Load& load);

/// `pipeline.workload.server`.
struct Server {
  std::optional<std::string> url;

  bool operator==(const Server&) const = default;
};
constexpr auto fields(std::type_identity<Server>) {
  return field_list(field("url", &Server::url,
                          "where the server answers: http://127.0.0.1:8000; 'profline load URL' "
                          "sets it"));
}
Checks validate(const Server& server);

}  // namespace profline::settings
