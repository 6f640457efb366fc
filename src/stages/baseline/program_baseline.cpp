#include "stages/baseline/internal/program_baseline.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/node.h"
#include "pipeline/workload_stage.h"
#include "process/process_table.h"
#include "process/runner.h"
#include "run/names/artifact_names.h"
#include "schema/field.h"
#include "schema/read.h"
#include "tools/gpu/driver.h"
#include "tools/kineto/traced_processes.h"
#include "workloads/program/environment.h"

namespace profline::stages::internal {

/// What one process of a program used, as far as it was observed.
struct ProcessUse {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::string name;
  std::int64_t cpu_user_ns = 0;
  std::int64_t cpu_system_ns = 0;
  std::uint64_t max_rss_bytes = 0;
  bool torch = false;

  bool operator==(const ProcessUse&) const = default;
};
constexpr auto fields(std::type_identity<ProcessUse>) {
  return field_list(
      field("pid", &ProcessUse::pid, "as the kernel numbers it"),
      field("parent", &ProcessUse::parent, "the process that made it"),
      field("name", &ProcessUse::name, "as the kernel has it: at most 15 bytes"),
      field("cpu_user_ns", &ProcessUse::cpu_user_ns, "when it was last seen"),
      field("cpu_system_ns", &ProcessUse::cpu_system_ns, "when it was last seen"),
      field("max_rss_bytes", &ProcessUse::max_rss_bytes, "largest resident set so far"),
      field("torch", &ProcessUse::torch, "whether it had libtorch loaded"));
}

/// Samples a child and all its descendants about ten times per second: a shorter-lived process may
/// be missed, and so is whatever a process does after its last sample.
class ProcessWatch final : public RunObserver {
 public:
  void started(const ProcessId& child) override;
  void output(std::string_view bytes) override;

  /// In order of start.
  std::vector<ProcessUse> processes() const;

 private:
  void look();

