#include "summary/load.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "summary/internal/number_at.h"

namespace profline::summary {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr std::string_view kUnknown = "–";

std::string ms_text(double ms) {
  return duration(ms * kNsPerMs);
}

std::string loop_words(const LoadRecord& load) {
  if (load.loop == "closed") {
    return fmt::format("Closed loop: {} in flight at all times",
                       counted(load.concurrency.value_or(0), "request"));
  }
  const std::string rate = load.rate ? human_rate(*load.rate, "requests") : "";
  if (load.loop == "trace") {
    return "Open loop: requests sent at the times of a trace" +
           (rate.empty() ? "" : ", " + rate + " on average");
  }
  return fmt::format("Open loop: {}, {}", rate.empty() ? "requests at a rate" : rate,
                     load.loop == "constant" ? "evenly spaced" : "Poisson arrivals");
}

std::string prompt_words(const LoadPromptFacts& prompts) {
  std::string text = prompts.source == "synthetic"
                         ? counted(prompts.distinct, "synthetic prompt")
                         : counted(prompts.distinct, "prompt") + " from a " +
                               (prompts.source.empty() ? "file" : prompts.source);
  std::vector<std::string> tokens;
  if (prompts.mean_prompt_tokens) {
    tokens.push_back(counted_mean(*prompts.mean_prompt_tokens, "prompt token"));
  }
  if (prompts.mean_output_tokens) {
    tokens.push_back(counted_mean(*prompts.mean_output_tokens, "output token"));
  }
  if (!tokens.empty()) text += ", " + join(tokens, " and ") + " per request on average";
  if (prompts.length == "approximate") text += " (the length of prompts is approximate)";
  return text;
}

std::string configuration_words(const LoadRecord& load) {
  std::string text =
      fmt::format("{}. {} measured", loop_words(load), counted(load.counts.measured, "request"));
  if (load.counts.warmup > 0) {
    text += fmt::format(" after {} of warm-up", counted(load.counts.warmup, "request"));
  }
  return text + "; " + prompt_words(load.prompts);
}

std::vector<Finding> findings_of(const LoadRecord& load, const RunRecord& run) {
  std::vector<Finding> findings = load.findings;
  const auto has = [](const std::vector<Finding>& all, const Finding& finding) {
    return std::find(all.begin(), all.end(), finding) != all.end();
  };
  std::erase_if(findings, [&](const Finding& finding) {
    return has(run.findings, finding) ||
           std::any_of(run.stages.begin(), run.stages.end(),
                       [&](const StageRecord& stage) { return has(stage.findings, finding); });
  });
  return findings;
}

bool is_marked(const LoadLatency& latency, std::string_view figure) {
  return std::find(latency.marked.begin(), latency.marked.end(), figure) != latency.marked.end();
}

std::string marked(std::string text, bool is_marked) {
  return is_marked ? text.append(kMark) : text;
}

using Text = std::string (*)(double);

std::string interval_words(const LoadFigure& figure, Text text) {
  if (!figure.low && !figure.high) return "";
  const auto end = [&](const std::optional<double>& value) {
    return value ? text(*value) : std::string(kUnknown);
  };
  return end(figure.low) + " to " + end(figure.high);
}

LoadRateRow rate_row(std::string name, const std::optional<LoadFigure>& figure, bool is_marked,
                     Text text) {
  if (!figure) return {std::move(name), std::string(kUnknown), std::string(kUnknown)};
  std::string interval = interval_words(*figure, text);
  if (interval.empty()) interval = kUnknown;
  return {std::move(name), marked(text(figure->value), is_marked), std::move(interval)};
}

std::string requests_text(double per_second) {
  return human_rate(per_second, "requests");
}

std::string tokens_text(double per_second) {
  return human_rate(per_second, "tokens");
}

/// `2 http_503, 1 reset and 3 more`.
std::string error_kinds(const SummaryLoad& load) {
  constexpr std::size_t kMost = 3;
  std::string text;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < load.errors.size(); ++i) {
    const LoadError& error = load.errors[i];
    if (i >= kMost) {
      rest += error.count;
    } else {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", error.count, error.kind);
    }
  }
  return rest > 0 ? fmt::format("{} and {} more", text, rest) : text;
}

/// `TTFT is 21.3 ms at p50 and 45.0 ms at p99`; empty: it was not measured.
std::string latency_words(std::string_view name, const LoadLatency& latency) {
  const auto figures = latency_figures(latency);
  if (!latency.p50) return "";
  return fmt::format("{} is {} at p50 and {} at p99", name, latency_text(figures[0]),
                     latency_text(figures[3]));
}

std::string offered_words(const SummaryLoad& load) {
  if (load.concurrency) {
    return fmt::format("With {} in flight", counted(*load.concurrency, "request"));
  }
  return load.rate ? "At " + requests_text(*load.rate) : "With the arrivals of the trace";
}

