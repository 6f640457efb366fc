#include "pipeline/workload_stage.h"

#include <algorithm>

#include "analysis/static_model/deepseek_ocr.h"
#include "base/files.h"
#include "base/strings.h"
#include "inputs/dataset/dataset.h"
#include "inputs/weights/checkpoint.h"
#include "pipeline/child_failure.h"
#include "process/environment.h"
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
  return {absent("program_absent", program.error().message(),
                 "name an existing one: pipeline.workload.command=[PROGRAM,ARGUMENT]")};
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
               "build profline with libtorch (docs: README), or name one: --workload "
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

}  // namespace profline::pipeline
