#include "load/metrics.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "load/internal/figures.h"
#include "statistics/steady_state.h"
#include "statistics/summary.h"

namespace profline::load {
namespace {

using internal::Clusters;

constexpr double kMs = 1e-6;      // of a nanosecond
constexpr double kSecond = 1e-9;  // of a nanosecond
constexpr double kUsToMs = 1e-3;
constexpr std::size_t kMostFailures = 1000;

std::int64_t start_of(const Outcome& outcome, bool is_open) {
  return is_open ? outcome.due_ns : outcome.sent_ns;
}

std::vector<const Outcome*> measured_of(const Observation& observation) {
  std::vector<const Outcome*> measured;
  for (const Outcome& outcome : observation.outcomes) {
    if (outcome.measured) measured.push_back(&outcome);
  }
  return measured;
}

LoadDelay delay_of(std::vector<double> ms) {
  if (ms.empty()) return {};
  std::sort(ms.begin(), ms.end());
  return {statistics::quantile(ms, 0.5), statistics::quantile(ms, 0.99), ms.back()};
}

LoadClient client_of(const Observation& observation) {
  std::vector<double> lateness;
  std::vector<double> delay;
  std::vector<double> error;
  for (const Outcome* outcome : measured_of(observation)) {
    lateness.push_back(
        static_cast<double>(std::max<std::int64_t>(0, outcome->sent_ns - outcome->due_ns)) * kMs);
    for (const OutputEvent& event : outcome->events) {
      delay.push_back(event.delay_us * kUsToMs);
      error.push_back(event.error_us * kUsToMs);
    }
  }
  return {delay_of(std::move(lateness)), delay_of(std::move(delay)), delay_of(std::move(error)),
          observation.kernel_times, observation.busy_share};
}

/// Where the steady part begins among the measured requests, and how certain that is.
///
/// Only a closed loop leaves out a slow start beyond the warm-up, and only if it is short: in an
/// open loop a slow request is one that the server was late for, whenever it was due.
struct SteadyPart {
  std::size_t first = 0;
  statistics::Steadiness verdict = statistics::Steadiness::TooShort;
};
SteadyPart steady_part(const std::vector<const Outcome*>& measured, bool is_open) {
  constexpr std::size_t kMostLeftOut = 5;  // a fifth
  std::vector<double> values;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto latencies = latencies_of(*measured[i], is_open);
    if (!latencies) continue;
    values.push_back(static_cast<double>(latencies->e2e_ns));
    places.push_back(i);
  }
  if (values.empty()) return {};
  const statistics::SteadyState state = statistics::steady_state(values);
  SteadyPart part{0, state.verdict};
  const bool may_leave_out = !is_open && state.verdict == statistics::Steadiness::Steady;
  if (may_leave_out && state.first <= values.size() / kMostLeftOut) {
    part.first = places[state.first];
  }
  return part;
}

std::string verdict_text(statistics::Steadiness verdict) {
  switch (verdict) {
    case statistics::Steadiness::Steady:
      return "steady";
    case statistics::Steadiness::TooShort:
      return "too_short";
    case statistics::Steadiness::Drifting:
      break;
  }
  return "drifting";
}

/// The time that rates are computed over.
struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  double seconds() const { return static_cast<double>(end_ns - begin_ns) * kSecond; }
  bool has(std::int64_t at_ns) const { return at_ns >= begin_ns && at_ns < end_ns; }
};

/// From the first steady request to the last one: until then the load was complete. A load that is
/// too short for that counts until its last answer.
Window window_of(const std::vector<const Outcome*>& steady, bool is_open) {
  if (steady.empty()) return {};
  Window window{start_of(*steady.front(), is_open), start_of(*steady.back(), is_open)};
  std::size_t within = 0;
  std::int64_t last = window.end_ns;
  for (const Outcome* outcome : steady) {
    within += window.has(outcome->end_ns) ? 1U : 0U;
    last = std::max(last, outcome->end_ns);
  }
  if (within * 2 < steady.size()) window.end_ns = last;
  return window;
}

/// Amounts that arrived at certain times, per second of the window.
LoadRate rate_of(const std::vector<std::pair<std::int64_t, double>>& amounts,
                 const Window& window) {
  constexpr std::size_t kBlocks = 20;
  LoadRate rate;
  if (window.seconds() <= 0) return rate;
  std::vector<double> blocks(kBlocks);
  double total = 0;
  const double width = window.seconds() / kBlocks;
  for (const auto& [at_ns, amount] : amounts) {
    if (!window.has(at_ns)) continue;
    const double since = static_cast<double>(at_ns - window.begin_ns) * kSecond;
    blocks[std::min(kBlocks - 1, static_cast<std::size_t>(since / width))] += amount / width;
    total += amount;
  }
  rate.per_second = internal::mean_figure(blocks);
  rate.per_second->value = total / window.seconds();
  return rate;
}