std::string speed_words(const SummaryLoad& load) {
  const LoadRate& requests = load.metrics.requests;
  const LoadRate& tokens = load.metrics.output_tokens;
  std::string text = offered_words(load);
  text += requests.per_second
              ? " the server completes " +
                    marked(requests_text(requests.per_second->value), requests.marked)
              : " the load was too short to measure a rate";
  if (tokens.per_second) {
    text += fmt::format(" ({})", marked(tokens_text(tokens.per_second->value), tokens.marked));
  }
  std::vector<std::string> latencies = {latency_words("TTFT", load.metrics.ttft),
                                        latency_words("TPOT", load.metrics.tpot)};
  std::erase(latencies, "");
  if (!latencies.empty()) text += ". " + join(latencies, ", ");
  return text;
}

std::string goodput_words(const SummaryLoad& load) {
  const auto& goodput = load.metrics.goodput;
  if (!goodput || !goodput->share) return "";
  return fmt::format("{} of the requests meet the SLOs ({})",
                     marked(percent(goodput->share->value), goodput->marked), slo_words(load));
}

}  // namespace

std::optional<SummaryLoad> load_of(const run::Run& run) {
  const auto& load = run.get(run::kLoad);
  if (!load) return std::nullopt;
  SummaryLoad summary;
  summary.configuration = configuration_words(*load);
  summary.url = load->url;
  summary.model = load->model;
  summary.server = load->server;
  if (load->loop == "closed") summary.concurrency = load->concurrency;
  summary.rate = load->rate;
  summary.slo_ttft_ms = number_at(load->configuration, "slo.ttft_ms");
  summary.slo_tpot_ms = number_at(load->configuration, "slo.tpot_ms");
  if (summary.slo_ttft_ms || summary.slo_tpot_ms) {
    summary.slo_share = number_at(load->configuration, "slo.share");
  }
  summary.counts = load->counts;
  summary.steady = load->steady;
  summary.metrics = load->metrics;
  summary.errors = load->errors;
  summary.client = load->client;
  summary.limit = load->limit;
  summary.limit_reason = load->limit_reason;
  summary.interrupted = load->interrupted;
  summary.search = load->search;
  summary.findings = findings_of(*load, run.record());
  summary.source = load.file;
  return summary;
}

bool is_only_load(const RunSummary& summary) {
  return summary.load && summary.server.empty() && !summary.request && !summary.program &&
         summary.phases.empty() && summary.kernels.empty();
}

std::string mark_note(const SummaryLoad& load) {
  std::vector<std::string> errors;
  for (const LoadLatencyRow& row : load_latencies(load)) {
    if (row.latency->marked.empty()) continue;
    errors.push_back(fmt::format("{} by {}", row.name, ms_text(row.latency->client_error_ms)));
  }
  const LoadMetrics& metrics = load.metrics;
  const bool has_rate = metrics.requests.marked || metrics.output_tokens.marked ||
                        (metrics.goodput && metrics.goodput->marked);
  if (errors.empty() && !has_rate) return "";
  std::string text = "the client's own error could change this figure by more than 5 %";
  return errors.empty() ? text : text + " (" + join(errors, ", ") + " at its own p99)";
}

std::array<LoadLatencyRow, 4> load_latencies(const SummaryLoad& load) {
  const LoadMetrics& metrics = load.metrics;
  return {
      {{"ttft", "TTFT", "time to the first token", &metrics.ttft},
       {"tpot", "TPOT", "time per output token after the first, of each request", &metrics.tpot},
       {"itl", "ITL", "time between two events with output", &metrics.itl},
       {"e2e", "E2E", "from the start of a request to its last event", &metrics.e2e}}};
}

std::array<LoadLatencyFigure, 5> latency_figures(const LoadLatency& latency) {
  return {{{"p50", latency.p50, is_marked(latency, "p50")},
           {"p90", latency.p90, is_marked(latency, "p90")},
           {"p95", latency.p95, is_marked(latency, "p95")},
           {"p99", latency.p99, is_marked(latency, "p99")},
           {"mean", latency.mean, is_marked(latency, "mean")}}};
}

std::vector<LoadRateRow> load_rates(const SummaryLoad& load) {
  const LoadMetrics& metrics = load.metrics;
  std::vector<LoadRateRow> rows = {
      rate_row("requests", metrics.requests.per_second, metrics.requests.marked, requests_text),
      rate_row("output tokens", metrics.output_tokens.per_second, metrics.output_tokens.marked,
               tokens_text)};
  if (const auto& goodput = metrics.goodput) {
    rows.push_back(rate_row("goodput", goodput->per_second, goodput->marked, requests_text));
    rows.push_back(rate_row("good requests", goodput->share, goodput->marked,
                            [](double share) { return percent(share); }));
  }
  return rows;
}

