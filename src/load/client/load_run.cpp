#include "load/client/load_run.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "load/arrivals.h"
#include "load/client/http_loop.h"
#include "load/client/stream_reader.h"
#include "load/metrics.h"
#include "load/prompts.h"
#include "load/search.h"
#include "schema/read.h"

namespace profline::load {
namespace {

constexpr std::size_t kMostPrompts = 1024;
constexpr std::chrono::milliseconds kHelperTimeout = std::chrono::seconds(5);
constexpr std::int64_t kMostPreparationNs = 120 * kSecondNs;

std::string without_end(std::string text, std::string_view end) {
  if (text.ends_with(end)) text.resize(text.size() - end.size());
  return text;
}

/// `http://host:8000/v1/` and `/v1/completions` make one address, as people expect.
std::string base_of(const std::string& url, const std::string& endpoint) {
  std::string base = without_end(url, "/");
  if (base.ends_with(endpoint)) return without_end(std::move(base), endpoint);
  return endpoint.starts_with("/v1/") ? without_end(std::move(base), "/v1") : base;
}

std::string short_number(double value) {
  constexpr double kTwoDigits = 10;
  return value < kTwoDigits ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
}

/// Short enough for what stage and time leave of 80 columns.
std::string status_line(const LiveStatus& status, const std::string& prefix) {
  std::string line = prefix;
  if (status.warming_up < status.warmup && status.done == 0) {
    line += fmt::format("warm-up {}/{}", status.warming_up, status.warmup);
  } else if (status.total) {
    line += fmt::format("{}/{}", status.done, *status.total);
  } else {
    constexpr double kADay = 86'400;  // until it is asked to end
    const double seconds = status.seconds.value_or(0);
    line += seconds < kADay ? fmt::format("{:.0f}/{:.0f} s", status.elapsed_s, seconds)
                            : fmt::format("{:.0f} s", status.elapsed_s);
  }
  line += fmt::format("  {}/s  {} open  {} err", short_number(status.per_second), status.in_flight,
                      status.errors);
  if (status.ttft_p50_ms && status.ttft_p99_ms) {
    line += fmt::format("  TTFT {}/{} ms", short_number(*status.ttft_p50_ms),
                        short_number(*status.ttft_p99_ms));
  }
  return line;
}

/// One load, from probes to results.
class LoadSession {
 public:
  LoadSession(const LoadJob& job, const LoadHooks& hooks, HttpLoop& loop)
      : job_(job), load_(job.load), hooks_(hooks), loop_(loop) {}

  Result<LoadResult> run();

 private:
  void note(Finding finding) { record_.findings.push_back(std::move(finding)); }
  HttpRequest request_to(const std::string& path, std::string body) const;
  Answer ask(const std::string& path, std::string body);
  void name_model();
  Result<void> read_files();
  void make_prompts();
  void add_synthetic(std::uint32_t tokens, std::uint32_t output_tokens);
  std::size_t prompts_needed() const;
  CountTokens counter();
  Outcome try_one(const std::string& body, std::uint32_t output_tokens);
  Result<void> probe();
  Result<void> build_bodies();
  PlannedRequest planned(std::uint64_t index) const;
  LoadPlan plan_of(const std::optional<double>& rate, std::uint64_t seed) const;
  GeneratedLoad load_once(const LoadPlan& plan, const std::string& prefix);
  GeneratedLoad search();
  void settle();
  LoadResult finish(GeneratedLoad load);
  Extent extent() const;
  /// As `load.measure` says.
  Extent own_extent() const;

