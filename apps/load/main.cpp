#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/files.h"
#include "cli_program.h"
#include "formats/json.h"
#include "formats/node.h"
#include "load/client/load_run.h"
#include "profline_version.h"
#include "records/document.h"
#include "records/request.h"
#include "records/run_record.h"
#include "run/names/artifact_names.h"
#include "settings/root.h"

namespace {

using namespace profline;
namespace fs = std::filesystem;

/// The command line.
struct Options {
  bool show_version = false;
  std::string config;
  std::string out;
  std::string base = ".";
  std::string progress;
  bool until_asked = false;
};

// Set by a signal: the load then stops, and what was measured so far is written.
std::atomic<bool> g_stopping{false};
std::atomic<bool> g_finishing{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_stopping = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one ends the program
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  action.sa_handler = [](int) { g_finishing = true; };
  action.sa_flags = 0;
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void declare(CLI::App& app, Options& options) {
  app.add_flag("--version", options.show_version, "show the version");
  app.add_option("--config", options.config, "resolved config of a run, as JSON");
  app.add_option("--out", options.out, "folder for what is written");
  app.add_option("--progress", options.progress,
                 "file that gets a line for each request that has ended");
  app.add_flag("--until-asked", options.until_asked,
               "send requests until SIGUSR1, then wait for outstanding responses");
  app.add_option("--base", options.base, "where relative paths of the config start [.]");
}

/// The config lacks values that look like secrets, which come through the environment.
Result<settings::Workload> read_workload(const std::string& path) {
  Node config = PL_TRY(parse_json(PL_TRY(read_file(path)), path));
  if (config.is_map()) config.as_map().erase("schema");
  if (const char* secrets = std::getenv(kConfigSecrets)) {
    restore(config, PL_TRY(parse_json(secrets, kConfigSecrets)));
  }
  return PL_TRY(settings::read_settings(config)).pipeline.workload;
}

Result<load::LoadJob> job_of(const Options& options) {
  const settings::Workload workload = PL_TRY(read_workload(options.config));
  if (!workload.server.url) {
    return Error(ErrorKind::Config, "pipeline.workload.server.url must be given");
  }
  load::LoadJob job{workload.load, *workload.server.url, {}, options.base, options.until_asked};
  if (workload.load.api_key_env) {
    const char* const key = std::getenv(workload.load.api_key_env->c_str());
    if (key == nullptr) {
      return Error(ErrorKind::NotFound, "pipeline.workload.load.api_key_env: the variable " +
                                            *workload.load.api_key_env + " is not set");
    }
    job.api_key = key;
  }
  return job;
}

std::string lines_of(const std::vector<Node>& rows) {
  std::string text;
  for (const Node& row : rows) text += write_json(row, {.indent = 0}).value_or("{}") + '\n';
  return text;
}

Result<void> write_result(const load::LoadResult& result, const fs::path& folder) {
  std::string lines;
  for (const Request& request : result.requests) lines += to_json_line(request) + '\n';
  PL_TRY(write_file_atomic(folder / run::files::kRequests, lines));
  if (!result.responses.empty()) {
    PL_TRY(write_private_file(folder / run::files::kResponses, lines_of(result.responses)));
  }
  return write_file_atomic(folder / run::files::kLoad, PL_TRY(to_document(result.record)));
}

Result<ExitCode> run(const Options& options) {
  for (const auto& [name, value] :
       {std::pair("--config", &options.config), {"--out", &options.out}}) {
    if (value->empty()) return Error(ErrorKind::Config, std::string(name) + " must be given");
  }
  const load::LoadJob job = PL_TRY(job_of(options));
  stop_on_signals();
  FileDescriptor progress;
  load::LoadHooks hooks{[] { return g_stopping.load(); },
                        [](const std::string& line) { fmt::print(stderr, "{}\n", line); },
                        [] { return g_finishing.load(); }};
  if (!options.progress.empty()) {
    constexpr mode_t kMode = 0666;  // minus the user's umask
    progress = FileDescriptor(::open(options.progress.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, kMode));
    if (!progress.is_open()) return os_error("write", options.progress, errno);
    // Whoever reads it can do without a line that was lost.
    hooks.progress = [&progress](const std::string& line) {
      const std::string text = line + '\n';
      [[maybe_unused]] const ssize_t written = ::write(progress.get(), text.data(), text.size());
    };
  }
  const load::LoadResult result = PL_TRY(load::run_load(job, hooks));
  PL_TRY(write_result(result, options.out));
  return result.record.counts.succeeded > 0 ? ExitCode::Done : ExitCode::Failed;
}

/// Runs the load described by a command line with this many words.
struct Body {
  int words;

  Result<ExitCode> operator()(const CLI::App& app, const Options& options) const {
    if (options.show_version) {
      fmt::print("profline-load {} ({})\n", kVersion, kCommit);
      return ExitCode::Done;
    }
    if (words > 1) return run(options);
    fmt::print("{}", app.help());
    return ExitCode::Done;
  }
};

}  // namespace

int main(int argc, char** argv) {
  return run_program<Options>({"profline-load", "The load generator of 'profline load'."}, argc,
                              argv, declare, Body{argc});
}
