#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "records/load.h"
#include "run/artifacts.h"
#include "run/run.h"
#include "schema/read.h"
#include "session/configuration.h"
#include "session/run_session.h"
#include "standard_streams.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

constexpr std::size_t kLabel = 15;

std::string milliseconds(double ms) {
  constexpr double kNs = 1e6;
  return duration(ms * kNs);
}

std::string line(std::string_view label, const std::string& text) {
  return fmt::format("{:<{}} {}\n", label, kLabel, text);
}

/// `12.3 ms`, with a star if the client's own error could change it by more than 5 %.
std::string cell(const LoadLatency& latency, const char* name,
                 const std::optional<LoadFigure>& figure) {
  if (!figure) return "–";
  const bool is_marked =
      std::find(latency.marked.begin(), latency.marked.end(), name) != latency.marked.end();
  return milliseconds(figure->value) + (is_marked ? "*" : "");
}

std::string latency_table(const LoadMetrics& metrics, std::size_t width, const Palette& palette) {
  using Align = TextTable::Align;
  TextTable table({{"", Align::Left},
                   {"p50"},
                   {"p90", Align::Right, false, 2},
                   {"p95", Align::Right, false, 3},
                   {"p99"},
                   {"mean", Align::Right, false, 4},
                   {"95 % of p50", Align::Right, false, 1}});
  const std::pair<const char*, const LoadLatency*> rows[] = {{"TTFT", &metrics.ttft},
                                                             {"TPOT", &metrics.tpot},
                                                             {"ITL", &metrics.itl},
                                                             {"E2E", &metrics.e2e}};
  for (const auto& [name, latency] : rows) {
    std::string interval = "–";
    if (latency->p50 && latency->p50->low && latency->p50->high) {
      interval = milliseconds(*latency->p50->low) + " to " + milliseconds(*latency->p50->high);
    }
    table.add({name, cell(*latency, "p50", latency->p50), cell(*latency, "p90", latency->p90),
               cell(*latency, "p95", latency->p95), cell(*latency, "p99", latency->p99),
               cell(*latency, "mean", latency->mean), interval});
  }
  return table.render(width, palette);
}

std::string figure_text(const LoadFigure& figure, std::string_view unit, bool marked) {
  std::string text = fmt::format("{:.4g}{}{}", figure.value, unit, marked ? "*" : "");
  if (figure.low && figure.high) {
    text += fmt::format(" (95 % interval {:.4g} to {:.4g})", *figure.low, *figure.high);
  }
  return text;
}

bool has_marks(const LoadMetrics& metrics) {
  return !metrics.ttft.marked.empty() || !metrics.tpot.marked.empty() ||
         !metrics.itl.marked.empty() || !metrics.e2e.marked.empty() || metrics.requests.marked ||
         metrics.output_tokens.marked;
}

std::string delay_text(const LoadDelay& delay) {
  return fmt::format("p50 {}, p99 {}, max {}", milliseconds(delay.p50_ms),
                     milliseconds(delay.p99_ms), milliseconds(delay.max_ms));
}

std::string arrival_text(const LoadRecord& load) {
  if (load.concurrency) return counted(*load.concurrency, "request") + " in flight";
  if (load.rate) return fmt::format("{:.4g} requests/s, {}", *load.rate, load.loop);
  return load.loop;
}

std::string search_text(const LoadSearch& search) {
  std::string text;
  for (const LoadTrial& trial : search.trials) {
    text += line(
        "", fmt::format("{:>8.4g}/s  {:<6}  {} good{}", trial.rate, trial.met ? "met" : "missed",
                        percent(trial.share.value), trial.ended_early ? ", ended early" : ""));
  }
  const std::string found =
      search.rate ? fmt::format("{:.4g} requests/s meet the SLOs", *search.rate) : "nothing found";
  return line("search", fmt::format("{} in {}", found, counted(search.trials.size(), "run"))) +
         text + line("confidence", search.confidence);
}

std::string rates_text(const LoadRecord& load) {
  const LoadMetrics& metrics = load.metrics;
  std::string text;
  if (metrics.requests.per_second) {
    text +=
        line("requests", figure_text(*metrics.requests.per_second, "/s", metrics.requests.marked));
  }
  if (metrics.output_tokens.per_second) {
    text += line("output tokens", figure_text(*metrics.output_tokens.per_second, "/s",
                                              metrics.output_tokens.marked));
  }
  if (metrics.goodput && metrics.goodput->share) {
    const LoadGoodput& goodput = *metrics.goodput;
    std::string good = fmt::format("{} of requests met the SLOs{}", percent(goodput.share->value),
                                   goodput.marked ? "*" : "");
    if (goodput.per_second) good += fmt::format(", {:.4g}/s", goodput.per_second->value);
    text += line("goodput", good);
  }
  return text;
}

