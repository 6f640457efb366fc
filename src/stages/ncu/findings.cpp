#include <unistd.h>

#include <algorithm>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "pipeline/workload_stage.h"
#include "records/ncu_tables.h"
#include "run/names/artifact_names.h"
#include "stages/ncu/internal/captures.h"
#include "stages/ncu/internal/counter_plan.h"
#include "tools/ncu/probe.h"
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
  findings.push_back(absent(
      "gpu_absent", "ncu profiles kernels of a GPU: " + error.to_string(),
      "run on a machine with a GPU, or set pipeline.ncu.require_gpu=false to run ncu anyway"));
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
                      "the driver restricts performance counters to administrators: ncu is likely "
                      "to fail with ERR_NVGPUCTRPERM",
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
    findings.push_back({Severity::Warning, "metrics_unknown",
                        versioned(ncu) + " does not know these metrics, which are left out: " +
                            join(metrics, ", "),
                        "ncu --query-metrics lists what it knows"});
  }
  if (!collected.unsupported.empty()) {
    findings.push_back(
        {Severity::Warning, "metrics_unsupported",
         "ncu does not collect these metrics with range replay, so they are left out: " +
             join(collected.unsupported, ", "),
         "pipeline.ncu.ncu_cli.replay_mode=kernel collects them"});
  }
  const auto& sections = collected.unknown_sections;
  if (!sections.empty()) {
    findings.push_back({Severity::Warning, "sections_unknown",
                        versioned(ncu) + " does not have these sections, which are left out: " +
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
                        "range replay has no range: pipeline.ncu.ncu_cli.nvtx.include is empty, so "
                        "only the part between cudaProfilerStart and cudaProfilerStop is replayed",
                        "pipeline.ncu.ncu_cli.nvtx.include=decode"});
  }
  const std::vector<std::string> opened = pipeline::workload_ranges(settings);
  if (opened.empty()) return;
  for (const ncu::NvtxExpression& range : gate) {
    // Only a plain name can be checked up front.
    if (range.passed != range.given + "/") continue;
    if (std::find(opened.begin(), opened.end(), range.given) != opened.end()) continue;
    findings.push_back({Severity::Warning, "range_unknown",
                        "the built-in workload opens no range '" + range.given + "'" +
                            did_you_mean(range.given, opened) + "; it opens " + join(opened, ", "),
                        "name one of them in pipeline.ncu.ncu_cli.nvtx.include"});
  }
}

Finding problem(std::string code, std::string text, std::string fix) {
  return {Severity::Problem, std::move(code), std::move(text), std::move(fix), ErrorKind::Tool};
}

std::string see_log(const NcuFiles& files, const Attempt& attempt) {
  return "ncu's log: " + files.log(attempt).string() +
         "; the workload's log: " + (files.workload(attempt) / run::files::kLog).string();
}

std::string gate_text(const settings::Ncu& own) {
  std::vector<std::string> passed;
  for (const ncu::NvtxExpression& range : ncu::gate(own)) passed.push_back(range.passed);
  return join(passed, ", ");
}

/// Why there is no report.
Finding no_report(const pipeline::StageContext& context, const NcuFiles& files,
                  const Attempt& attempt) {
  const ncu::Messages messages = messages_of(files, attempt);
  if (messages.counters_denied) {
    return problem("counters_denied",
                   "the driver restricts performance counters to administrators (ERR_NVGPUCTRPERM)",
                   "run as root, or as root: echo 'options nvidia "
                   "NVreg_RestrictProfilingToAdminUsers=0' > "
                   "/etc/modprobe.d/nvidia-counters.conf && update-initramfs -u, then reboot; in "
                   "a container: --cap-add=SYS_ADMIN");
  }
  if (messages.no_libcuda) {
    return problem("libcuda_absent", "ncu could not reach the CUDA driver and ended the workload",
                   "NVIDIA's libcuda.so.1 must be found before the toolkit's stub");
  }
  if (messages.program_not_found) {
    return problem("program_absent", "ncu did not find the program: " + messages.errors.front(),
                   see_log(files, attempt));
  }
  if (messages.cannot_write || messages.disk_full) {
    return problem(messages.disk_full ? "disk_full" : "output_unwritable",
                   "ncu could not write its report" +
                       (messages.errors.empty() ? "" : ": " + messages.errors.back()),
                   see_log(files, attempt));
  }
  if (!messages.nothing_profiled.empty()) {
    const bool gated =
        !attempt.without_gate && !ncu::gate(context.setup.settings.pipeline.ncu).empty();
    return problem("nothing_profiled",
                   "no " + messages.nothing_profiled + " were profiled" +
                       (attempt.without_gate ? " without the gate either: " : ": ") +
                       why_nothing(context, messages, gated),
                   see_log(files, attempt));
  }
  return problem(
      "no_report",
      "ncu left no report" + (messages.errors.empty() ? "" : ": " + messages.errors.front()),
      see_log(files, attempt));
}

}  // namespace

