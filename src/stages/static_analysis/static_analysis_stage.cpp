#include "stages/static_analysis/static_analysis_stage.h"

#include <cmath>

#include "analysis/static_model/static_compute.h"
#include "base/files.h"
#include "formats/json.h"
#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "run/artifacts.h"
#include "stages/static_analysis/analysis_subject.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::Severity;

constexpr double kAgreement = 0.01;

const settings::StaticAnalysis& own_settings(const pipeline::StageContext& context) {
  return context.setup.settings.pipeline.static_analysis;
}

bool is_program(const settings::Root& settings) {
  return settings.pipeline.workload.user_command().has_value();
}

/// The config.json that the user named for the program's model.
std::optional<fs::path> users_config(const pipeline::RunSetup& setup) {
  const auto* subject = std::get_if<settings::program::Subject>(&setup.settings.subject);
  if (subject == nullptr || !subject->model.config) return std::nullopt;
  return setup.cwd / *subject->model.config;
}

/// Why the model's graph cannot be traced: no program can do it, or the tokenizer, which determines
/// the prompt's length, is missing. Nothing if it can be traced.
std::optional<Finding> untraceable(const pipeline::StageContext& context) {
  if (!context.tools.workload || !*context.tools.workload) {
    const std::string why =
        context.tools.workload ? context.tools.workload->error().message() : std::string();
    return Finding{Severity::Problem, "workload_absent", why, "", ErrorKind::NotFound};
  }
  return pipeline::model_preflight(context, pipeline::ModelFiles::Tokenizer);
}

bool can_trace(const pipeline::StageContext& context) {
  return !untraceable(context);
}

Result<static_model::StaticCompute> closed_forms(const pipeline::RunSetup& setup,
                                                 AnalysisSubject subject) {
  const auto format = format_of(subject, "");
  if (!format) return Error(ErrorKind::Config, "no figures for dtype '" + subject.dtype + "'");
  return static_compute_of(std::move(subject), *format, setup.ceilings, setup.device_name);
}

void report_disagreement(const std::vector<static_model::TracedPhase>& traced,
                         pipeline::StageRun& run) {
  for (const static_model::TracedPhase& phase : traced) {
    const auto difference = phase.difference();
    if (difference && std::abs(*difference) <= kAgreement) continue;
    run.report({Severity::Warning, "counts_disagree",
                "the closed forms of " + phase.phase +
                    " and its traced graph differ by more than "
                    "1 %: static_compute.json has both"});
  }
}

/// Reports why static analysis does not apply to the program; unless the user insists on it, that
/// is no failure.
void report_inapplicable(const pipeline::StageContext& context, const Error& why,
                         pipeline::StageRun& run) {
  Finding finding{Severity::Problem,
                  why.reason().empty() ? "static_subject" : std::string(why.reason()),
                  why.to_string(), "", why.kind()};
  if (own_settings(context).enable == settings::Enable::Auto) return run.skip(std::move(finding));
  run.report(std::move(finding));
}

Result<void> analyse_program(const pipeline::StageContext& context, const run::Run& files,
                             const fs::path& folder, pipeline::StageRun& run) {
  auto program = program_subject(files, users_config(context.setup));
  if (!program) {
    report_inapplicable(context, program.error(), run);
    return {};
  }
  static_model::StaticCompute result =
      PL_TRY(closed_forms(context.setup, std::move(program->subject)));
  if (const auto& check = program->model.check) result.counted = check->counted;
  result.floors_withheld = program->model.floors_withheld();
  if (!result.floors_withheld.empty()) {
    result.ceilings = {};
    run.report({Severity::Warning, "parameters_differ",
                "no floors and no utilisation: " + result.floors_withheld,
                "the model differs from its config; name a config.json that describes it: "
                "model.config=FILE"});
  }
  if (!own_settings(context).write_reports) return {};
  return static_model::write_static_compute(result, folder);
}

}  // namespace

pipeline::Stage::Needs StaticAnalysisStage::needs(const settings::Root& settings) const {
  return {.workload = !is_program(settings)};
}

bool StaticAnalysisStage::reads_baseline(const settings::Root& settings) const {
  return is_program(settings);
}

