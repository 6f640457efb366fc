#include "pipeline/workload_stage.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>

#include "analysis/static_model/deepseek_ocr.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "inputs/dataset/dataset.h"
#include "inputs/weights/checkpoint.h"
#include "process/runner.h"
#include "records/range_use.h"
#include "records/request.h"
#include "run/names/artifact_names.h"
#include "run/run.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

Finding absent(std::string code, std::string text, std::string fix) {
  return {Severity::Problem, std::move(code), std::move(text), std::move(fix), ErrorKind::NotFound};
}

/// What to do about a program that cannot be run.
std::string right_program(const std::vector<std::string>& argv) {
  const std::string& word = argv.front();
  const std::string interpreter = word.ends_with(".py")   ? "python3"
                                  : word.ends_with(".sh") ? "sh"
                                                          : "";
  if (interpreter.empty())
    return "name an existing one after '--', or in pipeline.workload.command";
  Command command;
  command.argv = {"profline", "run", "--", interpreter};
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  return "name its interpreter: " + display(command);
}

std::vector<Finding> check_users_command(const StageContext& context,
                                         const std::vector<std::string>& argv) {
  const RunSetup& setup = context.setup;
  const fs::path cwd = (setup.cwd / setup.settings.pipeline.workload.cwd).lexically_normal();
  std::error_code failure;
  if (!fs::is_directory(cwd, failure)) {
    return {absent("cwd_absent",
                   "there is no folder '" + cwd.string() + "' for the program to start in",
                   "name an existing one: pipeline.workload.cwd=FOLDER")};
  }
  const auto program = find_program(argv.front(), own_path(), cwd);
  if (program) return {};
  return {absent("program_absent", program.error().message(), right_program(argv))};
}

using Names = std::vector<std::string>;

Names missing_in(const fs::path& folder, const Names& names) {
  Names missing;
  for (const std::string& name : names) {
    std::error_code failure;
    if (!fs::exists(folder / name, failure)) missing.push_back(name);
  }
  return missing;
}

Result<Names> missing_model_files(const fs::path& folder, ModelFiles files) {
  Names names = {"config.json"};
  if (files != ModelFiles::Config) names.emplace_back("tokenizer.json");
  Names missing = missing_in(folder, names);
  if (files != ModelFiles::Weights) return missing;
  for (std::string& name : PL_TRY(weights::missing_files(folder))) {
    missing.push_back(name == weights::kSingleFile
                          ? name + " (or " + std::string(weights::kIndexFile) + ")"
                          : std::move(name));
  }
  return missing;
}

/// `config.json, no tokenizer.json, no model.safetensors and 3 more`.
std::string listed(Names missing) {
  constexpr std::size_t kShown = 4;
  const std::size_t more = missing.size() - std::min(missing.size(), kShown);
  missing.resize(missing.size() - more);
  return join(missing, ", no ") + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

using Reason = ProfiledRequests::Reason;

constexpr const char* kBound = "dataset.sampling.num_samples_per_epoch";

std::string first(std::uint32_t count) {
  return count == 1 ? "the first request" : "the first " + std::to_string(count) + " requests";
}

}  // namespace

std::optional<Finding> model_preflight(const StageContext& context, ModelFiles files) {
  const RunSetup& setup = context.setup;
  const auto* subject = std::get_if<settings::deepseek_ocr::Subject>(&setup.settings.subject);
  if (subject == nullptr) return std::nullopt;
  const settings::deepseek_ocr::Model& model = subject->model;
  if (model.init == settings::deepseek_ocr::Init::Random) return std::nullopt;
  const std::string fix =
      "two presets need no weights: model/deepseek_ocr/arch@model=deepseek_ocr.random and "
      "deepseek_ocr.tiny";
  const fs::path folder = setup.cwd / model.path.value_or("");
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) {
    return absent("model_absent", "model.path: there is no folder '" + folder.string() + "'", fix);
  }
  const auto missing = missing_model_files(folder, files);
  if (!missing) {
    return Finding{Severity::Problem, "model_unreadable",
                   "model.path: " + missing.error().to_string(), "", missing.error().kind()};
  }
  if (missing->empty()) return std::nullopt;
  return absent("model_absent",
                "model.path: there is no " + listed(*missing) + " in '" + folder.string() + "'",
                fix);
}