std::array<LoadDelayRow, 3> client_delays(const SummaryLoad& load) {
  const LoadClient& client = load.client;
  return {
      {{"send lateness", "from when a request was due to when it was sent", &client.send_lateness},
       {"event delay", "from the arrival of data at the socket to when the client read it",
        &client.event_delay},
       {"event error", "the part of the event delay that event times may still include",
        &client.event_error}}};
}

std::string latency_text(const LoadLatencyFigure& figure) {
  if (!figure.figure) return std::string(kUnknown);
  return marked(ms_text(figure.figure->value), figure.is_marked);
}

std::string latency_interval(const LoadLatencyFigure& figure) {
  return figure.figure ? interval_words(*figure.figure, ms_text) : "";
}

std::string slo_words(const SummaryLoad& load) {
  std::vector<std::string> texts;
  if (load.slo_ttft_ms) texts.push_back("TTFT at most " + ms_text(*load.slo_ttft_ms));
  if (load.slo_tpot_ms) texts.push_back("TPOT at most " + ms_text(*load.slo_tpot_ms));
  return join(texts, " and ");
}

std::string good_words(const SummaryLoad& load) {
  const auto& goodput = load.metrics.goodput;
  if (!goodput) return "";
  return fmt::format("{} of {} met all SLOs ({}); a failed request meets none", goodput->good,
                     counted(load.counts.steady, "request"), slo_words(load));
}

std::string limit_words(const SummaryLoad& load) {
  const std::string why = load.limit_reason.empty() ? "" : ": " + load.limit_reason;
  switch (load.limit) {
    case LoadLimit::Server:
      return "The server was the bottleneck" + why;
    case LoadLimit::Client:
      return "The client was the bottleneck, so the server may be faster than these figures" + why;
    case LoadLimit::Neither:
      return "Neither the client nor the server was the bottleneck" + why;
  }
  return "";
}

std::string steady_words(const SummaryLoad& load) {
  std::string text =
      fmt::format("Over the steady part: {}, {:.1f} s to {:.1f} s after the start",
                  counted(load.counts.steady, "request"), load.steady.start_s, load.steady.end_s);
  if (load.steady.verdict == "too_short") {
    text += "; there are too few requests to tell whether they are steady";
  } else if (load.steady.verdict == "drifting") {
    text += "; latency still changed, so a longer load may give other figures";
  }
  return text;
}

std::string client_words(const SummaryLoad& load) {
  return fmt::format(
      "{}. The client's event loop was busy {} of the time",
      load.client.kernel_times
          ? "Event times were taken by the kernel, so they include the event delay only where "
            "several events were waiting"
          : "Event times are those at which the client woke up, so they include the event delay",
      percent(load.client.busy_share));
}

std::string failure_words(const SummaryLoad& load) {
  if (load.counts.failed == 0) {
    return load.counts.measured == 0 ? "No request was measured" : "No request failed";
  }
  return fmt::format("{} of {} failed", load.counts.failed,
                     counted(load.counts.measured, "request"));
}

std::string search_words(const SummaryLoad& load) {
  if (!load.search) return "";
  std::string slos = slo_words(load);
  if (load.slo_share) {
    slos += fmt::format(", for {} of the requests", chosen_percent(*load.slo_share));
  }
  const LoadSearch& search = *load.search;
  if (!search.rate) {
    return fmt::format("None of the rates that were tried meets the SLOs ({})", slos);
  }
  std::string text = fmt::format("The highest rate that meets the SLOs ({}) is {}", slos,
                                 requests_text(*search.rate));
  if (search.missed_rate) {
    text += fmt::format("; {} does not meet them", requests_text(*search.missed_rate));
  }
  return text;
}

std::string load_verdict(const SummaryLoad& load) {
  const bool has_failed = load.counts.failed > 0;
  const std::string failed = failure_words(load) + (has_failed ? ": " + error_kinds(load) : "");
  std::vector<std::string> sentences;
  if (load.search) sentences.push_back(search_words(load));
  if (load.counts.succeeded == 0) {
    sentences.push_back(failed);
  } else {
    sentences.push_back(speed_words(load));
    if (!load.search) sentences.push_back(goodput_words(load));
    if (has_failed) sentences.push_back(failed);
    sentences.push_back(limit_words(load));
  }
  if (load.interrupted) sentences.emplace_back("The load was stopped early");
  std::erase(sentences, "");
  std::string text = join(sentences, ". ");
  const bool has_marks = text.find(kMark) != std::string::npos;
  if (has_marks)
    text += fmt::format(". {}: may be off by more than 5 % because of the client", kMark);
  return text;
}

}  // namespace profline::summary
