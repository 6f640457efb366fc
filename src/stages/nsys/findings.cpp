#include <algorithm>
#include <csignal>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "pipeline/workload_stage.h"
#include "records/range_use.h"
#include "stages/nsys/internal/captures.h"
#include "stages/program_gate/program_gate.h"
#include "stages/ranks/ranked_stage.h"
#include "tools/nsys/commands.h"
#include "tools/nsys/probe.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::stages::internal {
namespace {

using pipeline::Finding;
using pipeline::Severity;
using settings::CaptureRange;

std::string versioned(const nsys::Installation& nsys) {
  return "nsys " + nsys.version.to_string();
}

Finding missing_nsys(const Error& error) {
  return {Severity::Problem, "nsys_absent", error.to_string(),
          "install Nsight Systems (Debian: enable the non-free component, then apt-get install "
          "nsight-systems), put its folder on PATH, or leave the stage out: "
          "pipeline.nsys.enable=false"};
}

void check_importer(const nsys::Installation& nsys, std::vector<Finding>& findings) {
  if (nsys.importer_lacks.empty()) return;
  findings.push_back({Severity::Problem, "importer_lacks_libraries",
                      versioned(nsys) + " captures, but its importer " + nsys.importer.string() +
                          " lacks " + join(nsys.importer_lacks, ", ") +
                          ", so no report would be written",
                      "install what provides them; profline doctor names the packages"});
}

void check_options(const nsys::Installation& nsys, const settings::Nsys& own,
                   std::vector<Finding>& findings) {
  const std::vector<std::string> missing = nsys::missing_options(nsys, own);
  if (missing.empty()) return;
  findings.push_back({Severity::Problem, "option_unknown",
                      versioned(nsys) + " does not have " + join(missing, ", "),
                      "set the keys to null, or use a newer nsys", ErrorKind::Config});
}

void check_sampling(const nsys::Installation& nsys, const settings::Nsys& own,
                    std::vector<Finding>& findings) {
  constexpr int kSteadyFrom = 2023;
  if (own.sample == settings::CpuSampling::None || nsys.version.major >= kSteadyFrom) return;
  const char* by_default = own.sample ? "" : " (its default when pipeline.nsys.sample is not set)";
  findings.push_back({Severity::Warning, "sampling_hangs",
                      versioned(nsys) + " can hang forever while it samples the CPU" + by_default +
                          " on newer kernels",
                      "set pipeline.nsys.sample=none, or set pipeline.nsys.timeout"});
}

/// nsys needs 2 MiB there for an empty capture; with less it crashes or hangs forever.
void check_temporary_space(std::vector<Finding>& findings) {
  constexpr std::uint64_t kLeastFree = std::uint64_t{8} << 20U;
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failure);
  const auto free = failure ? kLeastFree : free_bytes(folder).value_or(kLeastFree);
  if (free >= kLeastFree) return;
  findings.push_back({Severity::Problem, "temporary_disk_full",
                      human_bytes(free) + " left on the disk of " + folder.string() +
                          ", where nsys keeps what it has not imported yet",
                      "free some space, or set TMPDIR to another folder", ErrorKind::Io});
}

/// A name without its domain.
std::string plain_name(const std::string& range) {
  return range.substr(0, range.find('@'));
}

void check_ranges(const settings::Root& settings, std::vector<Finding>& findings) {
  const std::vector<std::string> opened = pipeline::workload_ranges(settings);
  if (opened.empty()) return;
  for (const std::string& range : nsys::gated_ranges(settings.pipeline.nsys)) {
    const std::string name = plain_name(range);
    if (std::find(opened.begin(), opened.end(), name) != opened.end()) continue;
    const bool is_step = name == kTokenRange;
    findings.push_back({Severity::Warning, "range_unknown",
                        "the built-in workload opens no range '" + name + "'" +
                            did_you_mean(name, opened) + "; it opens " + join(opened, ", "),
                        is_step
                            ? "switch the ranges of tokens on: pipeline.workload.nvtx_steps=true"
                            : "name one of them in pipeline.nsys.nvtx_capture"});
  }
}