  ProcessId child_;
  struct Seen {
    ProcessUse use;
    std::uint64_t start_ticks = 0;
    // When its libraries are listed next: ever less often, so as not to disturb what is measured.
    std::chrono::steady_clock::time_point next_listing{};
    std::chrono::milliseconds pause{250};
  };
  std::map<std::pair<std::int64_t, std::uint64_t>, Seen> seen_;  // by pid and start
};

/// `process.json`: how the program ended and what its processes used.
Node process_document(const Exit& exit, const std::vector<ProcessUse>& processes);

namespace {

constexpr std::chrono::milliseconds kLongestPause{2000};

constexpr const char* kProcessSchema = "profline.process/1";

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::int64_t ticks_to_ns(std::int64_t ticks) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t a_second = std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
  return ticks * (kSecond / a_second);
}

/// utime and stime of /proc/PID/stat, which follow the name in parentheses by 11 fields.
void add_cpu_time(const std::string& folder, ProcessUse& use) {
  const auto text = read_file(folder + "/stat");
  if (!text) return;
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return;
  constexpr std::size_t kUser = 12;
  const auto words = split(std::string_view(*text).substr(name_end + 1), ' ');
  if (words.size() <= kUser + 1) return;
  use.cpu_user_ns = ticks_to_ns(number(words[kUser]));
  use.cpu_system_ns = ticks_to_ns(number(words[kUser + 1]));
}

void add_memory(const std::string& folder, ProcessUse& use) {
  const auto text = read_file(folder + "/status");
  if (!text) return;
  constexpr std::string_view kPeak = "VmHWM:";
  for (const std::string_view line : lines(*text)) {
    if (!line.starts_with(kPeak)) continue;
    constexpr std::uint64_t kKibi = 1024;
    const std::int64_t kib = number(trim(line.substr(kPeak.size())));
    use.max_rss_bytes = std::max(use.max_rss_bytes, static_cast<std::uint64_t>(kib) * kKibi);
  }
}

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::Severity;

constexpr std::size_t kMostProblems = 5;
constexpr std::size_t kNamedRanges = 5;

bool is_on_gpu(const pipeline::StageContext& context) {
  return context.setup.settings.device.kind == settings::Device::Kind::Cuda;
}

/// The GPU that the run uses; nothing if it uses none or the driver does not know it.
std::optional<gpu::Device> gpu_of(const pipeline::StageContext& context) {
  const auto& driver = context.tools.driver;
  if (!is_on_gpu(context) || !driver || !*driver) return std::nullopt;
  const auto index = context.setup.settings.device.index.value_or(0);
  for (const gpu::Device& device : driver->value().devices) {
    if (device.index == static_cast<int>(index)) return device;
  }
  return std::nullopt;
}

/// Samples clocks, power and energy until it is stopped; absent without a GPU or NVML.
std::unique_ptr<gpu::GpuSampler> watch_gpu(const pipeline::StageContext& context,
                                           pipeline::StageRun& run) {
  const auto device = gpu_of(context);
  if (!device) return nullptr;
  auto nvml = gpu::Nvml::open(device->uuid);
  if (nvml) return std::make_unique<gpu::GpuSampler>(std::move(*nvml));
  run.report({Severity::Warning, "gpu_not_sampled",
              "clocks, power and temperature are not sampled: " + nvml.error().to_string()});
  return nullptr;
}

Finding requests_finding(const program::Recording& recording, const settings::Workload& workload) {
  const bool by_adapter = recording.requests.front().source == RequestSource::Python;
  return {Severity::Note, "requests_recorded",
          counted(recording.requests.size(), "request") +
              (by_adapter ? " recorded by the Python adapter"
                          : " recorded, from the ranges named '" + workload.request_range + "'")};
}

Finding ranges_finding(const program::Recording& recording, const settings::Workload& workload) {
  std::vector<std::string> names;
  for (const NamedRanges& range : recording.ranges) {
    if (names.size() < kNamedRanges) names.push_back(range.name);
  }
  std::string text = "phases are unknown: the program opens no range named '" +
                     workload.request_range +
                     "'; its ranges are reported by name: " + join(names, ", ");
  if (recording.ranges.size() > names.size()) {
    text += " and " + std::to_string(recording.ranges.size() - names.size()) + " more";
  }
  return {Severity::Note, "no_requests", std::move(text),
          "name the range that is one request: pipeline.workload.request_range=" + names.front()};
}

Finding no_requests_finding() {
  return {Severity::Note, "no_requests", "phases are unknown: the program marks no requests",
          "add two lines around one unit of work; in Python 'import profline' and 'with "
          "profline.request():', in C and C++ 'nvtxRangePushA(\"request\");' and "
          "'nvtxRangePop();'"};
}

/// Writes what the program recorded of itself.
Result<void> write_recording(const program::Recording& recording, const fs::path& folder) {
  if (!recording.models.empty()) {
    PL_TRY(write_file_atomic(folder / run::files::kModels,
                             PL_TRY(to_document(RecordedModels{recording.models}))));
  }
  if (recording.requests.empty()) {
    if (recording.ranges.empty()) return {};
    return write_file_atomic(folder / run::files::kRanges,
                             PL_TRY(to_document(ProgramRanges{recording.ranges, recording.lost})));
  }
  std::string lines;
  for (const Request& request : recording.requests) lines += to_json_line(request) + '\n';
  PL_TRY(write_file_atomic(folder / run::files::kRequests, lines));
  return write_file_atomic(folder / run::files::kSteady,
                           PL_TRY(to_document(program::steady_window(recording))));
}

}  // namespace

void ProcessWatch::started(const ProcessId& child) {
  child_ = child;
  look();
}

void ProcessWatch::output(std::string_view /*bytes*/) {
  look();
}

void ProcessWatch::look() {
  ProcessList list;
  for (pid_t pid = list.next(); pid != 0; pid = list.next()) {
    ProcessStat stat;
    if (!read_process(pid, stat) || stat.is_zombie()) continue;
    if (pid != child_.pid && !descends_from(stat, child_.pid)) continue;
    Seen& seen = seen_[{pid, stat.start_ticks}];
    seen.start_ticks = stat.start_ticks;
    seen.use.pid = pid;
    seen.use.parent = stat.parent;
    seen.use.name = stat.name.data();
    const std::string folder = "/proc/" + std::to_string(pid);
    add_cpu_time(folder, seen.use);
    add_memory(folder, seen.use);
    const auto now = std::chrono::steady_clock::now();
    if (seen.use.torch || now < seen.next_listing) continue;
    seen.use.torch = kineto::loads_torch(pid);
    seen.next_listing = now + seen.pause;
    seen.pause = std::min(2 * seen.pause, kLongestPause);
  }
}

