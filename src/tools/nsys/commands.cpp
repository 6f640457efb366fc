#include "tools/nsys/commands.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/digests.h"
#include "base/error.h"
#include "base/files.h"
#include "base/strings.h"
#include "process/background.h"
#include "process/process_table.h"
#include "process/runner.h"
#include "schema/read.h"

namespace profline::nsys {
namespace {

using settings::CaptureRange;
using settings::CpuSampling;

constexpr std::string_view kSession = "--session-new=";
/// How long a capture may take to become a report: a busy GPU leaves gigabytes to import. Briefly
/// if nobody could hurry it.
std::chrono::seconds time_to_collect(const Collection& collection) {
  constexpr std::chrono::minutes kLong{10};
  constexpr std::chrono::seconds kBrief{30};
  return collection.user != nullptr ? kLong : kBrief;
}

/// An enumerator in nsys' spelling, which the settings use as well.
template <typename Enum>
std::string text_of(Enum value) {
  return schema::write(value).as_string();
}

std::vector<std::string> range_options(const settings::Nsys& options, const Capture& capture) {
  const CaptureRange range = effective_range(options);
  if (range == CaptureRange::None) return {};
  std::vector<std::string> argv = {"--capture-range=" + text_of(range)};
  if (options.capture_range_end) {
    argv.push_back("--capture-range-end=" + options.capture_range_end->to_string());
  }
  if (range == CaptureRange::Nvtx) argv.push_back("--nvtx-capture=" + capture.range);
  return argv;
}

/// Options whose keys are usually null.
std::vector<std::string> rare_options(const settings::Nsys& options) {
  std::vector<std::string> argv;
  if (options.nvtx_domain_include) {
    argv.push_back("--nvtx-domain-include=" + join(options.nvtx_domain_include->items, ","));
  }
  if (options.nvtx_domain_exclude) {
    argv.push_back("--nvtx-domain-exclude=" + join(options.nvtx_domain_exclude->items, ","));
  }
  if (options.cuda_graph_trace) {
    argv.push_back("--cuda-graph-trace=" + text_of(*options.cuda_graph_trace));
  }
  return argv;
}

void append(std::vector<std::string>& argv, const std::vector<std::string>& more) {
  argv.insert(argv.end(), more.begin(), more.end());
}

/// What nsys accepts as a name: printable ASCII without quotes, here also without blanks.
std::string plain(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    name += is_plain ? c : '_';
  }
  return name;
}

}  // namespace

CaptureRange effective_range(const settings::Nsys& nsys) {
  const bool is_lifted = nsys.capture_range == CaptureRange::Nvtx && !nsys.gating_nvtx;
  return is_lifted ? CaptureRange::None : nsys.capture_range;
}

std::vector<std::string> gated_ranges(const settings::Nsys& nsys) {
  if (effective_range(nsys) != CaptureRange::Nvtx || !nsys.nvtx_capture) return {};
  return nsys.nvtx_capture->items;
}

Command profile_command(const Installation& nsys, const settings::Nsys& options,
                        const Capture& capture, const Command& workload) {
  Command command = workload;
  std::vector<std::string> argv = {nsys.program.string(), "profile",
                                   std::string(kSession) + capture.session};
  if (options.trace) argv.push_back("--trace=" + join(options.trace->items, ","));
  if (options.sample) argv.push_back("--sample=" + text_of(*options.sample));
  // Otherwise nsys records context switches with perf, whatever --sample says.
  if (options.sample == CpuSampling::None) argv.emplace_back("--cpuctxsw=none");
  argv.emplace_back("--force-overwrite=true");
  append(argv, range_options(options, capture));
  append(argv, rare_options(options));
  append(argv, metric_options(nsys, options));
  append(argv, {"-o", capture.output.string()});
  append(argv, workload.argv);
  command.argv = std::move(argv);
  // By default nsys considers only registered strings; most programs, including ours, push others.
  if (effective_range(options) == CaptureRange::Nvtx) {
    command.env["NSYS_NVTX_PROFILER_REGISTER_ONLY"] = "0";
  }
  return command;
}