std::vector<Finding> workload_preflight(const StageContext& context) {
  const RunSetup& setup = context.setup;
  if (const auto argv = setup.settings.pipeline.workload.user_command()) {
    return check_users_command(context, *argv);
  }
  std::vector<Finding> findings;
  if (context.tools.workload && !*context.tools.workload) {
    findings.push_back(
        absent("workload_absent", context.tools.workload->error().message(),
               "build profline with libtorch (see the README), or name one: --workload "
               "PROGRAM"));
  }
  if (!std::holds_alternative<settings::deepseek_ocr::Subject>(setup.settings.subject)) {
    return findings;
  }
  if (auto finding = model_preflight(context, ModelFiles::Weights)) {
    findings.push_back(std::move(*finding));
  }
  if (const auto listing = dataset::list_images(setup.settings.dataset, setup.cwd); !listing) {
    findings.push_back(absent("dataset_absent", listing.error().to_string(), ""));
  }
  return findings;
}

std::optional<Finding> refuse_users_command(const StageContext& context, std::string_view stage,
                                            std::string_view why) {
  const settings::Workload& workload = context.setup.settings.pipeline.workload;
  if (!workload.user_command()) return std::nullopt;
  const std::string key =
      workload.command ? "pipeline.workload.command" : "pipeline.workload.module";
  return Finding{Severity::Problem, "users_command",
                 key + " names a program of your own, and " + std::string(why),
                 "switch the stage off: pipeline." + std::string(stage) + ".enable=false",
                 ErrorKind::Config};
}

Result<bool> run_commands(const StagePlan& plan, StageRun& run) {
  for (const PlannedCommand& planned : plan.commands) {
    const Exit exit = PL_TRY(run.execute(planned));
    if (exit.succeeded()) continue;
    // The stage's timeout and the user's interrupt have already been reported.
    const bool is_reported = exit.why == Exit::Why::Cancelled ||
                             (exit.why == Exit::Why::TimedOut && !planned.command.timeout);
    if (!is_reported) run.report(child_problem(planned, exit));
    return false;
  }
  return true;
}

std::vector<Finding> workload_remarks(const fs::path& folder) {
  const auto facts = run::read_workload_file(folder, run::files::kWorkloadFacts);
  // A workload that ended early does not write the file; that is reported elsewhere.
  if (!facts && facts.error().kind() != ErrorKind::Parse) return {};
  if (!facts) return {{Severity::Warning, "workload_json", facts.error().to_string()}};
  std::vector<Finding> findings;
  const Node* notes = facts->find("notes");
  if (notes != nullptr && notes->is_list()) {
    for (const Node& note : notes->as_list()) {
      if (note.is_string()) {
        findings.push_back({Severity::Warning, "workload_note", note.as_string()});
      }
    }
  }
  const Node* complete = facts->find("complete");
  if (complete != nullptr && complete->is_bool() && !complete->as_bool()) {
    findings.push_back(
        {Severity::Warning, "incomplete",
         "the workload was stopped early; its files hold what was complete by then"});
  }
  return findings;
}

std::vector<Finding> missing_files(const fs::path& folder,
                                   std::initializer_list<std::string_view> names) {
  std::vector<Finding> findings;
  for (const std::string_view name : names) {
    std::error_code failure;
    const std::uintmax_t bytes = fs::file_size(folder / name, failure);
    if (!failure && bytes > 0) continue;
    findings.push_back({Severity::Problem, "file_missing",
                        std::string(name) + (failure ? " was not written" : " is empty")});
  }
  return findings;
}

