#include "doctor_command.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "base/files.h"
#include "base/strings.h"
#include "doctor_checks.h"
#include "formats/json_write.h"
#include "process/ask.h"
#include "process/find_program.h"
#include "profline_version.h"
#include "scratch_folder.h"
#include "standard_streams.h"
#include "text_table.h"
#include "workload_program.h"

namespace profline {
namespace {

using doctor::Finding;
using doctor::State;

const std::vector<std::string> kNames = {"gpu",      "driver",   "counters", "nsys", "ncu",
                                         "sampling", "libtorch", "nvtx",     "disk"};

std::optional<std::string> text_of(const std::filesystem::path& file) {
  auto text = read_file(file);
  if (!text) return std::nullopt;
  return std::move(text).value();
}

Result<std::string> ask_workload(ProcessRunner& processes, const std::string& given) {
  const auto program = PL_TRY(find_workload(given));
  return output_of(processes, {program.string(), "--version", "--format", "json"});
}

Result<nsys::Installation> find_nsys(ProcessRunner& processes, const std::string& name) {
  return nsys::probe(processes, PL_TRY(nsys::choose_nsys(processes, name)));
}

Result<ncu::Installation> find_ncu(ProcessRunner& processes, const std::string& name) {
  return ncu::probe(processes, PL_TRY(find_program(name)));
}

Result<nsys::Trial> try_nsys(ProcessRunner& processes, const nsys::Installation& nsys,
                             const std::filesystem::path& folder) {
  nsys::Trial trial = PL_TRY(nsys::try_capture(processes, nsys, folder));
  if (trial.report_written) {
    trial.reading_problem = PL_TRY(nsys::try_reading(processes, nsys, folder));
  }
  return trial;
}

Finding check_nsys(ProcessRunner& processes, const std::string& name) {
  const auto installation = find_nsys(processes, name);
  std::optional<Result<nsys::Trial>> trial;
  const ScratchFolder folder;
  if (installation && !folder.path().empty()) {
    trial = try_nsys(processes, *installation, folder.path());
  }
  return doctor::judge_nsys(installation, trial);
}

std::string as_text(const std::vector<Finding>& findings) {
  std::string text = fmt::format("profline {} ({})\n\n", kVersion, kCommit);
  for (const Finding& finding : findings) {
    text += fmt::format("{:<9} {:<8} {}\n", finding.name, to_text(finding.state), finding.detail);
    if (!finding.fix.empty()) text += fmt::format("{:<18} fix: {}\n", "", finding.fix);
  }
  return text;
}

Result<std::string> as_json(const std::vector<Finding>& findings) {
  Node::List list;
  for (const Finding& finding : findings) {
    NodeMap entry;
    entry.set("name", Node::string(finding.name));
    entry.set("state", Node::string(std::string(to_text(finding.state))));
    entry.set("detail", Node::string(finding.detail));
    entry.set("fix", finding.fix.empty() ? Node() : Node::string(finding.fix));
    list.push_back(Node::map(std::move(entry)));
  }
  NodeMap document;
  document.set("schema", Node::string("profline.doctor/1"));
  document.set("version", Node::string(kVersion));
  document.set("commit", Node::string(kCommit));
  document.set("path", Node::string(own_path()));
  document.set("findings", Node::list(std::move(list)));
  return write_json(Node::map(std::move(document)));
}

}  // namespace

std::vector<Option> DoctorVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--nsys", "", Takes::Value, "PROGRAM",
       "the nsys to look at [on PATH, or bundled with the ncu on PATH]"},
      {"--ncu", "", Takes::Value, "PROGRAM", "the ncu to look at [ncu on PATH]"},
      {"--workload", "", Takes::Value, "PROGRAM",
       "the profline-workload to look at [beside profline, then on PATH]"},
      {"--require", "", Takes::Values, "NAMES", "exit 3 unless all of these are found", kNames},
  };
}

Result<ExitCode> DoctorVerb::run(const Services& services, const Invocation& invocation) const {
  const std::string nsys = invocation.arguments.value("--nsys").value_or("nsys");
  const std::string ncu = invocation.arguments.value("--ncu").value_or("ncu");
  const std::string workload = invocation.arguments.value("--workload").value_or("");
  const std::vector<std::string> required = invocation.arguments.values("--require");
  // A program that was named, unlike one that was only hoped for, must be there.
  for (const std::string& named : {nsys, ncu, workload}) {
    if (named.find('/') != std::string::npos) PL_TRY(find_program(named));
  }
  const bool privileged = geteuid() == 0;
  const std::filesystem::path here = std::filesystem::current_path();
  std::vector<Finding> findings;
  const Result<gpu::Driver> driver = gpu::load_driver();
  findings.push_back(doctor::judge_gpu(driver));
  findings.push_back(doctor::judge_driver(text_of("/proc/driver/nvidia/version")));
  findings.push_back(doctor::judge_counters(text_of("/proc/driver/nvidia/params"), privileged));
  findings.push_back(check_nsys(services.processes, nsys));
  findings.push_back(doctor::judge_ncu(find_ncu(services.processes, ncu), driver));
  findings.push_back(
      doctor::judge_sampling(text_of("/proc/sys/kernel/perf_event_paranoid"), privileged));
  const Result<std::string> answer = ask_workload(services.processes, workload);
  findings.push_back(doctor::judge_libtorch(answer));
  findings.push_back(doctor::judge_nvtx(answer));
  findings.push_back(doctor::judge_disk(here, free_bytes(here)));
  if (services.interrupt.requested()) return Error(ErrorKind::Cancelled, "interrupted");

  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(as_json(findings))
                               : for_terminal(as_text(findings));
  PL_TRY(print_result(text));

  const bool satisfied = std::all_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    const bool is_required = std::count(required.begin(), required.end(), finding.name) > 0;
    return !is_required || finding.state == State::Found;
  });
  return satisfied ? ExitCode::Done : ExitCode::Absent;
}

}  // namespace profline