std::vector<std::string> metric_options(const Installation& nsys, const settings::Nsys& options) {
  if (!options.gpu_metrics) return {};
  constexpr std::string_view kOlder = "--gpu-metrics-device";
  const bool is_older =
      nsys.takes(kOlder) && !nsys.options.empty() && !nsys.takes("--gpu-metrics-devices");
  std::vector<std::string> argv = {std::string(kOlder) + (is_older ? "" : "s") + "=all"};
  if (options.gpu_metrics_frequency) {
    argv.push_back("--gpu-metrics-frequency=" + std::to_string(*options.gpu_metrics_frequency));
  }
  return argv;
}

bool refuses_metrics(const Exit& exit) {
  const auto has = [&](std::string_view words) {
    return exit.tail.find(words) != std::string::npos;
  };
  return !exit.succeeded() && (has("None of the installed GPUs are supported") ||
                               has("ERR_NVGPUCTRPERM") || has("gpu-metrics-device"));
}

Finding missing_samples(std::string_view capture, std::string_view log, std::string_view see) {
  const auto has = [&](std::string_view words) {
    return log.find(words) != std::string_view::npos;
  };
  const bool is_denied = has("ERR_NVGPUCTRPERM") || has("nsufficient privilege");
  return {Severity::Warning, "metrics_missing",
          std::string(capture) + " has no samples of the GPU's metrics: " +
              (is_denied ? "the driver restricts counters to administrators" : "nsys gave none"),
          is_denied ? "run as root, or see profline doctor for the driver's setting"
                    : "another profiler that reads counters (ncu, DCGM) must not run at the "
                      "same time; " +
                          std::string(see)};
}

Command without_metrics(Command profiling) {
  std::erase_if(profiling.argv,
                [](const std::string& word) { return word.starts_with("--gpu-metrics-"); });
  return profiling;
}

Command in_session(Command profiling, const std::string& session) {
  const auto named =
      std::find_if(profiling.argv.begin(), profiling.argv.end(),
                   [](const std::string& word) { return word.starts_with(kSession); });
  PL_ASSERT(named != profiling.argv.end(), "profile_command() names the session");
  *named = std::string(kSession) + session;
  return profiling;
}

std::vector<std::string> missing_options(const Installation& nsys, const settings::Nsys& options) {
  std::vector<std::string> missing;
  const Capture any{.session = "s", .output = "o", .range = "r"};
  for (const auto& list :
       {range_options(options, any), rare_options(options), metric_options(nsys, options)}) {
    for (const std::string& given : list) {
      std::string option = given.substr(0, given.find('='));
      if (!nsys.takes(option)) missing.push_back(std::move(option));
    }
  }
  return missing;
}

Command kernel_summary_command(const Installation& nsys, const std::filesystem::path& sqlite,
                               const std::filesystem::path& csv) {
  Command command;
  command.argv = {nsys.program.string(),        "stats",    "--quiet", "--report",
                  nsys.kernel_summary_report(), "--format", "csv",     sqlite.string()};
  command.out = csv;
  return command;
}

std::string session_name(const std::filesystem::path& run_folder, std::string_view range) {
  constexpr std::size_t kDigits = 8;
  std::string name = "profline-" + plain(run_folder.filename().string()) + "-" +
                     sha256_hex(run_folder.string()).substr(0, kDigits);
  if (!range.empty()) name += "-" + plain(range);
  return name;
}

Command stop_command(const std::filesystem::path& program, const std::string& session) {
  constexpr std::chrono::seconds kLimit{30};  // importing the capture takes time
  Command command{.argv = {program.string(), "stop", "--session=" + session}};
  command.timeout = kLimit;
  return command;
}

Command shutdown_command(const std::filesystem::path& program, const std::string& session) {
  constexpr std::chrono::seconds kLimit{10};
  Command command{.argv = {program.string(), "shutdown", "--session=" + session, "--kill=sigterm"}};
  command.timeout = kLimit;
  return command;
}

Command export_command(const std::filesystem::path& program, const std::filesystem::path& report,
                       const std::filesystem::path& sqlite) {
  Command command{.argv = {program.string(), "export", "--type=sqlite", "--quiet=true",
                           "--force-overwrite=true", "--output=" + sqlite.string(),
                           report.string()}};
  command.env["TMPDIR"] = sqlite.parent_path().string();
  command.stop_briefly = true;
  return command;
}