struct Rates {
  LoadRate requests;
  LoadRate output_tokens;
  LoadRate good;
};

/// Of everything that arrived in the window, including answers to requests of the warm-up.
Rates rates_of(const Observation& observation, const settings::Slo& slo, const Window& window) {
  std::vector<std::pair<std::int64_t, double>> ends;
  std::vector<std::pair<std::int64_t, double>> tokens;
  std::vector<std::pair<std::int64_t, double>> good;
  for (const Outcome& outcome : observation.outcomes) {
    if (!outcome.events.empty()) {
      const double per_event =
          static_cast<double>(outcome.tokens()) / static_cast<double>(outcome.events.size());
      for (const OutputEvent& event : outcome.events) tokens.emplace_back(event.at_ns, per_event);
    }
    if (!outcome.succeeded()) continue;
    ends.emplace_back(outcome.end_ns, 1);
    if (is_good(outcome, observation.is_open, slo)) good.emplace_back(outcome.end_ns, 1);
  }
  return {rate_of(ends, window), rate_of(tokens, window), rate_of(good, window)};
}

struct ClientErrors {
  double start_ms = 0;  ///< of the time at which a request began
  double event_ms = 0;
};

LoadLatency latency_of(Clusters clusters, double error_ms) {
  LoadLatency latency = internal::latency(clusters);
  latency.client_error_ms = error_ms;
  const std::pair<const char*, const std::optional<LoadFigure>*> figures[] = {
      {"mean", &latency.mean},
      {"p50", &latency.p50},
      {"p90", &latency.p90},
      {"p95", &latency.p95},
      {"p99", &latency.p99}};
  for (const auto& [name, figure] : figures) {
    if (*figure && error_ms > kErrorThatMatters * (*figure)->value) {
      latency.marked.emplace_back(name);
    }
  }
  return latency;
}

/// Whether the client's error could decide for more than 5 % of the requests whether they are good.
bool goodput_is_marked(const std::vector<const Outcome*>& steady, bool is_open,
                       const settings::Slo& slo, double error_ms) {
  if (!slo.ttft_ms) return false;
  std::size_t close = 0;
  for (const Outcome* outcome : steady) {
    const auto latencies = latencies_of(*outcome, is_open);
    if (!latencies) continue;
    const double ttft_ms = static_cast<double>(latencies->ttft_ns) * kMs;
    close += std::abs(ttft_ms - *slo.ttft_ms) <= error_ms ? 1U : 0U;
  }
  return static_cast<double>(close) > kErrorThatMatters * static_cast<double>(steady.size());
}

LoadMetrics metrics_of(const std::vector<const Outcome*>& steady, bool is_open,
                       const ClientErrors& errors) {
  Clusters ttft;
  Clusters tpot;
  Clusters itl;
  Clusters e2e;
  double tokens = 0;
  for (const Outcome* outcome : steady) {
    const auto latencies = latencies_of(*outcome, is_open);
    if (!latencies) continue;
    ttft.push_back({static_cast<double>(latencies->ttft_ns) * kMs});
    e2e.push_back({static_cast<double>(latencies->e2e_ns) * kMs});
    if (latencies->tpot_ns) tpot.push_back({*latencies->tpot_ns * kMs});
    tokens += static_cast<double>(outcome->tokens());
    std::vector<double> gaps;
    for (std::size_t i = 1; i < outcome->events.size(); ++i) {
      gaps.push_back(static_cast<double>(outcome->events[i].at_ns - outcome->events[i - 1].at_ns) *
                     kMs);
    }
    if (!gaps.empty()) itl.push_back(std::move(gaps));
  }
  const double mean_tokens = ttft.empty() ? 0 : tokens / static_cast<double>(ttft.size());
  LoadMetrics metrics;
  metrics.ttft = latency_of(std::move(ttft), errors.start_ms + errors.event_ms);
  metrics.e2e = latency_of(std::move(e2e), errors.start_ms + errors.event_ms);
  metrics.itl = latency_of(std::move(itl), errors.event_ms);
  metrics.tpot = latency_of(std::move(tpot), errors.event_ms / std::max(1.0, mean_tokens - 1));
  return metrics;
}

LoadCounts counts_of(const Observation& observation) {
  LoadCounts counts;
  for (const Outcome& outcome : observation.outcomes) {
    ++counts.sent;
    const bool is_measured = outcome.measured;
    counts.warmup += is_measured ? 0U : 1U;
    counts.measured += is_measured ? 1U : 0U;
    counts.failed += is_measured && !outcome.succeeded() ? 1U : 0U;
    if (!outcome.succeeded()) continue;
    counts.all_prompt_tokens += outcome.prompt_tokens.value_or(0);
    counts.all_output_tokens += outcome.tokens();
    if (!is_measured) continue;
    ++counts.succeeded;
    counts.prompt_tokens += outcome.prompt_tokens.value_or(0);
    counts.output_tokens += outcome.tokens();
    counts.tokens_estimated += outcome.usage_tokens ? 0U : 1U;
    counts.without_done += outcome.has_done ? 0U : 1U;
  }
  return counts;
}

