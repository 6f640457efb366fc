#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "cli_program.h"
#include "formats/json.h"
#include "formats/node.h"
#include "profline_version.h"
#include "records/ceilings.h"
#include "records/run_record.h"
#include "schema/read.h"
#include "settings/root.h"
#include "workload/ceilings/measure_ceilings.h"
#include "workload/measure/range.h"
#include "workload/session/run_request.h"
#include "workload/torch_runtime.h"

namespace {

using namespace profline;

/// The command line.
struct Options {
  bool show_version = false;
  std::string format = "text";
  std::string mode = "baseline";
  std::string config;
  std::string out;
  std::string base = ".";
  std::string baseline;
  std::string ceilings;
  std::string device = "cpu";
  int threads = 0;
  double seconds = 90;
  std::optional<std::uint32_t> samples;
  std::optional<std::uint64_t> sampling_seed;
  bool quiet = false;
  bool verbose = false;
};

// Set by signals: the run stops at its next token and writes what it has.
std::atomic<bool> g_stopping{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_stopping = true; };
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);  // a second one ends the program
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

std::string version_text(bool as_json) {
  const workload::TorchBuild build = workload::torch_build();
  if (as_json) {
    Node document = to_node(build);
    document.as_map().set("nvtx", Node::boolean(workload::has_nvtx()));
    NodeMap program;
    program.set("version", Node::string(kVersion));
    program.set("commit", Node::string(kCommit));
    document.as_map().set("workload", Node::map(std::move(program)));
    return write_json(document).value();
  }
  return fmt::format("profline-workload {} ({}), libtorch {} ({}), {}, {} threads, {}\n", kVersion,
                     kCommit, build.version, build.cuda ? "CUDA" : "CPU", build.blas, build.threads,
                     workload::has_nvtx() ? "NVTX ranges" : "no NVTX ranges");
}

void declare(CLI::App& app, Options& options) {
  app.add_flag("--version", options.show_version, "show version, libtorch and BLAS");
  app.add_option("--format", options.format, "form of --version")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--config", options.config, "resolved config of a run, as JSON");
  app.add_option("--out", options.out, "folder for what is written; made if need be");
  app.add_option("--mode", options.mode,
                 "what the run is for: " + schema::Codec<workload::Mode>::text({}) + " [baseline]");
  app.add_option("--samples", options.samples, "only the first N images");
  app.add_option("--sampling-seed", options.sampling_seed,
                 "of a random order of images whose seed the config leaves open");
  app.add_option("--base", options.base, "where relative paths of the config start [.]");
  app.add_option("--baseline", options.baseline,
                 "folder of a baseline, whose texts mode torch_profiler shows");
  app.add_option("--ceilings", options.ceilings,
                 "instead of a run: measure what the device reaches, and write it to this file");
  app.add_option("--device", options.device, "for --ceilings: cpu, cuda, cuda:N [cpu]");
  app.add_option("--threads", options.threads, "for --ceilings, on a CPU [all]")
      ->check(CLI::Range(0, 4096));
  app.add_option("--seconds", options.seconds, "for --ceilings: take no longer than this [90]")
      ->check(CLI::Range(0.1, 3600.0));
  app.add_flag("-q,--quiet", options.quiet, "warnings and errors only");
  app.add_flag("-v,--verbose", options.verbose, "details too");
}

/// A config written by profline may say so in its first key, and lacks values that look like
/// secrets, which come through the environment.
Result<settings::Root> load_config(const std::string& path) {
  Node config = PL_TRY(parse_json(PL_TRY(read_file(path)), path));
  if (config.is_map()) config.as_map().erase("schema");
  if (const char* secrets = std::getenv(kConfigSecrets)) {
    restore(config, PL_TRY(parse_json(secrets, kConfigSecrets)));
  }
  return settings::read_settings(config);
}

Result<workload::RunRequest> request_of(const Options& options) {
  for (const auto& [name, value] :
       {std::pair("--config", &options.config), {"--out", &options.out}}) {
    if (value->empty()) return Error(ErrorKind::Config, std::string(name) + " must be given");
  }
  workload::RunRequest request;
  request.mode = PL_TRY(schema::read<workload::Mode>(Node::string(options.mode), "--mode"));
  request.settings = PL_TRY(load_config(options.config));
  request.out = options.out;
  request.base = options.base;
  request.samples = options.samples;
  request.sampling_seed = options.sampling_seed;
  if (!options.baseline.empty()) request.baseline = options.baseline;
  return request;
}

std::unique_ptr<Progress> progress_of(const Options& options, const Clock& clock) {
  const Verbosity verbosity = options.quiet     ? Verbosity::Quiet
                              : options.verbose ? Verbosity::Verbose
                                                : Verbosity::Normal;
  return make_progress({.verbosity = verbosity, .name_width = 16}, STDERR_FILENO, clock);
}

Result<void> run(const Options& options) {
  const workload::RunRequest request = PL_TRY(request_of(options));
  stop_on_signals();
  const SystemClock clock;
  const auto progress = progress_of(options, clock);
  return workload::run_workload(request, {*progress, clock, [] { return g_stopping.load(); }});
}

Result<void> measure_ceilings(const Options& options) {
  stop_on_signals();
  const SystemClock clock;
  const auto progress = progress_of(options, clock);
  workload::CeilingsRequest request;
  request.device = options.device;
  request.threads = options.threads;
  request.budget = workload::ceilings::Seconds(options.seconds);
  MachineCeilings ceilings = PL_TRY(
      workload::measure_ceilings(request, {*progress, clock, [] { return g_stopping.load(); },
                                           [](auto time) { std::this_thread::sleep_for(time); }}));
  ceilings.version = kVersion;
  return write_file_atomic(options.ceilings, PL_TRY(to_document(ceilings)));
}

/// What is done with a command line of so many words.
struct Body {
  int words;

  Result<ExitCode> operator()(const CLI::App& app, const Options& options) const {
    if (options.show_version) {
      fmt::print("{}", version_text(options.format == "json"));
    } else if (!options.ceilings.empty()) {
      PL_TRY(measure_ceilings(options));
    } else if (words == 1) {
      fmt::print("{}", app.help());
    } else {
      PL_TRY(run(options));
    }
    return ExitCode::Done;
  }
};

}  // namespace

int main(int argc, char** argv) {
  return run_program<Options>(
      {"profline-workload", "The model that profline profiles, in libtorch."}, argc, argv, declare,
      Body{argc});
}