std::vector<std::string> workload_ranges(const settings::Root& settings) {
  const settings::Workload& workload = settings.pipeline.workload;
  if (workload.user_command()) return {};
  std::vector<std::string> ranges = {kWarmUpRange};
  if (workload.kind == settings::WorkloadKind::DummyShallowResnet) {
    for (const char* name : shallow_resnet::kRanges) ranges.emplace_back(name);
    return ranges;
  }
  for (const std::string_view path : static_model::deepseek_ocr_phases()) {
    ranges.emplace_back(last_name(path));
  }
  if (workload.nvtx_steps) ranges.emplace_back(kTokenRange);
  return ranges;
}

std::optional<std::string> engine_note(const settings::Root& settings) {
  const auto* subject = std::get_if<settings::deepseek_ocr::Subject>(&settings.subject);
  const settings::Workload& workload = settings.pipeline.workload;
  if (subject == nullptr || subject->infer.batch_size == 1 || workload.user_command()) {
    return std::nullopt;
  }
  // On a CPU no other engine is expected.
  if (workload.engine != settings::Engine::Auto ||
      settings.device.kind == settings::Device::Kind::Cpu) {
    return std::nullopt;
  }
  return "engine: eager, because the fast engine generates one image at a time and "
         "infer.batch_size is " +
         std::to_string(subject->infer.batch_size);
}

ProfiledRequests profiled_requests(const settings::Root& settings,
                                   std::optional<std::uint32_t> samples) {
  if (settings.pipeline.workload.command) return {Reason::Program, std::nullopt};
  if (samples) return {Reason::Samples, samples};
  if (settings.dataset.sampling().num_samples_per_epoch) return {Reason::Bounded, std::nullopt};
  return {Reason::Unbounded, 1};
}

void add_requests(const ProfiledRequests& requests, std::string_view stage,
                  const settings::Root& settings, StagePlan& plan) {
  const std::string key = "pipeline." + std::string(stage) + ".samples";
  switch (requests.reason) {
    case Reason::Program:
      return;
    case Reason::Samples:
      plan.limits.push_back(first(*requests.count) + " (" + key + ")");
      return;
    case Reason::Bounded: {
      const auto bound = settings.dataset.sampling().num_samples_per_epoch;
      plan.notes.push_back("all requests of the baseline are profiled, because " +
                           std::string(kBound) + " is " + std::to_string(bound.value_or(0)) + "; " +
                           key + "=N takes the first N");
      return;
    }
    case Reason::Unbounded:
      plan.limits.push_back(first(*requests.count) + ", because " + kBound + " is null (" + key +
                            "=N takes the first N)");
      return;
  }
}

namespace {

constexpr std::size_t kMostWords = 400;

std::string subject(const PlannedCommand& planned) {
  const std::filesystem::path program = planned.command.argv.front();
  return planned.name + " (" + program.filename().string() + ")";
}

std::string fix_for(const PlannedCommand& planned, const Exit& exit) {
  std::string log =
      planned.command.log.empty() ? "" : "its output: " + planned.command.log.string();
  if (exit.why == Exit::Why::Own && exit.signal == SIGKILL) {
    return "killed from outside, or by the kernel's out-of-memory killer (see dmesg)" +
           (log.empty() ? "" : "; " + log);
  }
  return log;
}

/// A line of the stack that libtorch prints after its reason:
///   frame #3: c10::alloc_cpu(unsigned long) + 0x1a2 (0x7f… in /usr/lib/libc10.so)
bool is_stack(std::string_view line) {
  return line.starts_with("frame #") || line.starts_with("Exception raised from ") ||
         line.starts_with("<omitting python frames>");
}

/// The prefix that the C++ runtime prints ahead of the reason.
std::string_view without_what(std::string_view line) {
  constexpr std::string_view kWhat = "what():";
  return line.starts_with(kWhat) ? trim(line.substr(kWhat.size())) : line;
}

namespace fs = std::filesystem;

/// The number in the line `oom_kill N`, which occurs in three files of the kernel.
std::optional<std::uint64_t> kills_in(const fs::path& file) {
  constexpr std::string_view kKey = "oom_kill ";
  const std::string text = read_file(file).value_or("");
  for (const std::string_view line : lines(text)) {
    if (!line.starts_with(kKey)) continue;
    std::uint64_t count = 0;
    const char* end = line.data() + line.size();
    const auto [stop, status] = std::from_chars(line.data() + kKey.size(), end, count);
    if (status == std::errc() && stop == end) return count;
  }
  return std::nullopt;
}

/// Version 2 is the line `0::/path` of /proc/self/cgroup, version 1 a line like `4:memory:/path`.
/// In a container, our own group may be the root of the mount, whatever its path.
std::optional<std::uint64_t> kills_in_group(const fs::path& root) {
  const std::string text = read_file(root / "proc/self/cgroup").value_or("");
  for (const std::string_view line : lines(text)) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const fs::path path = fs::path(line.substr(parts[0].size() + parts[1].size() + 2));
    const bool is_version_1 = parts[1] == "memory";
    if (!is_version_1 && !(parts[0] == "0" && parts[1].empty())) continue;
    const fs::path mount = root / (is_version_1 ? "sys/fs/cgroup/memory" : "sys/fs/cgroup");
    const char* name = is_version_1 ? "memory.oom_control" : "memory.events";
    for (const fs::path& group : {mount / path.relative_path(), mount}) {
      if (const auto kills = kills_in(group / name)) return kills;
    }
  }
  return std::nullopt;
}