void add_errors(const Observation& observation, LoadRecord& record) {
  std::map<std::string, LoadError> kinds;
  for (const Outcome* outcome : measured_of(observation)) {
    if (outcome->succeeded()) continue;
    const Failure& failure = *outcome->failure;
    LoadError& error = kinds[failure.kind];
    if (error.count++ == 0) {
      error.kind = failure.kind;
      error.example = failure.text;
    }
    if (record.failures.size() >= kMostFailures) continue;
    const std::int64_t start = start_of(*outcome, observation.is_open);
    record.failures.push_back(
        {outcome->id, static_cast<double>(start - observation.start_ns) * kSecond,
         static_cast<double>(outcome->end_ns - start) * kMs, failure.kind, failure.text});
  }
  for (auto& [kind, error] : kinds) record.errors.push_back(std::move(error));
  std::stable_sort(record.errors.begin(), record.errors.end(),
                   [](const LoadError& a, const LoadError& b) { return a.count > b.count; });
}

}  // namespace

std::optional<Latencies> latencies_of(const Outcome& outcome, bool is_open) {
  if (!outcome.succeeded() || outcome.events.empty()) return std::nullopt;
  const std::int64_t start = start_of(outcome, is_open);
  Latencies latencies;
  latencies.ttft_ns = std::max<std::int64_t>(0, outcome.events.front().at_ns - start);
  latencies.e2e_ns = std::max(latencies.ttft_ns, outcome.end_ns - start);
  if (outcome.tokens() > 1) {
    latencies.tpot_ns = static_cast<double>(latencies.e2e_ns - latencies.ttft_ns) /
                        static_cast<double>(outcome.tokens() - 1);
  }
  return latencies;
}

bool is_good(const Outcome& outcome, bool is_open, const settings::Slo& slo) {
  const auto latencies = latencies_of(outcome, is_open);
  if (!latencies) return false;
  if (slo.ttft_ms && static_cast<double>(latencies->ttft_ns) * kMs > *slo.ttft_ms) return false;
  return !slo.tpot_ms || !latencies->tpot_ns || *latencies->tpot_ns * kMs <= *slo.tpot_ms;
}

void fill_in(const Observation& observation, const settings::Slo& slo, LoadRecord& record) {
  const bool is_open = observation.is_open;
  const std::vector<const Outcome*> measured = measured_of(observation);
  const SteadyPart part = steady_part(measured, is_open);
  const std::vector<const Outcome*> steady(
      measured.begin() + static_cast<std::ptrdiff_t>(part.first), measured.end());
  record.counts = counts_of(observation);
  record.counts.steady = steady.size();
  const Window window = window_of(steady, is_open);
  const auto since_start = [&](std::int64_t at_ns) {
    return static_cast<double>(at_ns - observation.start_ns) * kSecond;
  };
  if (!steady.empty()) {
    record.steady = {since_start(window.begin_ns), since_start(window.end_ns),
                     verdict_text(part.verdict)};
  }
  record.client = client_of(observation);
  const ClientErrors errors{is_open ? record.client.send_lateness.p99_ms : 0,
                            record.client.event_error.p99_ms};
  record.metrics = metrics_of(steady, is_open, errors);
  Rates rates = rates_of(observation, slo, window);
  record.metrics.requests = std::move(rates.requests);
  record.metrics.output_tokens = std::move(rates.output_tokens);
  if (slo.is_set() && !steady.empty()) {
    LoadGoodput& goodput = record.metrics.goodput.emplace();
    goodput.good = static_cast<std::uint64_t>(
        std::count_if(steady.begin(), steady.end(),
                      [&](const Outcome* outcome) { return is_good(*outcome, is_open, slo); }));
    goodput.share = internal::share_figure(goodput.good, steady.size());
    goodput.per_second = rates.good.per_second;
    goodput.marked = goodput_is_marked(steady, is_open, slo, errors.start_ms + errors.event_ms);
  }
  add_errors(observation, record);
  record.seconds = internal::seconds_of(observation);
  internal::decide_limit(observation, record);
  const bool is_client = record.limit == LoadLimit::Client;
  record.metrics.requests.marked = is_client;
  record.metrics.output_tokens.marked = is_client;
  if (record.prompts.mean_output_tokens = std::nullopt; record.counts.succeeded > 0) {
    const auto n = static_cast<double>(record.counts.succeeded);
    record.prompts.mean_output_tokens = static_cast<double>(record.counts.output_tokens) / n;
    if (record.counts.prompt_tokens > 0) {
      record.prompts.mean_prompt_tokens = static_cast<double>(record.counts.prompt_tokens) / n;
    }
  }
}