std::vector<Finding> StaticAnalysisStage::preflight(const pipeline::StageContext& context) const {
  std::vector<Finding> findings;
  if (is_program(context.setup.settings)) {
    if (context.setup.settings.pipeline.baseline.enable == settings::Enable::No) {
      findings.push_back({Severity::Problem, "no_baseline",
                          "the model and the requests of a program are recorded in the baseline, "
                          "which is off",
                          "enable it: pipeline.baseline.enable=true", ErrorKind::Config});
    }
    if (const auto config = users_config(context.setup)) {
      if (const auto model = load_model_config(*config); !model) {
        findings.push_back({Severity::Problem, "model_config",
                            "model.config: " + model.error().to_string(), "",
                            model.error().kind()});
      }
    }
    return findings;
  }
  if (auto absent = pipeline::model_preflight(context, pipeline::ModelFiles::Config)) {
    findings.push_back(std::move(*absent));
    return findings;
  }
  if (const auto subject = subject_of(context.setup.settings, context.setup.cwd); !subject) {
    findings.push_back({Severity::Problem, "static_subject", subject.error().to_string(), "",
                        subject.error().kind()});
  }
  auto obstacle = untraceable(context);
  if (!obstacle || obstacle->text.empty()) return findings;
  if (own_settings(context).use_analytic_fallback) {
    findings.push_back({Severity::Note, "not_traced", "closed forms only: " + obstacle->text});
    return findings;
  }
  obstacle->fix = "use closed forms instead: pipeline.static_analysis.use_analytic_fallback=true";
  findings.push_back(std::move(*obstacle));
  return findings;
}

pipeline::StagePlan StaticAnalysisStage::plan(const pipeline::StageContext& context) const {
  const pipeline::RunSetup& setup = context.setup;
  pipeline::StagePlan plan;
  const bool of_program = is_program(setup.settings);
  if (!of_program && can_trace(context)) {
    plan.commands.push_back(
        {"trace", workload_command(context, {.stage = id(),
                                             .mode = "static_trace",
                                             .config = handed_config_file(setup, id(), {}),
                                             .out = setup.stage_folder(id())})});
    plan.artifacts = {run::files::kStaticTrace, run::files::kLog};
  }
  if (own_settings(context).write_reports) {
    plan.artifacts.emplace_back(run::files::kStaticCompute);
    plan.artifacts.emplace_back(run::files::kStaticComputePage);
  }
  if (of_program) {
    plan.notes.emplace_back(
        "after the baseline: the model and the shapes are those that the program's process "
        "records");
    return plan;
  }
  if (own_settings(context).use_synthetic_inputs) {
    plan.notes.emplace_back(
        "shapes of a square page (pipeline.static_analysis.use_synthetic_inputs), not of the "
        "dataset's images");
  }
  return plan;
}

Result<void> StaticAnalysisStage::run(const pipeline::StageContext& context,
                                      const pipeline::StagePlan& plan,
                                      pipeline::StageRun& run) const {
  for (const pipeline::PlannedCommand& trace : plan.commands) {
    const Exit exit = PL_TRY(run.execute(trace));
    if (exit.succeeded() || exit.why == Exit::Why::Cancelled) continue;
    Finding finding = child_problem(trace, exit);
    if (own_settings(context).use_analytic_fallback) {
      finding.severity = Severity::Warning;
      finding.text += "; closed forms are used instead";
    }
    run.report(std::move(finding));
  }
  return {};
}

std::vector<Finding> StaticAnalysisStage::verify(const pipeline::StageContext& context,
                                                 const run::Run& /*files*/) const {
  if (is_program(context.setup.settings)) return {};
  if (!can_trace(context) || own_settings(context).use_analytic_fallback) return {};
  return pipeline::missing_files(context.setup.stage_folder(id()), {run::files::kStaticTrace});
}

Result<void> StaticAnalysisStage::summarise(const pipeline::StageContext& context,
                                            const run::Run& files, pipeline::StageRun& run) const {
  const fs::path folder = context.setup.stage_folder(id());
  if (is_program(context.setup.settings)) return analyse_program(context, files, folder, run);
  AnalysisSubject subject = PL_TRY(subject_of(context.setup.settings, context.setup.cwd));
  std::vector<static_model::TracedPhase> traced;
  const run::Artifact<Node> trace = files.read(run::kStaticTrace);
  if (trace.is_there) {
    traced = PL_TRY(compare_with_trace(subject, trace));
    report_disagreement(traced, run);
  }
  if (!own_settings(context).write_reports) return {};
  static_model::StaticCompute result = PL_TRY(closed_forms(context.setup, std::move(subject)));
  result.traced = std::move(traced);
  return static_model::write_static_compute(result, folder);
}

}  // namespace profline::stages
