#include "testing/runs/load_run.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "load/metrics.h"
#include "load/search.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "statistics/summary.h"

namespace profline::testing {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr std::uint32_t kWarmup = 8;

std::int64_t ns_of(double ms) {
  return static_cast<std::int64_t>(ms * kNsPerMs);
}

/// Requests whose events come one by one.
class MadeUpServer {
 public:
  explicit MadeUpServer(const LoadShape& shape) : shape_(shape), random_(shape.seed) {}

  load::Outcome answer(std::uint64_t id, double due_ms) {
    load::Outcome outcome;
    outcome.id = id;
    outcome.measured = id >= kWarmup;
    outcome.due_ns = ns_of(due_ms);
    outcome.sent_ns = outcome.due_ns + ns_of(shape_.lateness_ms * around());
    outcome.prompt_tokens = 512;
    const bool fails = shape_.failures > 0 && outcome.measured &&
                       (id - kWarmup) % (shape_.requests / shape_.failures) == 1;
    double at_ms = due_ms + shape_.lateness_ms + shape_.ttft_ms * around() * tail();
    if (fails) {
      outcome.end_ns = ns_of(at_ms);
      outcome.failure = failures_++ % 2 == 0 ? load::Failure{"http_503", "HTTP 503: overloaded"}
                                             : load::Failure{"reset", "the connection was reset"};
      return outcome;
    }
    for (std::uint32_t i = 0; i < shape_.tokens; ++i) {
      outcome.events.push_back({ns_of(at_ms), 20, 5});
      at_ms += shape_.token_ms * around() * tail();
    }
    outcome.end_ns = outcome.events.back().at_ns;
    outcome.usage_tokens = shape_.tokens;
    outcome.has_done = true;
    outcome.finish = "length";
    return outcome;
  }

  /// Exponential, with a mean of 1.
  double gap() { return -std::log((1.0 + random_.below(kSteps)) / (1.0 + kSteps)); }

 private:
  static constexpr std::uint32_t kSteps = 10'000;

  /// From 0.75 to 1.25.
  double around() { return 0.75 + 0.5 * random_.below(kSteps) / kSteps; }
  /// One in forty takes three times as long.
  double tail() { return random_.below(40) == 0 ? 3 : 1; }

  const LoadShape& shape_;
  statistics::RandomNumbers random_;
  std::uint32_t failures_ = 0;
};

load::Observation observe(const LoadShape& shape) {
  load::Observation observation;
  observation.is_open = shape.rate > 0;
  if (observation.is_open) observation.rate = shape.rate;
  observation.concurrency = shape.concurrency;
  observation.kernel_times = true;
  observation.busy_share = 0.07;
  MadeUpServer server(shape);
  std::vector<double> free_ms(shape.concurrency, 0);  // when each of them may send the next one
  double due_ms = 0;
  for (std::uint64_t id = 0; id < kWarmup + shape.requests; ++id) {
    if (observation.is_open) {
      due_ms += server.gap() * 1e3 / shape.rate;
      observation.outcomes.push_back(server.answer(id, due_ms));
    } else {
      const auto next = std::min_element(free_ms.begin(), free_ms.end());
      observation.outcomes.push_back(server.answer(id, *next));
      *next = static_cast<double>(observation.outcomes.back().end_ns) / kNsPerMs;
    }
  }
  return observation;
}

settings::Load settings_of(const LoadShape& shape) {
  settings::Load load;
  if (shape.rate > 0) {
    load.arrival.rate = shape.rate;
  } else {
    load.arrival.concurrency = shape.concurrency;
  }
  load.prompts.input_tokens = 512;
  load.prompts.output_tokens = shape.tokens;
  load.warmup.requests = kWarmup;
  load.measure.requests = shape.requests;
  load.slo = shape.slo;
  return load;
}

Node map_of(std::vector<std::pair<const char*, Node>> entries) {
  NodeMap map;
  for (auto& [key, value] : entries) map.set(key, std::move(value));
  return Node::map(std::move(map));
}

}  // namespace

LoadRun::LoadRun(const LoadShape& shape) {
  run.id = "20261118-100000";
  run.experiment = "load";
  run.state = RunState::Ok;
  run.exit_code = 0;
  run.started = "2026-11-18T10:00:00.000Z";
  run.ended = "2026-11-18T10:00:30.000Z";
  run.version = "0.2.0";
  run.device = "cpu";
  run.host = "client-node";
  run.command_line.argv = {"profline", "load", "http://127.0.0.1:8000"};
  run.command_line.cwd = "/home/user";
  run.timing.total_ns = 30'000'000'000;
  StageRecord stage;
  stage.name = "load";
  stage.state = StageState::Ok;
  stage.timing.total_ns = run.timing.total_ns;
  run.stages = {stage};

  const settings::Load settings = settings_of(shape);
  load.url = "http://127.0.0.1:8000";
  load.model = "tiny-llama";
  load.server = "llama.cpp";
  load.loop = shape.rate > 0 ? "poisson" : "closed";
  if (shape.rate > 0) {
    load.rate = shape.rate;
  } else {
    load.concurrency = shape.concurrency;
  }
  load.configuration = schema::write(settings);
  load.prompts.source = "synthetic";
  load.prompts.length = "exact";
  load.prompts.distinct = 64;
  const load::Observation observation = observe(shape);
  load::fill_in(observation, shape.slo, load);
  requests = load::request_records(observation);
  config =
      map_of({{"device", Node::string("cpu")},
              {"experiment", Node::string("load")},
              {"pipeline",
               map_of({{"workload", map_of({{"kind", Node::string("server")},
                                            {"server", map_of({{"url", Node::string(load.url)}})},
                                            {"load", load.configuration}})}})}});
}

void LoadRun::write(const std::filesystem::path& folder) const {
  ASSERT_TRUE(create_folders(folder));
  std::string lines;
  for (const Request& request : requests) lines += to_json_line(request) + "\n";
  const auto write = [&](const char* name, const std::string& text) {
    ASSERT_TRUE(write_file_atomic(folder / name, text));
  };
  write(run::files::kRequests, lines);
  write(run::files::kLoad, to_document(load).value());
  write(run::files::kResolvedConfig, write_json(config).value());
  write(run::files::kRecord, write_json(to_node(run)).value());
}

LoadSearch made_up_search() {
  std::vector<LoadTrial> trials;
  for (const double rate : {4.0, 8.0, 16.0, 12.0, 14.0, 12.0}) {
    LoadTrial trial;
    trial.rate = rate;
    trial.requests = 200;
    trial.good = rate <= 12 ? 197 : rate <= 14 ? 160 : 90;
    const double share = static_cast<double>(trial.good) / static_cast<double>(trial.requests);
    trial.share = {share, share - 0.03, std::min(1.0, share + 0.02)};
    trial.met = rate <= 12;
    trial.ended_early = rate >= 16;
    const double slow = rate <= 12 ? 1 + rate / 40 : rate / 4;
    trial.ttft_p50_ms = 40 * slow;
    trial.ttft_p99_ms = 90 * slow * slow;
    trial.tpot_p50_ms = 8 * (1 + rate / 40);
    trial.tpot_p99_ms = 12 * (1 + rate / 30);
    trial.e2e_p50_ms = 300 * slow;
    trial.e2e_p99_ms = 420 * slow * slow;
    trials.push_back(trial);
  }
  return load::search_result(std::move(trials), {});
}

}  // namespace profline::testing