void check_device(const settings::Root& settings, std::vector<Finding>& findings) {
  const settings::Nsys& own = settings.pipeline.nsys;
  const bool is_gpu = settings.device.kind == settings::Device::Kind::Cuda;
  if (is_gpu && !own.traces("cuda")) {
    findings.push_back({Severity::Warning, "cuda_not_traced",
                        "pipeline.nsys.trace does not name cuda, so no kernels are recorded",
                        "pipeline.nsys.trace=[cuda,nvtx,osrt]"});
  }
  const bool waits_for_call = nsys::effective_range(own) == CaptureRange::CudaProfilerApi;
  if (waits_for_call && !settings.pipeline.workload.user_command()) {
    findings.push_back({Severity::Warning, "range_unknown",
                        "the built-in workload never calls cudaProfilerStart, which "
                        "pipeline.nsys.capture_range=cudaProfilerApi waits for",
                        "pipeline.nsys.capture_range=nvtx"});
  }
}

using settings::CaptureRangeEnd;

constexpr int kSignalBase = 128;  // nsys exits with this plus the program's signal

Finding problem(std::string code, std::string text, std::string fix) {
  return {Severity::Problem, std::move(code), std::move(text), std::move(fix), ErrorKind::Tool};
}

std::string see_log(const NsysSession& session) {
  return "its output: " + session.log().string();
}

/// Whether nsys ends the program with the range.
bool ends_workload(const settings::Nsys& own) {
  using Action = CaptureRangeEnd::Action;
  if (nsys::effective_range(own) == CaptureRange::None) return false;
  if (!own.capture_range_end) return true;
  return own.capture_range_end->action == Action::StopShutdown ||
         own.capture_range_end->action == Action::RepeatShutdown;
}

nsys::Messages messages_of(const NsysSession& session) {
  return nsys::read_messages(read_file(session.log()).value_or(""));
}

/// nsys refused to start.
std::optional<Finding> refusal(const NsysSession& session, const nsys::Messages& messages) {
  std::string words = messages.usage_problem;
  if (words.empty() && !messages.errors.empty()) words = messages.errors.front();
  if (!words.empty()) {
    return problem("nsys_refused", "nsys rejected its options: " + words, see_log(session));
  }
  if (messages.program_problem.empty()) return std::nullopt;
  return problem("program_absent", "nsys did not find the program: " + messages.program_problem,
                 see_log(session));
}

/// Why the capture did not open.
std::string opener(const settings::Nsys& own, const NsysSession& session) {
  if (nsys::effective_range(own) == CaptureRange::Nvtx) {
    return "the range '" + session.range + "' of pipeline.nsys.nvtx_capture never opened";
  }
  return "cudaProfilerStart was never called";
}

Finding never_opened(const pipeline::StageContext& context, const NsysSession& session) {
  const settings::Root& settings = context.setup.settings;
  const std::vector<std::string> opened = pipeline::workload_ranges(settings);
  std::string fix = opened.empty() ? "check its name, and its domain: name@domain, name@*"
                                   : "the built-in workload opens " + join(opened, ", ");
  return problem(
      "range_never_opened",
      opener(settings.pipeline.nsys, session) + " while the workload ran, so nothing was captured",
      std::move(fix));
}

Finding importer_failure(const pipeline::StageContext& context, const NsysSession& session,
                         const nsys::Messages& messages) {
  const nsys::Installation nsys = nsys_of(context.tools);
  const bool has_failed = !messages.importer_problem.empty() &&
                          !nsys::importer_was_not_found(messages) && nsys.importer_lacks.empty();
  std::string words = messages.importer_problem;
  if (!messages.importer_reason.empty()) words = messages.importer_reason;
  if (words.empty()) words = "only a .qdstrm was left";
  std::string fix = has_failed ? nsys::importer_fix() : "run profline doctor to find out why";
  if (!nsys.importer_lacks.empty()) {
    fix = "its importer lacks " + join(nsys.importer_lacks, ", ") + "; " + fix;
  } else if (nsys.importer.empty() && !has_failed) {
    fix = "its importer is not where nsys looks for it; " + fix;
  }
  const auto left = unimported_captures(session);
  if (!left.empty()) {
    fix += "; once it works: QdstrmImporter -i " + left.front().string() + " -o " +
           session.output().string() + ".nsys-rep";
  }
  return problem(has_failed ? "importer_failed" : "importer_missing",
                 has_failed ? "nsys captured, but its importer failed: " + words
                            : "nsys captured, but could not write its report: " + words,
                 std::move(fix));
}

Finding report_elsewhere(const NsysSession& session, const nsys::Messages& messages) {
  const bool exists = messages.create_problem.find("File exists") != std::string::npos;
  std::string text = "nsys could not write its report: " + messages.create_problem;
  if (!messages.generated.empty()) {
    text += " It left it at " + messages.generated.front().string();
  }
  return problem(exists ? "output_exists" : "output_unwritable", std::move(text),
                 messages.disk_full ? "the disk is full" : see_log(session));
}

