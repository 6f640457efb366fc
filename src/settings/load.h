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

/// When a server that was started takes requests.
struct ServerReady {
  std::optional<std::string> http;
  std::uint32_t status = 200;
  std::optional<std::string> tcp;
  std::optional<std::string> log;
  std::chrono::milliseconds timeout = std::chrono::minutes(15);

  static constexpr const char* kDefaultPath = "/health";

  bool operator==(const ServerReady&) const = default;
};
constexpr auto fields(std::type_identity<ServerReady>) {
  return field_list(
      field("http", &ServerReady::http,
            "path to poll until it answers with the expected status; null: /health, unless tcp or "
            "log is set"),
      field("status", &ServerReady::status, "HTTP status of a server that is ready")
          .range(100, 599),
      field("tcp", &ServerReady::tcp, "ready once HOST:PORT accepts connections"),
      field("log", &ServerReady::log,
            "ready once a line of the server's output matches this regular expression"),
      field("timeout", &ServerReady::timeout,
            "how long the server may take to become ready; loading weights counts")
          .above(0));
}
Checks validate(const ServerReady& ready);

/// What opens and closes the window in which a profiler records.
enum class ServerGate { Session, Http, Cuda, Kineto, None };
constexpr auto names(std::type_identity<ServerGate>) {
  return std::array{named(ServerGate::Session, "session"), named(ServerGate::Http, "http"),
                    named(ServerGate::Cuda, "cuda"), named(ServerGate::Kineto, "kineto"),
                    named(ServerGate::None, "none")};
}

/// The engine's own way to start and stop its profiler.
struct ServerHttp {
  std::string start = "POST /start_profile";
  std::string stop = "POST /stop_profile";
  Node start_body;
  Node stop_body;
  std::optional<std::filesystem::path> traces;
  std::chrono::milliseconds timeout = std::chrono::minutes(2);

  bool operator==(const ServerHttp&) const = default;
};
constexpr auto fields(std::type_identity<ServerHttp>) {
  return field_list(
      field("start", &ServerHttp::start, "method and path that start the engine's profiler"),
      field("stop", &ServerHttp::stop, "method and path that stop it"),
      field("start_body", &ServerHttp::start_body, "JSON sent with start; null: none"),
      field("stop_body", &ServerHttp::stop_body, "JSON sent with stop; null: none"),
      field("traces", &ServerHttp::traces,
            "folder that the engine writes its traces to; null: the stage's folder, whose path is "
            "in PROFLINE_TRACE_DIR"),
      field("timeout", &ServerHttp::timeout,
            "how long each of the two may take; stop writes the traces")
          .above(0));
}
Checks validate(const ServerHttp& http);

/// How a server is stopped.
struct ServerStop {
  std::string signal = "SIGTERM";
  std::chrono::milliseconds grace = std::chrono::minutes(1);

  bool operator==(const ServerStop&) const = default;
  /// Its number; 0: there is no such signal.
  int number() const;
};
constexpr auto fields(std::type_identity<ServerStop>) {
  return field_list(
      field("signal", &ServerStop::signal, "sent to the server's first process: SIGTERM, SIGINT"),
      field("grace", &ServerStop::grace,
            "time for the server to end after the signal; then it is killed")
          .above(0));
}
Checks validate(const ServerStop& stop);

/// `pipeline.workload.server`.
struct Server {
  std::optional<std::string> url;
  std::vector<std::string> flags;
  std::map<std::string, std::string> env;
  ServerReady ready;
  ServerGate gate = ServerGate::Session;
  ServerHttp http;
  ServerStop stop;

  bool operator==(const Server&) const = default;
};
constexpr auto fields(std::type_identity<Server>) {
  return field_list(
      field("url", &Server::url,
            "where the server answers: http://127.0.0.1:8000; 'profline load URL' sets it"),
      field("flags", &Server::flags,
            "added to command, unless it has an argument of the same name: '--port 8000'"),
      field("env", &Server::env, "variables added to the server's environment"),
      field("ready", &Server::ready, "how a started server shows that it takes requests"),
      field("gate", &Server::gate,
            "what opens the window. session: nsys by its commands, libtorch's profiler by Kineto; "
            "http: the engine's profiler by its endpoints; cuda: nsys by the engine's "
            "cudaProfilerStart, which the endpoints may cause; kineto: libtorch's profiler on "
            "demand; none: nsys records the whole run"),
      field("http", &Server::http, "gates http and cuda: the engine's endpoints"),
      field("stop", &Server::stop, "how the server is stopped"));
}
Checks validate(const Server& server);

/// What has to be true of the load before the window opens.
enum class WindowAfter { Steady, Warmup };
constexpr auto names(std::type_identity<WindowAfter>) {
  return std::array{named(WindowAfter::Steady, "steady"), named(WindowAfter::Warmup, "warmup")};
}

/// `pipeline.workload.window`: the part of the load that profilers record.
struct ServerWindow {
  WindowAfter after = WindowAfter::Steady;
  double seconds = 2;
  double patience = 60;

  bool operator==(const ServerWindow&) const = default;
};
constexpr auto fields(std::type_identity<ServerWindow>) {
  return field_list(
      field(
          "after", &ServerWindow::after,
          "steady: once latencies no longer change; warmup: once the warm-up requests have ended"),
      field("seconds", &ServerWindow::seconds, "length of the window")
          .unit("s")
          .above(0)
          .at_most(3'600),
      field("patience", &ServerWindow::patience,
            "open the window after so much load even if it is not steady, and say so")
          .unit("s")
          .above(0)
          .at_most(86'400));
}

}  // namespace profline::settings