std::vector<ProcessUse> ProcessWatch::processes() const {
  std::vector<Seen> rows;
  rows.reserve(seen_.size());
  for (const auto& [key, seen] : seen_) rows.push_back(seen);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Seen& a, const Seen& b) { return a.start_ticks < b.start_ticks; });
  std::vector<ProcessUse> uses;
  uses.reserve(rows.size());
  for (Seen& row : rows) uses.push_back(std::move(row.use));
  return uses;
}

Node process_document(const Exit& exit, const std::vector<ProcessUse>& processes) {
  const auto integer = [](auto value) { return Node::integer(static_cast<std::int64_t>(value)); };
  NodeMap document;
  document.set("schema", Node::string(kProcessSchema));
  document.set("runs", integer(1));
  document.set("end", Node::string(exit.describe()));
  document.set("wall_ns", integer(exit.wall.count()));
  document.set("cpu_user_ns", integer(std::chrono::nanoseconds(exit.cpu_user).count()));
  document.set("cpu_system_ns", integer(std::chrono::nanoseconds(exit.cpu_system).count()));
  document.set("max_rss_bytes", integer(exit.max_rss_bytes));
  Node list = Node::list();
  for (const ProcessUse& process : processes) list.as_list().push_back(schema::write(process));
  document.set("processes", std::move(list));
  return Node::map(std::move(document));
}

void add_program_plan(const pipeline::StageContext& context, pipeline::StagePlan& plan) {
  const settings::Workload& workload = context.setup.settings.pipeline.workload;
  const program::Companions& companions = context.tools.companions;
  plan.artifacts = {run::files::kProcess, run::files::kRequests, run::files::kModels,
                    run::files::kSteady, run::files::kLog};
  if (is_on_gpu(context)) plan.artifacts.emplace_back(run::files::kGpuReadings);
  plan.limits = {"one run: its wall time has no spread"};
  if (const std::string why = program::why_no_recorder(companions); !why.empty()) {
    plan.notes.push_back("NVTX ranges are not recorded: " + why);
  }
  const bool is_off = workload.python == settings::PythonAdapter::Off;
  if (is_off || !companions.python) {
    plan.notes.push_back("requests of Python programs are not recorded: " +
                         std::string(is_off ? "pipeline.workload.python is off"
                                            : "the Python adapter is not installed with profline"));
  }
}

Result<void> run_program(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                         pipeline::StageRun& run) {
  const fs::path folder = context.setup.stage_folder(run::stages::kBaseline);
  const settings::Workload& workload = context.setup.settings.pipeline.workload;
  const std::unique_ptr<gpu::GpuSampler> sampler = watch_gpu(context, run);
  ProcessWatch watch;
  const pipeline::PlannedCommand& command = plan.command("workload");
  const Exit exit = PL_TRY(run.execute(command, &watch));
  if (sampler) {
    PL_TRY(write_file_atomic(folder / run::files::kGpuReadings, gpu::to_jsonl(sampler->stop())));
  }
  const bool is_ours = exit.why == Exit::Why::TimedOut || exit.why == Exit::Why::Cancelled;
  if (!exit.succeeded() && !is_ours) run.report(child_problem(command, exit));
  PL_TRY(write_file_atomic(folder / run::files::kProcess,
                           PL_TRY(write_json(process_document(exit, watch.processes())))));
  const program::Recording recording = PL_TRY(program::read_recording(
      folder / run::folders::kRecorded, {.request_range = workload.request_range}));
  PL_TRY(write_recording(recording, folder));
  for (Finding& finding : recording_findings(recording, workload)) run.report(std::move(finding));
  return {};
}

std::vector<Finding> recording_findings(const program::Recording& recording,
                                        const settings::Workload& workload) {
  std::vector<Finding> findings;
  if (!recording.requests.empty()) {
    findings.push_back(requests_finding(recording, workload));
  } else if (!recording.ranges.empty()) {
    findings.push_back(ranges_finding(recording, workload));
  } else {
    findings.push_back(no_requests_finding());
  }
  const std::vector<std::string>& problems = recording.problems;
  for (std::size_t i = 0; i < std::min(problems.size(), kMostProblems); ++i) {
    findings.push_back({Severity::Warning, "recording_problem", problems[i]});
  }
  if (problems.size() > kMostProblems) {
    findings.push_back({Severity::Warning, "recording_problem",
                        counted(problems.size() - kMostProblems, "more problem") +
                            " with what the program recorded"});
  }
  return findings;
}

}  // namespace profline::stages::internal