Result<void> export_sqlite(ProcessRunner& runner, const std::filesystem::path& program,
                           const std::filesystem::path& report,
                           const std::filesystem::path& sqlite) {
  const Exit exit = PL_TRY(runner.run(export_command(program, report, sqlite)));
  if (exit.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  std::error_code failure;
  if (exit.succeeded() && std::filesystem::file_size(sqlite, failure) > 0 && !failure) return {};
  std::string message = "nsys export of " + report.string() + " " + exit.describe() +
                        (exit.succeeded() ? " and left no SQLite file" : "");
  const std::string_view said = trim(exit.tail);
  if (!said.empty()) message += ": " + std::string(said);
  return Error(ErrorKind::Tool, std::move(message));
}

namespace fs = std::filesystem;

namespace {

bool is_agent_of(const fs::path& process, const std::string& session) {
  const std::string line = read_file(process / "cmdline").value_or("");
  for (const std::string_view argument : split(line, '\0')) {
    if (argument == "--session-name=" + session) return true;
  }
  return false;
}

}  // namespace

std::vector<fs::path> open_captures(const std::string& session) {
  std::vector<fs::path> captures;
  ProcessList processes;
  for (pid_t pid = processes.next(); pid != 0; pid = processes.next()) {
    const fs::path process = fs::path("/proc") / std::to_string(pid);
    if (!is_agent_of(process, session)) continue;
    std::error_code failure;
    for (fs::directory_iterator at(process / "fd", failure), end; !failure && at != end;
         at.increment(failure)) {
      std::error_code gone;
      const fs::path file = fs::read_symlink(at->path(), gone);
      if (!gone && file.extension() == ".qdstrm") captures.push_back(file);
    }
  }
  return captures;
}

namespace {

bool has_agent(const std::string& session) {
  ProcessList processes;
  for (pid_t pid = processes.next(); pid != 0; pid = processes.next()) {
    if (is_agent_of(fs::path("/proc") / std::to_string(pid), session)) return true;
  }
  return false;
}

}  // namespace

void wait_for_collection(const std::string& session, const Exit& stop,
                         const Collection& collection) {
  constexpr std::string_view kBusy = "not allowed in this state";
  if (stop.succeeded() || stop.tail.find(kBusy) == std::string::npos) return;
  constexpr std::chrono::milliseconds kPause{50};
  constexpr std::chrono::seconds kBetween{20};  // from its raw capture to its report
  const SystemClock clock;
  const auto end = clock.now() + time_to_collect(collection);
  auto last_open = clock.now();
  while (clock.now() < end) {
    std::error_code failure;
    const bool is_done = !collection.report.empty() && fs::exists(collection.report, failure);
    if (is_done || (collection.user != nullptr && collection.user->in_a_hurry())) return;
    const bool is_open = !open_captures(session).empty();
    if (is_open) last_open = clock.now();
    const bool may_come =
        !collection.report.empty() && has_agent(session) && clock.now() - last_open < kBetween;
    if (!is_open && !may_come) return;
    std::this_thread::sleep_for(kPause);
  }
}

EndsSession::EndsSession(std::filesystem::path program, std::string session, Collection collection)
    : program_(std::move(program)),
      session_(std::move(session)),
      collection_(std::move(collection)) {}

EndsSession::~EndsSession() {
  std::error_code ignored;
  for (const fs::path& capture : captures_) fs::remove(capture, ignored);
}

void EndsSession::abandoned() {
  captures_ = open_captures(session_);
}

void EndsSession::outlived() {
  captures_ = open_captures(session_);
  if (!captures_.empty()) collect();
  PosixRunner runner(calm_);
  // The runner ends the rest with signals, so a failure need not be reported.
  (void)runner.run(shutdown_command(program_, session_));
}

void EndsSession::collect() {
  Command stop = stop_command(program_, session_);
  stop.timeout = time_to_collect(collection_);
  const auto child = BackgroundChild::start(stop, {});
  if (!child) return;
  constexpr std::chrono::milliseconds kTick{50};
  const Exit* exit = nullptr;
  while ((exit = (*child)->wait(kTick)) == nullptr) {
    if (collection_.user != nullptr && collection_.user->in_a_hurry()) return;
  }
  wait_for_collection(session_, *exit, collection_);
}

}  // namespace profline::nsys