LoadTrial trial_of(const Observation& observation, double rate, const settings::Slo& slo,
                   bool ended_early) {
  LoadTrial trial;
  trial.rate = rate;
  trial.ended_early = ended_early;
  std::vector<double> ttft;
  std::vector<double> tpot;
  std::vector<double> e2e;
  for (const Outcome* outcome : measured_of(observation)) {
    ++trial.requests;
    trial.good += is_good(*outcome, observation.is_open, slo) ? 1U : 0U;
    const auto latencies = latencies_of(*outcome, observation.is_open);
    if (!latencies) continue;
    ttft.push_back(static_cast<double>(latencies->ttft_ns) * kMs);
    e2e.push_back(static_cast<double>(latencies->e2e_ns) * kMs);
    if (latencies->tpot_ns) tpot.push_back(*latencies->tpot_ns * kMs);
  }
  const auto quantiles = [](std::vector<double>& values, std::optional<double>& p50,
                            std::optional<double>& p99) {
    if (values.empty()) return;
    std::sort(values.begin(), values.end());
    p50 = statistics::quantile(values, 0.5);
    p99 = statistics::quantile(values, 0.99);
  };
  quantiles(ttft, trial.ttft_p50_ms, trial.ttft_p99_ms);
  quantiles(tpot, trial.tpot_p50_ms, trial.tpot_p99_ms);
  quantiles(e2e, trial.e2e_p50_ms, trial.e2e_p99_ms);
  if (trial.requests > 0) trial.share = internal::share_figure(trial.good, trial.requests);
  trial.met = !ended_early && trial.requests > 0 && trial.share.value >= slo.share;
  return trial;
}

std::vector<Request> request_records(const Observation& observation) {
  std::vector<Request> requests;
  for (const Outcome* outcome : measured_of(observation)) {
    const auto latencies = latencies_of(*outcome, observation.is_open);
    if (!latencies) continue;
    Request request;
    request.id = outcome->id;
    request.source = RequestSource::Client;
    request.start_ns = start_of(*outcome, observation.is_open);
    request.ns = latencies->e2e_ns;
    request.ttft_ns = latencies->ttft_ns;
    request.prompt_tokens = outcome->prompt_tokens;
    request.new_tokens = outcome->tokens();
    std::vector<std::int64_t> steps;
    std::int64_t delay_us = 0;
    for (std::size_t i = 0; i < outcome->events.size(); ++i) {
      const OutputEvent& event = outcome->events[i];
      delay_us = std::max<std::int64_t>(delay_us, event.delay_us);
      if (i > 0) steps.push_back(event.at_ns - outcome->events[i - 1].at_ns);
    }
    request.phases.push_back({"first_token", 0, latencies->ttft_ns, {}});
    if (!steps.empty()) {
      request.phases.push_back(
          {"decode", latencies->ttft_ns, latencies->e2e_ns - latencies->ttft_ns, std::move(steps)});
    }
    constexpr std::int64_t kMicrosecond = 1000;
    request.attributes = {{"lateness_ns", Node::integer(std::max<std::int64_t>(
                                              0, outcome->sent_ns - outcome->due_ns))},
                          {"event_delay_ns", Node::integer(delay_us * kMicrosecond)}};
    if (!outcome->finish.empty())
      request.attributes.emplace("finish", Node::string(outcome->finish));
    if (!outcome->usage_tokens) request.attributes.emplace("tokens_estimated", Node::boolean(true));
    requests.push_back(std::move(request));
  }
  return requests;
}

// Bins: 60 per decade from 1 us to 10^6 s.
constexpr double kBinsPerDecade = 60;
constexpr double kLeastMs = 1e-3;

void LatencyHistogram::add(double ms) {
  const double bin = kBinsPerDecade * std::log10(std::max(ms, kLeastMs) / kLeastMs);
  ++counts_[std::min(counts_.size() - 1, static_cast<std::size_t>(bin))];
  ++total_;
}

std::optional<double> LatencyHistogram::quantile_ms(double q) const {
  if (total_ == 0) return std::nullopt;
  const double rank = q * static_cast<double>(total_ - 1);
  std::uint64_t below = 0;
  std::size_t bin = 0;
  while (bin + 1 < counts_.size() && static_cast<double>(below + counts_[bin]) <= rank) {
    below += counts_[bin++];
  }
  return kLeastMs * std::pow(10, (static_cast<double>(bin) + 0.5) / kBinsPerDecade);
}

}  // namespace profline::load
