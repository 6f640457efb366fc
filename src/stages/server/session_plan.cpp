#include <cstdlib>

#include <time.h>

#include "base/figures.h"
#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "run/names/artifact_names.h"
#include "stages/server/internal/session.h"
#include "workloads/server/command.h"
#include "workloads/server/readiness.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::RunSetup;
using pipeline::Severity;
using pipeline::StageContext;

constexpr const char* kLoadProgram = "profline-load";
constexpr double kNsPerSecond = 1e9;

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  constexpr std::int64_t kSecond = 1'000'000'000;
  return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

}  // namespace

std::int64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

std::int64_t unix_minus_monotonic_ns() {
  // The clocks are read one after another: of several tries, the one that took the shortest.
  std::int64_t best = 0;
  std::int64_t shortest = INT64_MAX;
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = monotonic_ns();
    const std::int64_t unix_ns = clock_ns(CLOCK_REALTIME);
    const std::int64_t after = monotonic_ns();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = unix_ns - (before + shortest / 2);
  }
  return best;
}

const settings::Workload& workload_of(const RunSetup& setup) {
  return setup.settings.pipeline.workload;
}

bool is_attached(const RunSetup& setup) {
  return !workload_of(setup).user_command().has_value();
}

fs::path load_folder(const RunSetup& setup, std::string_view stage) {
  return setup.stage_folder(stage) / run::stages::kLoad;
}

fs::path server_log(const RunSetup& setup, std::string_view stage) {
  return setup.stage_folder(stage) / run::files::kLog;
}

std::vector<Finding> server_preflight(const StageContext& context) {
  const RunSetup& setup = context.setup;
  const settings::Workload& workload = workload_of(setup);
  std::vector<Finding> findings;
  if (!is_attached(setup)) findings = pipeline::workload_preflight(context);
  const settings::Load& load = workload.load;
  if (!load.command) {
    if (const auto program = find_companion(kLoadProgram); !program) {
      findings.push_back({Severity::Problem, "load_absent", program.error().message(),
                          "it is installed with profline; build it with 'make build'"});
    }
  } else if (load.command->empty()) {
    findings.push_back({Severity::Problem, "load_command",
                        "pipeline.workload.load.command is empty", "set it to null",
                        ErrorKind::Config});
  }
  if (load.api_key_env && std::getenv(load.api_key_env->c_str()) == nullptr) {
    findings.push_back({Severity::Problem, "no_api_key",
                        "the environment variable " + *load.api_key_env +
                            " (pipeline.workload.load.api_key_env) is not set",
                        "export it, or set the key to null"});
  }
  if (load.search) {
    findings.push_back({Severity::Problem, "load_search",
                        "pipeline.workload.load.search looks for a rate, and a profiled server is "
                        "loaded in the same way each time",
                        "find the rate with 'profline load', then set arrival.rate",
                        ErrorKind::Config});
  }
  if (const auto readiness = server::Readiness::of(workload.server, {}); !readiness) {
    findings.push_back({Severity::Problem, "server_url", readiness.error().message(),
                        "pipeline.workload.server.url=http://127.0.0.1:8000", ErrorKind::Config});
  }
  return findings;
}

void add_session(const StageContext& context, std::string_view stage, Command server,
                 bool until_asked, pipeline::StagePlan& plan) {
  const RunSetup& setup = context.setup;
  const settings::Workload& workload = workload_of(setup);
  if (!is_attached(setup)) {
    server.log = server_log(setup, stage);
    plan.commands.push_back({kServer, std::move(server)});
  }
  const fs::path folder = load_folder(setup, stage);
  Command load;
  if (workload.load.command) {
    load.argv = *workload.load.command;
    load.env[server::kServerUrl] = workload.server.url.value_or("");
    load.cwd = folder;
  } else {
    load.argv = {find_companion(kLoadProgram).value_or(kLoadProgram).string(),
                 "--config",
                 (setup.folder / run::files::kResolvedConfig).string(),
                 "--out",
                 folder.string(),
                 "--base",
                 setup.cwd.string(),
                 "--progress",
                 (folder / run::files::kProgress).string()};
    if (until_asked) load.argv.emplace_back("--until-asked");
    if (auto secrets = pipeline::config_secrets(setup)) {
      load.env[kConfigSecrets] = *std::move(secrets);
    }
  }
  load.log = folder / run::files::kLog;
  plan.commands.push_back({kLoad, std::move(load), "once the server is ready"});
  plan.artifacts = {run::files::kServerRecord, run::files::kLog,
                    std::string(run::stages::kLoad) + "/" + run::files::kLoad,
                    std::string(run::stages::kLoad) + "/" + run::files::kRequests};
  if (until_asked) {
    const settings::ServerWindow& window = workload.window;
    plan.limits.push_back(
        duration(window.seconds * kNsPerSecond) + " of the load, once " +
        (window.after == settings::WindowAfter::Steady ? "it is steady" : "the warm-up has ended") +
        " (pipeline.workload.window)");
    if (!workload.load.command) {
      plan.notes.emplace_back(
          "the load goes on until the window has closed, whatever "
          "pipeline.workload.load.measure says");
    }
  }
}

}  // namespace profline::stages::internal