Finding no_report(const pipeline::StageContext& context, const NsysSession& session) {
  const nsys::Messages messages = messages_of(session);
  const settings::Nsys& own = context.setup.settings.pipeline.nsys;
  if (auto refused = refusal(session, messages)) return *std::move(refused);
  if (!messages.create_problem.empty()) return report_elsewhere(session, messages);
  if (!messages.importer_problem.empty() || !unimported_captures(session).empty()) {
    return importer_failure(context, session, messages);
  }
  const bool is_gated = nsys::effective_range(own) != CaptureRange::None;
  if (is_gated && messages.finished && messages.ranges_started == 0) {
    return never_opened(context, session);
  }
  if (messages.agent_lost) {
    return problem("agent_lost", "nsys lost the connection to its agent and left no report",
                   "run again; a leftover nsys agent or a busy machine can be the reason");
  }
  if (messages.disk_full) {
    return problem("disk_full", "nsys left no report: no space left on device",
                   "free some space; nsys needs room in TMPDIR too");
  }
  return problem("no_report", "nsys left no report", see_log(session));
}

/// With `repeat:N` the user says how many captures to expect.
void check_count_of_captures(const settings::Root& settings, const NsysSession& session,
                             std::size_t captures, std::vector<Finding>& findings) {
  const settings::Nsys& own = settings.pipeline.nsys;
  if (!repeats(own) || !own.capture_range_end->count) return;
  const std::uint32_t asked = *own.capture_range_end->count;
  if (captures >= asked) return;
  findings.push_back({Severity::Warning, "fewer_captures",
                      "capture_range_end=" + own.capture_range_end->to_string() + " asks for " +
                          counted(asked, "capture") + ", and " + std::to_string(captures) +
                          " could be made: the range '" + session.range + "' opened no more often",
                      settings.pipeline.workload.user_command()
                          ? "let the program open the range more often, or lower the number"
                          : "pipeline.nsys.samples limits how many images are run"});
}

}  // namespace

std::vector<Finding> nsys_preflight(const pipeline::StageContext& context) {
  std::vector<Finding> findings = pipeline::workload_preflight(context);
  for (Finding& finding : launch_preflight(context)) findings.push_back(std::move(finding));
  if (!context.tools.nsys) return findings;
  if (!*context.tools.nsys) {
    findings.push_back(missing_nsys(context.tools.nsys->error()));
    return findings;
  }
  const nsys::Installation& nsys = **context.tools.nsys;
  const settings::Root& settings = context.setup.settings;
  check_importer(nsys, findings);
  check_options(nsys, settings.pipeline.nsys, findings);
  check_sampling(nsys, settings.pipeline.nsys, findings);
  check_temporary_space(findings);
  check_ranges(settings, findings);
  check_device(settings, findings);
  if (has_ranks(context.setup) && ends_workload(settings.pipeline.nsys)) {
    findings.push_back({Severity::Problem, "ends_other_ranks",
                        "nsys would end the captured ranks after the range, and the launcher would "
                        "then end the others",
                        "set pipeline.nsys.capture_range_end=stop", ErrorKind::Config});
  }
  return findings;
}

std::vector<std::string> capture_notes(const pipeline::RunSetup& setup) {
  const settings::Nsys& own = setup.settings.pipeline.nsys;
  std::vector<std::string> notes;
  if (own.capture_range == CaptureRange::Nvtx && !own.gating_nvtx) {
    notes.emplace_back("everything is captured: pipeline.nsys.gating_nvtx is false");
  }
  const bool is_gated = nsys::effective_range(own) != CaptureRange::None;
  if (is_gated && !own.capture_range_end) {
    notes.emplace_back(
        "nsys ends the workload after the first range, because pipeline.nsys.capture_range_end is "
        "not set");
  }
  const std::size_t sessions = nsys::gated_ranges(own).size();
  if (sessions > 1) {
    notes.push_back("the workload runs " + std::to_string(sessions) +
                    " times, once for each range");
  }
  return notes;
}

