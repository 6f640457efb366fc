#include "stages/baseline/baseline_stage.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "pipeline/child_failure.h"
#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "process/process_table.h"
#include "process/runner.h"
#include "records/request.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "schema/field.h"
#include "schema/read.h"

namespace profline::stages {
namespace {

/// What one process of a program used, as far as it was observed.
struct ProcessUse {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::string name;
  std::int64_t cpu_user_ns = 0;
  std::int64_t cpu_system_ns = 0;
  std::uint64_t max_rss_bytes = 0;

  bool operator==(const ProcessUse&) const = default;
};
constexpr auto fields(std::type_identity<ProcessUse>) {
  return field_list(
      field("pid", &ProcessUse::pid, "as the kernel numbers it"),
      field("parent", &ProcessUse::parent, "the process that made it"),
      field("name", &ProcessUse::name, "as the kernel has it: at most 15 bytes"),
      field("cpu_user_ns", &ProcessUse::cpu_user_ns, "when it was last seen"),
      field("cpu_system_ns", &ProcessUse::cpu_system_ns, "when it was last seen"),
      field("max_rss_bytes", &ProcessUse::max_rss_bytes, "largest resident set so far"));
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
  };
  std::map<std::pair<std::int64_t, std::uint64_t>, Seen> seen_;  // by pid and start
};

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

using pipeline::Finding;
using pipeline::Severity;

constexpr const char* kProcessSchema = "profline.process/1";

bool is_users_command(const pipeline::StageContext& context) {
  return context.setup.settings.pipeline.workload.user_command().has_value();
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

}  // namespace

pipeline::Stage::Needs BaselineStage::needs(const settings::Root& settings) const {
  return {.workload = !settings.pipeline.workload.user_command()};
}

std::vector<Finding> BaselineStage::preflight(const pipeline::StageContext& context) const {
  return pipeline::workload_preflight(context);
}

pipeline::StagePlan BaselineStage::plan(const pipeline::StageContext& context) const {
  const pipeline::RunSetup& setup = context.setup;
  pipeline::StagePlan plan;
  plan.commands.push_back(
      {"workload", workload_command(context, {.stage = id(),
                                              .mode = "baseline",
                                              .config = handed_config_file(setup, id(), {}),
                                              .out = setup.stage_folder(id())})});
  if (is_users_command(context)) {
    plan.artifacts = {run::files::kProcess, run::files::kLog};
    plan.limits = {"one run: its wall time has no spread"};
    return plan;
  }
  plan.artifacts = {run::files::kRequests,   run::files::kMetrics,       run::files::kTexts,
                    run::files::kReadInputs, run::files::kWorkloadFacts, run::files::kLog};
  if (setup.settings.device.kind == settings::Device::Kind::Cuda) {
    plan.artifacts.emplace_back(run::files::kGpuReadings);
  }
  return plan;
}

Result<void> BaselineStage::run(const pipeline::StageContext& context,
                                const pipeline::StagePlan& plan, pipeline::StageRun& run) const {
  if (!is_users_command(context)) {
    PL_TRY(run_commands(plan, run));
    return {};
  }
  ProcessWatch watch;
  const pipeline::PlannedCommand& command = plan.command("workload");
  const Exit exit = PL_TRY(run.execute(command, &watch));
  const bool is_ours = exit.why == Exit::Why::TimedOut || exit.why == Exit::Why::Cancelled;
  if (!exit.succeeded() && !is_ours) run.report(child_problem(command, exit));
  return write_file_atomic(context.setup.stage_folder(id()) / run::files::kProcess,
                           PL_TRY(write_json(process_document(exit, watch.processes()))));
}

std::vector<Finding> BaselineStage::verify(const pipeline::StageContext& context,
                                           const run::Run& files) const {
  const std::filesystem::path folder = context.setup.stage_folder(id());
  if (is_users_command(context)) return pipeline::missing_files(folder, {run::files::kProcess});
  std::vector<Finding> findings = pipeline::workload_remarks(folder);
  for (Finding& missing :
       pipeline::missing_files(folder, {run::files::kRequests, run::files::kMetrics})) {
    findings.push_back(std::move(missing));
  }
  const run::Artifact<run::Requests>& requests = files.baseline();
  if (requests.is_there && !requests) {
    findings.push_back({Severity::Problem, "requests", requests.why_not});
  }
  return findings;
}

Result<void> BaselineStage::summarise(const pipeline::StageContext& /*context*/,
                                      const run::Run& /*files*/,
                                      pipeline::StageRun& /*run*/) const {
  return {};  // the workload writes metrics.json itself
}

}  // namespace profline::stages
