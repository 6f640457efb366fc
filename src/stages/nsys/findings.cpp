#include "stages/nsys/internal/findings.h"

#include <csignal>

#include "base/files.h"
#include "base/strings.h"
#include "pipeline/child_failure.h"
#include "pipeline/workload_ranges.h"
#include "pipeline/workload_stage.h"
#include "tools/nsys/contents.h"
#include "tools/nsys/messages.h"
#include "tools/nsys/profile_command.h"

namespace profline::stages::internal {
namespace {

using pipeline::Finding;
using pipeline::Severity;
using settings::CaptureRange;
using settings::CaptureRangeEnd;

constexpr int kSignalBase = 128;  // nsys exits with this much more than the signal of the program

Finding problem(std::string code, std::string text, std::string fix) {
  return {Severity::Problem, std::move(code), std::move(text), std::move(fix), ErrorKind::Tool};
}

std::string see_log(const NsysRegion& region) {
  return "its output: " + region.log().string();
}

/// Whether nsys is told to end the program with the range.
bool ends_workload(const settings::Nsys& own) {
  using Action = CaptureRangeEnd::Action;
  if (nsys::effective_range(own) == CaptureRange::None) return false;
  if (!own.capture_range_end) return true;
  return own.capture_range_end->action == Action::StopShutdown ||
         own.capture_range_end->action == Action::RepeatShutdown;
}

nsys::Messages messages_of(const NsysRegion& region) {
  return nsys::read_messages(read_file(region.log()).value_or(""));
}

/// nsys would not even begin.
std::optional<Finding> refusal(const NsysRegion& region, const nsys::Messages& messages) {
  std::string words = messages.usage_problem;
  if (words.empty() && !messages.errors.empty()) words = messages.errors.front();
  if (!words.empty()) {
    return problem("nsys_refused", "nsys did not take its options: " + words, see_log(region));
  }
  if (messages.program_problem.empty()) return std::nullopt;
  return problem("program_absent", "nsys did not find the program: " + messages.program_problem,
                 see_log(region));
}

/// What opens the capture, in words.
std::string opener(const settings::Nsys& own, const NsysRegion& region) {
  if (nsys::effective_range(own) == CaptureRange::Nvtx) {
    return "the range '" + region.range + "' of pipeline.nsys.nvtx_capture never opened";
  }
  return "cudaProfilerStart was never called";
}

Finding never_opened(const pipeline::StageContext& context, const NsysRegion& region) {
  const settings::Root& settings = context.setup.settings;
  const std::vector<std::string> opened = pipeline::workload_ranges(settings);
  std::string fix = opened.empty() ? "check its name, and its domain: name@domain, name@*"
                                   : "the built-in workload opens " + join(opened, ", ");
  return problem(
      "range_never_opened",
      opener(settings.pipeline.nsys, region) + " while the workload ran, so nothing was captured",
      std::move(fix));
}

Finding importer_failure(const pipeline::StageContext& context, const NsysRegion& region,
                         const nsys::Messages& messages) {
  const nsys::Installation nsys = nsys_of(context.tools);
  const bool has_failed = !messages.importer_problem.empty() &&
                          !nsys::importer_was_not_found(messages) && nsys.importer_lacks.empty();
  std::string words = messages.importer_problem;
  if (!messages.importer_reason.empty()) words = messages.importer_reason;
  if (words.empty()) words = "only a .qdstrm was left";
  std::string fix = has_failed ? nsys::importer_fix() : "profline doctor looks into it";
  if (!nsys.importer_lacks.empty()) {
    fix = "its importer lacks " + join(nsys.importer_lacks, ", ") + "; " + fix;
  } else if (nsys.importer.empty() && !has_failed) {
    fix = "its importer is not where nsys looks for it; " + fix;
  }
  const auto left = unimported_captures(region);
  if (!left.empty()) {
    fix += "; once it works: QdstrmImporter -i " + left.front().string() + " -o " +
           region.output().string() + ".nsys-rep";
  }
  return problem(has_failed ? "importer_failed" : "importer_missing",
                 has_failed ? "nsys captured, but its importer failed: " + words
                            : "nsys captured, but could not write its report: " + words,
                 std::move(fix));
}

Finding report_elsewhere(const NsysRegion& region, const nsys::Messages& messages) {
  const bool exists = messages.create_problem.find("File exists") != std::string::npos;
  std::string text = "nsys could not write its report: " + messages.create_problem;
  if (!messages.generated.empty()) {
    text += " It left it at " + messages.generated.front().string();
  }
  return problem(exists ? "output_exists" : "output_unwritable", std::move(text),
                 messages.disk_full ? "the disk is full" : see_log(region));
}

Finding no_report(const pipeline::StageContext& context, const NsysRegion& region) {
  const nsys::Messages messages = messages_of(region);
  const settings::Nsys& own = context.setup.settings.pipeline.nsys;
  if (auto refused = refusal(region, messages)) return *std::move(refused);
  if (!messages.create_problem.empty()) return report_elsewhere(region, messages);
  if (!messages.importer_problem.empty() || !unimported_captures(region).empty()) {
    return importer_failure(context, region, messages);
  }
  const bool is_gated = nsys::effective_range(own) != CaptureRange::None;
  if (is_gated && messages.finished && messages.ranges_started == 0) {
    return never_opened(context, region);
  }
  if (messages.agent_lost) {
    return problem("agent_lost", "nsys lost the connection to its agent and left no report",
                   "run again; a leftover nsys agent or a busy machine can be the reason");
  }
  if (messages.disk_full) {
    return problem("disk_full", "nsys left no report: no space left on device",
                   "free some space; nsys needs room in TMPDIR too");
  }
  return problem("no_report", "nsys left no report", see_log(region));
}

void check_counts(const pipeline::StageContext& context, const NsysRegion& region,
                  const NsysReport& report, std::vector<Finding>& findings) {
  const auto contents = nsys::count_contents(report.sqlite, region.range);
  if (!contents) {
    findings.push_back(problem("export_failed", contents.error().to_string(), see_log(region)));
    return;
  }
  const std::string capture = "capture " + report.name;
  if (contents->rows == 0) {
    findings.push_back(problem("capture_empty", capture + " holds no events", see_log(region)));
    return;
  }
  if (!region.range.empty() && contents->instances == 0) {
    findings.push_back({Severity::Warning, "range_not_recorded",
                        capture + " does not hold the range '" + region.range + "' that opened it",
                        "pipeline.nsys.trace must name nvtx, and the domain must be recorded"});
  }
  if (contents->still_open > 0) {
    findings.push_back({Severity::Warning, "range_cut",
                        capture + " ends before the range '" + region.range +
                            "' does: its times are those up to there",
                        ""});
  }
  const bool is_gpu = context.setup.settings.device.kind == settings::Device::Kind::Cuda;
  if (contents->kernels > 0) return;
  if (is_gpu) {
    findings.push_back(problem("no_kernels",
                               capture + " holds no kernels, although the workload runs on " +
                                   context.setup.settings.device.to_string(),
                               "pipeline.nsys.trace must name cuda; " + see_log(region)));
  } else {
    findings.push_back({Severity::Note, "no_kernels",
                        capture + " holds no kernels: the workload runs on the CPU", ""});
  }
}

/// With `repeat:N` the user said how many captures to expect.
void check_count_of_captures(const settings::Nsys& own, const NsysRegion& region,
                             std::size_t captures, std::vector<Finding>& findings) {
  if (!repeats(own) || !own.capture_range_end->count) return;
  const std::uint32_t asked = *own.capture_range_end->count;
  if (captures >= asked) return;
  findings.push_back({Severity::Warning, "fewer_captures",
                      "capture_range_end=" + own.capture_range_end->to_string() + " asks for " +
                          std::to_string(asked) + " captures, and " + std::to_string(captures) +
                          " could be made: the range '" + region.range + "' opened no more often",
                      "pipeline.nsys.samples bounds how many images are run"});
}

}  // namespace

std::optional<Finding> capture_end(const pipeline::StageContext& context, const NsysRegion& region,
                                   const pipeline::PlannedCommand& planned, const Exit& exit) {
  if (exit.why == Exit::Why::TimedOut) return std::nullopt;
  if (!exit.code) {
    Finding finding = child_problem(planned, exit);
    finding.code = "tool_killed";
    return finding;
  }
  const nsys::Messages messages = messages_of(region);
  const int code = *exit.code;
  // A program that sees to SIGTERM itself ends with a code of its own.
  const bool looks_ended =
      code == 0 || code == kSignalBase + SIGTERM || code == kSignalBase + SIGINT;
  if (looks_ended && messages.ranges_ended > 0 &&
      ends_workload(context.setup.settings.pipeline.nsys)) {
    return Finding{Severity::Note, "ended_after_range",
                   "nsys ended the workload after the range, as it does without another "
                   "capture_range_end (exit code " +
                       std::to_string(code) + ")",
                   "pipeline.nsys.capture_range_end=stop lets it run to its end"};
  }
  if (exit.succeeded()) return std::nullopt;
  // Of this try: the log has those before it, too. It is told with the missing report.
  if (refusal(region, nsys::read_messages(exit.tail))) return std::nullopt;
  if (code > kSignalBase) {
    return problem(
        "application_killed",
        "the workload was killed by " + signal_name(code - kSignalBase) +
            " under nsys (exit code " + std::to_string(code) +
            "); the last of what was captured may be missing",
        code == kSignalBase + SIGKILL
            ? "something killed it, perhaps the kernel's out-of-memory killer; " + see_log(region)
            : see_log(region));
  }
  return problem("application_failed",
                 "the workload exited with code " + std::to_string(code) + " under nsys",
                 see_log(region));
}

Finding export_failure(const NsysReport& report, const Exit& exit, const Error& error) {
  std::string text = "nsys export of " + report.report.filename().string() + " " + exit.describe() +
                     " and left no export that can be read: " + error.to_string();
  const std::string words = pipeline::last_words(exit.tail);
  return problem("export_failed", std::move(text), words.empty() ? "" : "it said: " + words);
}

std::vector<Finding> check_region(const pipeline::StageContext& context, const NsysRegion& region) {
  std::vector<Finding> findings = pipeline::workload_remarks(region.workload());
  const std::vector<NsysReport> reports = nsys_reports(region);
  if (reports.empty()) {
    findings.push_back(no_report(context, region));
    return findings;
  }
  for (const NsysReport& report : reports) {
    std::error_code failure;
    // One that was not exported was told of.
    if (!std::filesystem::exists(report.sqlite, failure)) continue;
    check_counts(context, region, report, findings);
  }
  check_count_of_captures(context.setup.settings.pipeline.nsys, region, reports.size(), findings);
  return findings;
}

}  // namespace profline::stages::internal