  const LoadJob& job_;
  const settings::Load& load_;
  const LoadHooks& hooks_;
  HttpLoop& loop_;
  LoadRecord record_;
  std::string base_;
  BodyRule rule_;
  std::vector<std::string> headers_;
  std::vector<TracedRequest> trace_;
  std::vector<Prompt> prompts_;
  std::vector<std::size_t> prompt_of_;  // of each line of the trace
  std::vector<std::string> bodies_;
  std::vector<Outcome> probes_;
  std::unique_ptr<PromptWriter> writer_;
  std::optional<LoadSearch> searched_;
  bool is_dead_ = false;  // the probe could not connect
};

HttpRequest LoadSession::request_to(const std::string& path, std::string body) const {
  return {base_ + path, std::move(body), headers_, load_.timeout};
}

Answer LoadSession::ask(const std::string& path, std::string body) {
  HttpRequest request = request_to(path, std::move(body));
  request.timeout = std::min(load_.timeout, kHelperTimeout);
  return fetch(loop_, request, hooks_.stopping);
}

void LoadSession::name_model() {
  if (load_.model) {
    rule_.model = *load_.model;
    return;
  }
  const Answer answer = ask("/v1/models", "");
  record_.server = answer.server;
  if (answer.is_ok()) rule_.model = first_model(answer.body).value_or("");
  if (!rule_.model.empty()) return;
  note({Severity::Note, "no_models",
        fmt::format("/v1/models names no model ({}): requests do not name one either",
                    answer.is_ok() ? "its answer was not understood" : answer.describe()),
        "name it with pipeline.workload.load.model=NAME"});
}

Extent LoadSession::extent() const {
  if (job_.until_asked && !load_.arrival.trace) {
    constexpr double kLongest = 86'400;
    return {load_.warmup.requests, std::nullopt, kLongest};
  }
  return own_extent();
}

Extent LoadSession::own_extent() const {
  Extent extent{load_.warmup.requests, load_.measure.requests, load_.measure.seconds};
  const bool is_whole_trace = load_.arrival.trace && !load_.search;
  if (!extent.requests && !extent.seconds && !is_whole_trace) {
    extent.requests = settings::LoadMeasure::kDefaultRequests;
  }
  return extent;
}

Result<void> LoadSession::read_files() {
  if (load_.arrival.trace) {
    const auto file = job_.base / *load_.arrival.trace;
    trace_ = PL_TRY(parse_trace(PL_TRY(read_file(file)), load_.arrival.trace->string()));
    limit_trace(trace_, extent());
  }
  if (load_.prompts.file) {
    const auto file = job_.base / *load_.prompts.file;
    prompts_ = PL_TRY(
        parse_prompts(PL_TRY(read_file(file)), load_.prompts.file->string(),
                      load_.prompts.output_tokens.value_or(settings::LoadPrompts::kDefaultOutput)));
  }
  return {};
}

std::size_t LoadSession::prompts_needed() const {
  const Extent wanted = own_extent();
  std::size_t count = kMostPrompts;
  if (!trace_.empty()) {
    count = trace_.size();
  } else if (wanted.requests) {
    count = std::size_t{wanted.warmup} + *wanted.requests;
  } else if (load_.arrival.rate && wanted.seconds) {
    count = wanted.warmup +
            static_cast<std::size_t>(std::ceil(*load_.arrival.rate * *wanted.seconds)) + 1;
  }
  // A load that goes on longer than it would should not repeat its prompts: a cache may know them.
  constexpr std::size_t kLonger = 4;
  return std::min(kMostPrompts, job_.until_asked ? kLonger * count : count);
}

/// Counts tokens by asking the server; nothing if it cannot.
CountTokens LoadSession::counter() {
  const auto count = [this](const std::string& text) {
    const Answer answer = ask("/tokenize", tokenize_body(text, rule_.model));
    return answer.is_ok() ? token_count(answer.body) : std::nullopt;
  };
  const Answer answer = ask("/tokenize", tokenize_body("a b c", rule_.model));
  if (answer.is_ok() && token_count(answer.body).value_or(0) > 0) return count;
  note({Severity::Note, "no_tokenize",
        fmt::format("/tokenize does not count tokens ({}): the lengths of prompts are approximate",
                    answer.is_ok() ? "its answer was not understood" : answer.describe())});
  return nullptr;
}

void LoadSession::make_prompts() {
  const std::uint32_t input =
      load_.prompts.input_tokens.value_or(settings::LoadPrompts::kDefaultInput);
  const std::uint32_t output =
      load_.prompts.output_tokens.value_or(settings::LoadPrompts::kDefaultOutput);
  const bool from_file = load_.prompts.file.has_value();
  record_.prompts.source = from_file ? "file" : trace_.empty() ? "synthetic" : "trace";
  record_.prompts.length = "given";
  if (!from_file) {
    const CountTokens count = counter();
    const std::int64_t begin = monotonic_ns();
    const std::size_t needed = prompts_needed();
    bool is_exact = count != nullptr;
    std::int64_t shown = begin;
    for (std::size_t i = 0; i < needed && !hooks_.stopping(); ++i) {
      const bool is_traced = i < trace_.size();
      if (is_traced && trace_[i].prompt) {
        prompts_.push_back({*trace_[i].prompt, {}, trace_[i].output_tokens.value_or(output)});
        continue;
      }
      const std::int64_t now = monotonic_ns();
      const bool has_time = now - begin < kMostPreparationNs;
      const std::uint32_t tokens = is_traced ? trace_[i].input_tokens.value_or(input) : input;
      const std::uint32_t wanted = is_traced ? trace_[i].output_tokens.value_or(output) : output;
      prompts_.push_back(writer_->write(tokens, wanted, has_time ? count : nullptr));
      is_exact = is_exact && prompts_.back().is_exact;
      if (now - shown > kSecondNs / 2) {
        hooks_.status(fmt::format("{}/{} prompts", i, needed));
        shown = now;
      }
    }
    record_.prompts.length = is_exact ? "exact" : "approximate";
    if (count && !is_exact) {
      note({Severity::Note, "lengths_approximate",
            "not every prompt could be given the exact number of tokens; usage has the real ones"});
    }
  }
  record_.prompts.distinct = prompts_.size();
}

Outcome LoadSession::try_one(const std::string& body, std::uint32_t output_tokens) {
  Outcome outcome;
  outcome.due_ns = outcome.sent_ns = monotonic_ns();
  StreamReader reader(std::move(outcome), {StreamReader::most_bytes(output_tokens), false});
  loop_.start(request_to(load_.endpoint, body), reader);
  while (!reader.has_ended()) {
    const bool lingers =
        reader.is_complete() && monotonic_ns() - reader.outcome().end_ns > kSecondNs;
    if (hooks_.stopping() || lingers) loop_.cancel(reader);
    if (!reader.has_ended()) loop_.step(monotonic_ns() + kSecondNs / 2);
  }
  probes_.push_back(reader.take());
  return probes_.back();
}

/// Sends one request, and finds out which extensions the server accepts.
Result<void> LoadSession::probe() {
  hooks_.status("probing the server");
  constexpr std::uint32_t kShort = 16;
  struct Variant {
    bool ignore_eos, include_usage;
    const char* lost;
  };
  constexpr Variant kVariants[] = {
      {true, true, ""},
      {false, true, "ignore_eos: answers may be shorter than requested"},
      {false, false, "stream_options: without usage, tokens are estimated"}};
  const PromptWriter before = *writer_;
  Prompt prompt = prompts_.empty() ? writer_->write(kShort, kShort, nullptr) : prompts_.front();
  const std::size_t words = writer_->words();
  *writer_ = before;
  if (!load_.search) prompt.output_tokens = std::min(prompt.output_tokens, kShort);
  if (load_.search && !load_.prompts.file) {
    prompt.output_tokens =
        load_.prompts.output_tokens.value_or(settings::LoadPrompts::kDefaultOutput);
  }
  std::vector<std::string> lost;
  for (const Variant& variant : kVariants) {
    rule_.ignore_eos = variant.ignore_eos;
    rule_.include_usage = variant.include_usage;
    const std::string body = PL_TRY(request_body(prompt, rule_));
    const Outcome outcome = try_one(body, prompt.output_tokens);
    if (*variant.lost != '\0') lost.emplace_back(variant.lost);
    if (outcome.succeeded()) {
      if (outcome.prompt_tokens && prompts_.empty()) writer_->learn(words, *outcome.prompt_tokens);
      for (const std::string& each : lost) {
        note({Severity::Note, "not_supported", "the server does not accept " + each});
      }
      return {};
    }
    const std::string& kind = outcome.failure->kind;
    is_dead_ = kind == "refused" || kind == "unresolved" || kind == "unreachable" || kind == "tls";
    if (kind != "http_400" && kind != "http_422") break;
  }
  rule_.ignore_eos = rule_.include_usage = true;
  return {};
}

Result<void> LoadSession::build_bodies() {
  for (const Prompt& prompt : prompts_) bodies_.push_back(PL_TRY(request_body(prompt, rule_)));
  return {};
}

PlannedRequest LoadSession::planned(std::uint64_t index) const {
  const std::size_t prompt = index % prompts_.size();
  return {request_to(load_.endpoint, bodies_[prompt]), prompts_[prompt].output_tokens, prompt};
}

LoadPlan LoadSession::plan_of(const std::optional<double>& rate, std::uint64_t seed) const {
  LoadPlan plan;
  plan.extent = extent();
  plan.concurrency = load_.arrival.in_flight();
  if (!trace_.empty()) {
    for (const TracedRequest& request : trace_) plan.due_ns.push_back(request.at_ns);
  } else if (rate) {
    plan.due_ns = due_times(load_.arrival.process, *rate, seed, plan.extent);
  }
  plan.request = [this](std::uint64_t index) { return planned(index); };
  plan.keep_text = load_.save_responses;
  plan.slo = load_.slo;
  return plan;
}

GeneratedLoad LoadSession::load_once(const LoadPlan& plan, const std::string& prefix) {
  return generate(loop_, plan,
                  {hooks_.stopping,
                   [&](const LiveStatus& status) { hooks_.status(status_line(status, prefix)); },
                   hooks_.finishing, hooks_.progress});
}

/// After a run that overloaded the server: until a single request is good again.
void LoadSession::settle() {
  constexpr int kMostTries = 20;
  const std::int64_t end = monotonic_ns() + 10 * kSecondNs;
  for (int i = 0; i < kMostTries && monotonic_ns() < end && !hooks_.stopping(); ++i) {
    const PlannedRequest request = planned(static_cast<std::uint64_t>(i));
    if (is_good(try_one(request.http.body, request.output_tokens), false, load_.slo)) return;
  }
}

GeneratedLoad LoadSession::search() {
  SearchRule rule;
  rule.share = load_.slo.share;
  rule.most_rate = settings::kMostRate;
  const auto alone = probes_.empty() ? std::nullopt : latencies_of(probes_.back(), false);
  rule.first_rate = load_.arrival.rate.value_or(
      alone ? static_cast<double>(kSecondNs) /
                  static_cast<double>(std::max<std::int64_t>(1, alone->e2e_ns))
            : 1.0);
  std::vector<LoadTrial> trials;
  std::map<double, GeneratedLoad> met;  // the last run at each rate that met the SLOs
  GeneratedLoad last;
  while (const auto rate = next_rate(trials, rule)) {
    if (hooks_.stopping()) break;
    LoadPlan plan = plan_of(*rate, load_.seed + trials.size());
    const auto measured = static_cast<double>(
        plan.due_ns.size() - std::min<std::size_t>(plan.extent.warmup, plan.due_ns.size()));
    plan.most_bad = static_cast<std::uint64_t>((1 - rule.share) * measured + 1e-9);
    last = load_once(plan, fmt::format("run {}: {:.3g}/s  ", trials.size() + 1, *rate));
    last.observation.rate = *rate;
    if (last.interrupted) break;
    trials.push_back(trial_of(last.observation, *rate, load_.slo, last.ended_early));
    if (trials.back().met) {
      met.insert_or_assign(*rate, last);
    } else {
      settle();
    }
  }
  searched_ = search_result(std::move(trials), rule);
  // Not the highest rate that met the SLOs: it may have missed them when it was tried again.
  const auto found = searched_->rate ? met.find(*searched_->rate) : met.end();
  GeneratedLoad result = found != met.end() ? found->second : last;
  result.interrupted = last.interrupted;
  return result;
}

LoadResult LoadSession::finish(GeneratedLoad load) {
  LoadResult result;
  Observation& seen = load.observation;
  fill_in(seen, load_.slo, record_);
  record_.counts.sent += probes_.size();
  for (const Outcome& probe : probes_) {
    if (!probe.succeeded()) continue;
    record_.counts.all_prompt_tokens += probe.prompt_tokens.value_or(0);
    record_.counts.all_output_tokens += probe.tokens();
  }
  record_.url = base_ + load_.endpoint;
  record_.model = rule_.model;
  record_.interrupted = load.interrupted;
  record_.loop = seen.is_open
                     ? (!trace_.empty()                                              ? "trace"
                        : load_.arrival.process == settings::ArrivalProcess::Poisson ? "poisson"
                                                                                     : "constant")
                     : "closed";
  if (!seen.is_open) record_.concurrency = load_.arrival.in_flight();
  record_.rate = seen.rate;
  record_.search = std::move(searched_);
  settings::Load used = load_;
  for (auto& [name, value] : used.headers) value = "...";  // may be a secret
  record_.configuration = schema::write(used);
  if (record_.counts.tokens_estimated > 0) {
    note({Severity::Note, "tokens_estimated",
          fmt::format("{} without usage: tokens are estimated as events with output",
                      counted(record_.counts.tokens_estimated, "answer"))});
  }
  if (record_.counts.without_done > 0) {
    note({Severity::Note, "without_done",
          fmt::format("{} ended without [DONE]", counted(record_.counts.without_done, "stream"))});
  }
  const std::uint64_t used_prompts = seen.outcomes.size();
  if (used_prompts > prompts_.size() && record_.prompts.source == "synthetic") {
    note({Severity::Note, "prompts_repeat",
          fmt::format("{} prompts were used in turn for {} requests: a prefix cache may have "
                      "answered some of them",
                      prompts_.size(), used_prompts)});
  }
  result.requests = request_records(seen);
  if (load_.save_responses && !prompts_.empty()) {
    for (const Outcome& outcome : seen.outcomes) {
      NodeMap line;
      line.set("id", Node::integer(static_cast<std::int64_t>(outcome.id)));
      line.set("prompt", Node::string(prompts_[outcome.prompt].text));
      line.set("text", Node::string(outcome.text));
      result.responses.push_back(Node::map(std::move(line)));
    }
  }
  result.record = std::move(record_);
  return result;
}

Result<LoadResult> LoadSession::run() {
  base_ = base_of(job_.url, load_.endpoint);
  rule_.is_chat = load_.endpoint.ends_with("/chat/completions");
  rule_.extra = load_.extra_body;
  headers_ = {"Content-Type: application/json", "Accept: text/event-stream"};
  if (job_.api_key) headers_.push_back("Authorization: Bearer " + *job_.api_key);
  for (const auto& [name, value] : load_.headers) headers_.push_back(name + ": " + value);
  writer_ = std::make_unique<PromptWriter>(load_.seed);
  PL_TRY(read_files());
  hooks_.status("asking the server for its model");
  name_model();
  PL_TRY(probe());
  GeneratedLoad load;
  if (is_dead_) {
    // The rest would fail in the same way.
    load.observation.start_ns = probes_.back().due_ns;
    load.observation.outcomes.push_back(probes_.back());
    load.observation.outcomes.back().measured = true;
    probes_.pop_back();
    return finish(std::move(load));
  }
  make_prompts();
  PL_TRY(build_bodies());
  if (prompts_.empty()) load.interrupted = true;  // stopped meanwhile
  if (!load.interrupted) {
    load = load_.search ? search() : load_once(plan_of(load_.arrival.rate, load_.seed), "");
    if (!load.observation.rate) load.observation.rate = load_.arrival.rate;
  }
  return finish(std::move(load));
}

}  // namespace

Result<LoadResult> run_load(const LoadJob& job, const LoadHooks& hooks) {
  const std::unique_ptr<HttpLoop> loop = PL_TRY(HttpLoop::open());
  return LoadSession(job, hooks, *loop).run();
}

}  // namespace profline::load
