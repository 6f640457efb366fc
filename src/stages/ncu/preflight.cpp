#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/strings.h"
#include "pipeline/workload_ranges.h"
#include "pipeline/workload_stage.h"
#include "records/ncu_regions.h"
#include "stages/ncu/internal/coverage.h"
#include "stages/ncu/internal/findings.h"
#include "tools/ncu/metrics.h"
#include "tools/ncu/profile_command.h"

namespace profline::stages::internal {
namespace {

using pipeline::Finding;
using pipeline::Severity;

std::string versioned(const ncu::Installation& ncu) {
  return "ncu " + ncu.version.to_string();
}

Finding absent(std::string code, std::string text, std::string fix) {
  return {Severity::Problem, std::move(code), std::move(text), std::move(fix), ErrorKind::NotFound};
}

Finding wrong(std::string code, std::string text, std::string fix) {
  return {Severity::Problem, std::move(code), std::move(text), std::move(fix), ErrorKind::Config};
}

void check_driver(const pipeline::StageContext& context, std::vector<Finding>& findings) {
  if (!context.tools.driver || *context.tools.driver) return;
  const Error& error = context.tools.driver->error();
  if (error.reason() == gpu::kNoLibrary) {
    findings.push_back(
        absent("libcuda_absent",
               "ncu ends every program on a machine without libcuda.so.1: " + error.to_string(),
               "install NVIDIA's driver (its user-mode part alone, Debian: apt-get "
               "install libcuda1, lets ncu start)"));
    return;
  }
  if (!context.setup.settings.pipeline.ncu.require_gpu) return;
  findings.push_back(absent("gpu_absent", "ncu profiles kernels of a GPU: " + error.to_string(),
                            "run where there is one; pipeline.ncu.require_gpu=false runs ncu all "
                            "the same"));
}

void check_work(const pipeline::StageContext& context, std::vector<Finding>& findings) {
  const settings::Root& settings = context.setup.settings;
  const bool is_cpu = settings.device.kind == settings::Device::Kind::Cpu;
  if (!is_cpu || settings.pipeline.workload.user_command()) return;
  findings.push_back({Severity::Warning, "no_gpu_work",
                      "the workload runs on the CPU, so ncu will find no kernels",
                      "device=cuda:0"});
}

void check_counters(const pipeline::StageContext& context, std::vector<Finding>& findings) {
  if (!context.tools.driver || !*context.tools.driver || geteuid() == 0) return;
  const auto params = read_file("/proc/driver/nvidia/params");
  if (!params || !gpu::counters_are_restricted(*params)) return;
  findings.push_back({Severity::Warning, "counters_restricted",
                      "the driver keeps performance counters for administrators: ncu is likely to "
                      "answer ERR_NVGPUCTRPERM",
                      "run as root, or see profline doctor for the driver's setting"});
}

void check_collection(const ncu::Installation& ncu, const settings::NcuCli& cli,
                      std::vector<Finding>& findings) {
  const ncu::Collection collected = ncu::collection(ncu, cli);
  const auto& metrics = collected.unknown_metrics;
  if (!metrics.empty() && collected.metrics.empty()) {
    findings.push_back(wrong("metrics_unknown",
                             versioned(ncu) +
                                 " knows none of the metrics of "
                                 "pipeline.ncu.ncu_cli.metrics: " +
                                 join(metrics, ", "),
                             "ncu --query-metrics lists what it knows; null collects the set's"));
  } else if (!metrics.empty()) {
    findings.push_back(
        {Severity::Warning, "metrics_unknown",
         versioned(ncu) + " does not know, and is not asked for: " + join(metrics, ", "),
         "ncu --query-metrics lists what it knows"});
  }
  if (!collected.unsupported.empty()) {
    findings.push_back({Severity::Warning, "metrics_unsupported",
                        "ncu does not collect with range replay, and is not asked for: " +
                            join(collected.unsupported, ", "),
                        "pipeline.ncu.ncu_cli.replay_mode=kernel collects them"});
  }
  const auto& sections = collected.unknown_sections;
  if (!sections.empty()) {
    findings.push_back({Severity::Warning, "sections_unknown",
                        versioned(ncu) + " does not have, and is not asked for, the sections: " +
                            join(sections, ", "),
                        "ncu --list-sections lists what it has"});
  }
  if (cli.set && !ncu.has_set(*cli.set)) {
    findings.push_back(
        wrong("set_unknown",
              versioned(ncu) + " has no set '" + *cli.set + "'" + did_you_mean(*cli.set, ncu.sets),
              "name one of " + join(ncu.sets, ", ") + " in pipeline.ncu.ncu_cli.set, or null"));
  }
  const std::vector<std::string> options = ncu::missing_options(ncu, cli);
  if (!options.empty()) {
    findings.push_back(wrong("option_unknown",
                             versioned(ncu) + " does not have " + join(options, ", "),
                             "set the keys to null, or use a newer ncu"));
  }
}

void check_gate(const settings::Root& settings, std::vector<Finding>& findings) {
  const settings::Ncu& own = settings.pipeline.ncu;
  const std::vector<ncu::NvtxExpression> gate = ncu::gate(own);
  if (gate.empty() && ncu::is_range_replay(own.ncu_cli)) {
    findings.push_back({Severity::Warning, "range_missing",
                        "range replay has no range: pipeline.ncu.ncu_cli.nvtx.include names none, "
                        "so only what lies between cudaProfilerStart and Stop is replayed",
                        "pipeline.ncu.ncu_cli.nvtx.include=decode"});
  }
  const std::vector<std::string> opened = pipeline::workload_ranges(settings);
  if (opened.empty()) return;
  for (const ncu::NvtxExpression& range : gate) {
    // Only a plain name can be told from outside.
    if (range.passed != range.given + "/") continue;
    if (std::find(opened.begin(), opened.end(), range.given) != opened.end()) continue;
    findings.push_back({Severity::Warning, "range_unknown",
                        "the built-in workload opens no range '" + range.given + "'" +
                            did_you_mean(range.given, opened) + "; it opens " + join(opened, ", "),
                        "name one of them in pipeline.ncu.ncu_cli.nvtx.include"});
  }
}

}  // namespace

std::vector<Finding> ncu_preflight(const pipeline::StageContext& context) {
  std::vector<Finding> findings = pipeline::workload_preflight(context);
  check_driver(context, findings);
  check_work(context, findings);
  check_counters(context, findings);
  if (!context.tools.ncu) return findings;
  if (!*context.tools.ncu) {
    findings.push_back(absent("ncu_absent", context.tools.ncu->error().to_string(),
                              "install Nsight Compute (Debian: enable the non-free component, then "
                              "apt-get install nsight-compute), put its folder on PATH, or leave "
                              "the stage out: pipeline.ncu.enable=false"));
    return findings;
  }
  check_collection(**context.tools.ncu, context.setup.settings.pipeline.ncu.ncu_cli, findings);
  check_gate(context.setup.settings, findings);
  return findings;
}

std::vector<std::string> ncu_notes(const pipeline::StageContext& context) {
  const settings::Ncu& own = context.setup.settings.pipeline.ncu;
  std::vector<std::string> notes;
  for (const ncu::NvtxExpression& range : ncu::gate(own)) {
    if (range.given != range.passed) {
      notes.push_back("nvtx.include " + range.given + " is passed as " + range.passed);
    }
  }
  if (own.ncu_cli.nvtx.include && !own.gating_nvtx) {
    notes.emplace_back("nvtx.include is not passed: pipeline.ncu.gating_nvtx is false");
  }
  if (!own.ncu_cli.names_what_to_collect()) {
    notes.emplace_back(
        "ncu collects its own default set, because neither set, nor sections, nor metrics name "
        "anything");
  }
  if (ncu::is_range_replay(own.ncu_cli)) {
    notes.push_back(std::string(kInstructions) +
                    " is always collected with range replay: the figures of nested ranges are "
                    "added up by it");
  }
  for (std::string& note : coverage_notes(own, context.setup.settings.pipeline.workload)) {
    notes.push_back(std::move(note));
  }
  for (const std::string& name : ncu::collection(ncu_of(context.tools), own.ncu_cli).translated) {
    notes.push_back(name + " is asked for as " + join(ncu::flop_count_parts(name), ", "));
  }
  return notes;
}

}  // namespace profline::stages::internal