std::optional<Finding> capture_end(const pipeline::StageContext& context,
                                   const NsysSession& session,
                                   const pipeline::PlannedCommand& planned, const Exit& exit) {
  if (exit.why == Exit::Why::TimedOut) return std::nullopt;
  if (!exit.code) {
    Finding finding = child_problem(planned, exit);
    finding.code = "tool_killed";
    return finding;
  }
  const nsys::Messages messages = messages_of(session);
  const int code = *exit.code;
  // A program that handles SIGTERM itself ends with its own exit code.
  const bool looks_ended =
      code == 0 || code == kSignalBase + SIGTERM || code == kSignalBase + SIGINT;
  if (looks_ended && messages.ranges_ended > 0 &&
      ends_workload(context.setup.settings.pipeline.nsys)) {
    return Finding{Severity::Note, "ended_after_range",
                   "nsys ended the workload after the range, which is its default "
                   "capture_range_end (exit code " +
                       std::to_string(code) + ")",
                   "pipeline.nsys.capture_range_end=stop lets it run to its end"};
  }
  if (exit.succeeded()) return std::nullopt;
  // Of this attempt; the log also has earlier ones. It is reported with the missing report.
  if (refusal(session, nsys::read_messages(exit.tail))) return std::nullopt;
  if (code > kSignalBase) {
    return problem(
        "application_killed",
        "the workload was killed by " + signal_name(code - kSignalBase) +
            " under nsys (exit code " + std::to_string(code) +
            "); the end of the capture may be missing",
        code == kSignalBase + SIGKILL
            ? "something killed it, perhaps the kernel's out-of-memory killer; " + see_log(session)
            : see_log(session));
  }
  return problem("application_failed",
                 "the workload exited with code " + std::to_string(code) + " under nsys",
                 see_log(session));
}

Finding export_failure(const NsysReport& report, const Exit& exit, const Error& error) {
  std::string text = "nsys export of " + report.report.filename().string() + " " + exit.describe() +
                     " and left no export that can be read: " + error.to_string();
  const std::string words = pipeline::last_words(exit.tail);
  return problem("export_failed", std::move(text), words.empty() ? "" : "it said: " + words);
}

std::vector<Finding> check_contents(const pipeline::StageContext& context,
                                    const NsysSession& session, const NsysReport& report,
                                    const nsys::Contents& contents) {
  std::vector<Finding> findings;
  const std::string capture = "capture " + report.name;
  const bool is_gpu = context.setup.settings.device.kind == settings::Device::Kind::Cuda;
  if (contents.rows == 0 && is_program(context.setup) && !is_gpu) {
    findings.push_back({Severity::Note, "nothing_to_record",
                        capture + " holds no events: the program runs on the CPU and opens no "
                                  "NVTX ranges",
                        "pipeline.nsys.trace=cuda,nvtx,osrt records its calls to the operating "
                        "system, pipeline.nsys.sample=process-tree its call stacks"});
    return findings;
  }
  if (contents.rows == 0) {
    findings.push_back(problem("capture_empty", capture + " holds no events", see_log(session)));
    return findings;
  }
  if (!session.range.empty() && contents.instances == 0) {
    findings.push_back({Severity::Warning, "range_not_recorded",
                        capture + " does not hold the range '" + session.range + "' that opened it",
                        "pipeline.nsys.trace must name nvtx, and the domain must be recorded"});
  }
  if (contents.still_open > 0) {
    findings.push_back({Severity::Warning, "range_cut",
                        capture + " ends before the range '" + session.range +
                            "' does: its times are those up to there",
                        ""});
  }
  if (contents.kernels > 0) return findings;
  if (is_gpu) {
    findings.push_back(problem("no_kernels",
                               capture + " holds no kernels, although the workload runs on " +
                                   context.setup.settings.device.to_string(),
                               "pipeline.nsys.trace must name cuda; " + see_log(session)));
  } else {
    findings.push_back({Severity::Note, "no_kernels",
                        capture + " holds no kernels: the workload runs on the CPU", ""});
  }
  return findings;
}

std::optional<Finding> metrics_missing(const pipeline::StageContext& context,
                                       const NsysSession& session, const NsysReport& report,
                                       const Timeline& timeline) {
  const bool is_wanted = context.setup.settings.pipeline.nsys.gpu_metrics;
  if (!is_wanted || !timeline.gpu_samples.empty()) return std::nullopt;
  return nsys::missing_samples("capture " + report.name, read_file(session.log()).value_or(""),
                               see_log(session));
}

std::vector<Finding> check_session(const pipeline::StageContext& context,
                                   const NsysSession& session) {
  std::vector<Finding> findings = pipeline::workload_remarks(session.workload());
  const std::vector<NsysReport> reports = nsys_reports(session);
  if (reports.empty()) {
    findings.push_back(no_report(context, session));
    return findings;
  }
  check_count_of_captures(context.setup.settings, session, reports.size(), findings);
  return findings;
}

}  // namespace profline::stages::internal