std::string load_text(const LoadRecord& load, std::size_t width, const Palette& palette) {
  std::string text = line(
      "server", printable(load.url) + (load.model.empty() ? "" : ", " + printable(load.model)));
  const std::string steady =
      load.steady.verdict == "drifting" ? "; latency still changed at the end" : "";
  text += line("load",
               fmt::format("{}; {} measured, {} failed{}", arrival_text(load),
                           counted(load.counts.measured, "request"), load.counts.failed, steady));
  if (load.metrics.ttft.n > 0) {
    text += '\n' + latency_table(load.metrics, width, palette) + '\n';
  }
  const bool was_answered = load.counts.succeeded > 0;
  if (was_answered) text += rates_text(load);
  for (const LoadError& error : load.errors) {
    text +=
        line("error", fmt::format("{} {}: {}", error.count, error.kind, printable(error.example)));
  }
  if (load.search) text += search_text(*load.search);
  if (was_answered) {
    text += line("client error", "sent late by " + delay_text(load.client.send_lateness));
    text += line("", "events read after " + delay_text(load.client.event_delay) +
                         (load.client.kernel_times ? " (corrected)" : ""));
    constexpr const char* kLimits[] = {"the server", "the client", "neither"};
    text += line("limit", fmt::format("{}: {}", kLimits[static_cast<std::size_t>(load.limit)],
                                      load.limit_reason));
  }
  if (has_marks(load.metrics)) {
    text += line("*", "the client's own error could change this by more than 5 %");
  }
  return text;
}

Result<void> print_load(const session::FinishedRun& run, const Invocation& invocation) {
  const run::Run files = run::Run::with_record(run.folder, run.record);
  const run::Artifact<LoadRecord>& load = files.get(run::kLoad);
  if (invocation.output.format == OutputFormat::Json) {
    NodeMap document;
    document.set("schema", Node::string("profline.load_result/1"));
    document.set("run_dir", Node::string(run.folder.string()));
    document.set("state", Node::string(std::string(to_text(run.record.state))));
    document.set("exit_code", Node::integer(static_cast<int>(run.code)));
    document.set("load", load ? schema::write(*load) : Node());
    return print_result(PL_TRY(write_json(Node::map(std::move(document)))));
  }
  const Palette palette(wants_color(invocation.arguments.value("--color"), STDOUT_FILENO));
  std::string text = load ? load_text(*load, output_width(), palette) : "";
  text += line("run", printable(run.folder.string()));
  return print_result(for_terminal(text));
}

/// `profline load`: puts a server that is running under load.
class LoadVerb final : public Verb {
 public:
  std::string_view name() const override { return "load"; }
  std::string_view summary() const override {
    return "put a running LLM server under load and measure its latency";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline load http://127.0.0.1:8000", "8 requests in flight, 200 requests"},
        {"profline load http://127.0.0.1:8000 pipeline.workload.load.arrival.rate=4",
         "4 requests per second, whether or not earlier ones were answered"},
        {"profline load http://127.0.0.1:8000 pipeline.workload.load.search=true "
         "pipeline.workload.load.slo.ttft_ms=200",
         "the highest rate with a first token within 200 ms for 90 % of requests"},
    };
  }
  std::string_view words() const override { return "URL [OVERRIDES]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> LoadVerb::options() const {
  std::vector<Option> options = config_choice_options();
  for (Option& option : options) {
    if (option.name == "--config-name") option.help = "the primary config [load]";
  }
  return options;
}

Result<ExitCode> LoadVerb::run(const Services& services, const Invocation& invocation) const {
  session::RunRequest request;
  request.choice = config_choice(invocation.arguments);
  if (!invocation.arguments.has("--config-name")) request.choice.name = session::kLoadConfig;
  std::vector<std::string>& words = request.choice.overrides;
  const bool has_url = !words.empty() && words.front().find("://") < words.front().find('=');
  if (has_url) {
    const std::string url = words.front();
    words.erase(words.begin());
    // Last, so that the user's overrides keep their numbers in messages.
    words.push_back(session::url_override(url));
  } else if (words.empty() || !looks_like_override(words.front())) {
    return usage("name the server to load: profline load http://127.0.0.1:8000");
  }
  request.argv = invocation.argv;
  session::PreparedRun run =
      PL_TRY(session::prepare_run(request, session::Making::Folder, services));
  const session::FinishedRun done = PL_TRY(session::start_run(run, request, services));
  PL_TRY(print_load(done, invocation));
  return done.code;
}

std::unique_ptr<Verb> load_verb() {
  return std::make_unique<LoadVerb>();
}

}  // namespace profline