std::vector<Finding> ncu_preflight(const pipeline::StageContext& context) {
  if (context.setup.settings.pipeline.workload.ranks.is_on()) {
    return {
        {Severity::Problem, "ranks_under_ncu",
         "ncu runs each kernel several times, and a kernel that communicates then waits forever "
         "for ranks that do not repeat it, so a program with ranks is not run under ncu",
         "leave the stage out, pipeline.ncu.enable=false, and profile one rank without a "
         "launcher",
         ErrorKind::Config}};
  }
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
        "ncu collects its own default set, because set, sections and metrics are all empty");
  }
  if (ncu::is_range_replay(own.ncu_cli)) {
    notes.push_back(std::string(kInstructions) +
                    " is always collected with range replay, to check that nested ranges add up");
  }
  for (std::string& note : coverage_notes(own, context.setup.settings.pipeline.workload)) {
    notes.push_back(std::move(note));
  }
  for (const std::string& name : ncu::collection(ncu_of(context.tools), own.ncu_cli).translated) {
    notes.push_back(name + " is requested as " + join(ncu::flop_count_parts(name), ", "));
  }
  return notes;
}

ncu::Messages messages_of(const NcuFiles& files, const Attempt& attempt) {
  return ncu::read_messages(read_file(files.log(attempt)).value_or("") + "\n" +
                            read_file(files.workload(attempt) / run::files::kLog).value_or(""));
}

std::optional<Finding> capture_end(const pipeline::StageContext& context,
                                   const pipeline::PlannedCommand& planned, const Exit& exit,
                                   const Attempt& attempt) {
  const NcuFiles files(context.setup);
  if (exit.why == Exit::Why::TimedOut) {
    // The stage's own timeout has already been reported.
    if (!planned.command.timeout || exit.time_limit != *planned.command.timeout) return {};
    return Finding{Severity::Warning, "budget_exceeded",
                   "ncu was stopped after " + human_elapsed(exit.time_limit) +
                       ", far beyond its budget; what it had counted is kept",
                   "pipeline.ncu.max_launches=N counts fewer launches; a larger "
                   "pipeline.ncu.budget_s gives it longer"};
  }
  if (exit.succeeded()) return std::nullopt;
  if (!exit.code) {
    Finding finding = child_problem(planned, exit);
    finding.code = "tool_killed";
    return finding;
  }
  const ncu::Messages messages = messages_of(files, attempt);
  if (files.has_report(attempt.group) &&
      context.setup.settings.pipeline.ncu.ncu_cli.kill.value_or(false)) {
    return Finding{Severity::Note, "ended_after_launches",
                   "ncu ended the workload once it had profiled its launches, as configured (" +
                       exit.describe() + ")",
                   "pipeline.ncu.ncu_cli.kill=null lets it run to its end, which is needed to "
                   "measure the profiler's slow-down"};
  }
  // If ncu ended the workload, its exit code is not its own.
  if (messages.application_code && !messages.no_libcuda) {
    const int code = *messages.application_code;
    return problem("application_failed",
                   "the workload ended with code " + std::to_string(code) +
                       " under ncu (a small number may be a signal: 11 is SIGSEGV, 9 SIGKILL)",
                   "its output: " + planned.command.log.string());
  }
  if (messages.errors.empty()) return child_problem(planned, exit);
  if (!files.has_report(attempt.group)) return std::nullopt;  // reported with the missing report
  return problem("ncu_failed", "ncu failed: " + messages.errors.front(),
                 "ncu's log: " + files.log(attempt).string());
}