bool has_risen(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
  return before && after && *after > *before;
}

/// Rules and control characters, which some launchers print around their messages, are no words.
bool has_words(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0;
  });
}

}  // namespace

std::string last_words(const std::string& tail) {
  std::string_view last;
  for (const std::string_view line : lines(tail)) {
    const std::string_view words = trim(line);
    if (has_words(words) && !is_stack(words)) last = without_what(words);
  }
  if (last.size() <= kMostWords) return std::string(last);
  return std::string(last.substr(0, kMostWords)) + " ...";
}

Finding child_problem(const PlannedCommand& planned, const Exit& exit) {
  std::string text = subject(planned) + " " + exit.describe();
  const std::string words = last_words(exit.tail);
  if (!words.empty()) text += ": " + words;
  const bool was_killed = exit.signal.has_value() && exit.why == Exit::Why::Own;
  std::string code = was_killed ? "child_killed" : "child_failed";
  if (exit.why == Exit::Why::TimedOut) code = "timeout";
  if (exit.why == Exit::Why::Cancelled) code = "interrupted";
  return {Severity::Problem, std::move(code), std::move(text), fix_for(planned, exit),
          ErrorKind::Tool};
}

MemoryKills memory_kills(const fs::path& root) {
  return {kills_in_group(root), kills_in(root / "proc/vmstat")};
}

std::optional<Finding> out_of_memory(const PlannedCommand& planned, const Exit& exit,
                                     const MemoryKills& before, const MemoryKills& after) {
  if (exit.succeeded() || exit.why != Exit::Why::Own) return std::nullopt;
  constexpr int kShellsCode = 128 + SIGKILL;  // also used by nsys for the program it ran
  const bool was_killed = exit.signal == SIGKILL || exit.code == kShellsCode;
  const std::string fix = "give it more memory, or a smaller model or input";
  const std::string size = " (largest resident set " + human_bytes(exit.max_rss_bytes) + ")";
  if (has_risen(before.group, after.group)) {
    return Finding{Severity::Problem, "out_of_memory",
                   planned.name +
                       ": out of memory: the kernel killed one of its processes with SIGKILL "
                       "because its control group reached its memory limit" +
                       size,
                   fix, ErrorKind::Tool};
  }
  if (!was_killed || !has_risen(before.machine, after.machine)) return std::nullopt;
  return Finding{Severity::Problem, "out_of_memory",
                 planned.name +
                     ": likely out of memory: it ended with SIGKILL, and the kernel's "
                     "out-of-memory killer was active while it ran" +
                     size,
                 fix, ErrorKind::Tool};
}

}  // namespace profline::pipeline