std::string why_nothing(const pipeline::StageContext& context, const ncu::Messages& messages,
                        bool gated) {
  const settings::Root& settings = context.setup.settings;
  const settings::Ncu& own = settings.pipeline.ncu;
  if (settings.device.kind == settings::Device::Kind::Cpu &&
      !settings.pipeline.workload.user_command()) {
    return "the workload runs on the CPU and launches none (device=cpu)";
  }
  if (messages.connected == 0) return "the workload never used CUDA";
  std::string why;
  if (gated) {
    why = "none was launched in the ranges " + gate_text(own) +
          ": they never opened, or nothing is launched in them";
    const std::vector<std::string> opened = pipeline::workload_ranges(settings);
    if (!opened.empty()) why += " (the built-in workload opens " + join(opened, ", ") + ")";
  }
  if (own.ncu_cli.kernel_name) {
    why += (why.empty() ? "" : ", or ") + std::string("no kernel's name matched ") +
           *own.ncu_cli.kernel_name;
  }
  if (own.ncu_cli.launch_skip.value_or(0) > 0) {
    why += (why.empty() ? "" : ", or ") + std::string("there are no more than the ") +
           counted(*own.ncu_cli.launch_skip, "launch") + " that launch_skip leaves out";
  }
  return why.empty() ? "the workload launched none" : why;
}

std::vector<Finding> check_capture(const pipeline::StageContext& context) {
  const NcuFiles files(context.setup);
  const Attempt attempt{.without_gate = files.was_rerun()};
  std::vector<Finding> findings = pipeline::workload_remarks(files.workload(attempt));
  if (!files.has_report()) {
    findings.push_back(no_report(context, files, attempt));
    return findings;
  }
  if (attempt.without_gate) {
    const settings::Ncu& own = context.setup.settings.pipeline.ncu;
    findings.push_back({Severity::Warning, "gate_dropped",
                        "nothing was launched inside " + ranges_text(own) +
                            ", so the kernels are " + launch_limit(own, true)->text,
                        "name a range that the program opens: "
                        "pipeline.ncu.ncu_cli.nvtx.include=RANGE"});
  }
  for (const std::string& warning : messages_of(files, attempt).warnings) {
    findings.push_back({Severity::Note, "ncu_warning", warning, ""});
  }
  return findings;
}

std::optional<Finding> bound_reached(const pipeline::StageContext& context,
                                     const NcuKernels& kernels) {
  const settings::Ncu& own = context.setup.settings.pipeline.ncu;
  if (chooses_launches(own)) return std::nullopt;  // the counter plan says which ones
  const auto limit = launch_limit(own, false);
  if (!limit || kernels.launches < limit->count) return std::nullopt;
  const bool is_from_start = ncu::gate(own).empty() && !own.ncu_cli.kernel_name;
  return Finding{is_from_start ? Severity::Warning : Severity::Note, "bound_reached",
                 "the capture covers " + limit->text + "; later ones were not profiled",
                 is_from_start
                     ? "pipeline.ncu.ncu_cli.nvtx.include=RANGE profiles the part that matters"
                     : ""};
}

std::vector<Finding> ranges_not_replayed(const pipeline::StageContext& context,
                                         const NcuRegions& regions) {
  std::vector<Finding> findings;
  if (NcuFiles(context.setup).was_rerun()) return findings;  // already reported
  for (const ncu::NvtxExpression& range : ncu::gate(context.setup.settings.pipeline.ncu)) {
    const bool is_there =
        std::any_of(regions.regions.begin(), regions.regions.end(), [&](const NcuRegion& region) {
          return region.source == RegionSource::Range && ncu::names_range(range, region.name);
        });
    if (is_there) continue;
    findings.push_back({Severity::Warning, "range_not_replayed",
                        "no range " + range.given + " was replayed: it never opened, or only " +
                            "inside of another one that was being replayed",
                        "name a nested range together with the enclosing one, as " +
                            std::string("A::") + range.given +
                            ": it is then replayed in a separate run"});
  }
  return findings;
}

}  // namespace profline::stages::internal
