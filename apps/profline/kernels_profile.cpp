#include "kernels_profile.h"

#include <unistd.h>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "formats/json_write.h"
#include "lab_request.h"
#include "process/find_program.h"
#include "schema/read.h"
#include "standard_streams.h"
#include "tools/gpu/driver.h"
#include "tools/ncu/metrics.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using kernel_lab::CaptureRecord;
using kernel_lab::CaptureState;

Result<ncu::Installation> find_ncu(const Services& services, const Arguments& arguments) {
  const std::string name = arguments.value("--ncu").value_or("ncu");
  const Result<fs::path> program = find_program(name);
  if (!program) {
    return Error(ErrorKind::NotFound,
                 "'kernels profile' needs ncu, and " + program.error().message() +
                     "; install Nsight Compute, or name it with --ncu PROGRAM");
  }
  const Result<gpu::Driver> driver = gpu::load_driver();
  if (!driver) {
    return Error(ErrorKind::NotFound, "ncu needs a GPU: " + driver.error().message());
  }
  return ncu::survey(services.processes, *program, true);
}

/// None is no failure: launches can be counted by ncu as well.
std::optional<nsys::Installation> find_nsys(const Services& services, const Arguments& arguments) {
  const auto program =
      nsys::choose_nsys(services.processes, arguments.value("--nsys").value_or("nsys"));
  if (!program) return std::nullopt;
  auto nsys = nsys::survey(services.processes, *program);
  return nsys ? std::optional(*std::move(nsys)) : std::nullopt;
}

/// What this ncu cannot do of what it would be told.
Result<void> check_collection(const kernel_lab::LabRequest& request, const ncu::Installation& ncu,
                              Progress& progress) {
  const ncu::Collection collected = ncu::collection(ncu, request.ncu.ncu_cli);
  const std::string version = "ncu " + ncu.version.to_string();
  for (const std::string& section : collected.unknown_sections) {
    progress.warning(version + " has no section " + section + ": left out");
  }
  for (const std::string& metric : collected.unknown_metrics) {
    progress.warning(version + " does not know the counter " + metric + " on this GPU: left out");
  }
  const bool has_any = !collected.metrics.empty() || !collected.sections.empty() ||
                       request.ncu.ncu_cli.set.has_value();
  if (!has_any && request.ncu.ncu_cli.names_what_to_collect()) {
    return Error(ErrorKind::Config, version + " knows none of the sections and counters asked for");
  }
  return {};
}

std::string as_text(const kernel_lab::LabRequest& request, const kernel_lab::LabOutcome& outcome) {
  std::string text;
  for (const CaptureRecord& record : outcome.kernels) {
    const bool is_ok = record.state == CaptureState::Ok;
    const std::string rank = record.folder.substr(0, record.folder.rfind('_'));
    text +=
        fmt::format("{}  {:<6}  {}\n", rank, is_ok ? "ok" : "failed",
                    printable(is_ok ? fmt::format("{} profiled: {}", record.profiled, record.choice)
                                    : record.problem));
    for (const std::string& note : record.notes) text += fmt::format("    {}\n", printable(note));
  }
  return text + fmt::format("captures  {}\n", printable(request.folder.string()));
}

Result<std::string> as_json(const kernel_lab::LabRequest& request,
                            const kernel_lab::LabOutcome& outcome) {
  NodeMap document;
  document.set("schema", Node::string("profline.kernel_captures/1"));
  document.set("folder", Node::string(request.folder.string()));
  document.set("complete", Node::boolean(outcome.is_complete()));
  document.set("kernels", schema::write(outcome.kernels));
  return write_json(Node::map(std::move(document)));
}

Verbosity verbosity_of(const OutputOptions& output) {
  if (output.verbosity < 0) return Verbosity::Quiet;
  return output.verbosity > 0 ? Verbosity::Verbose : Verbosity::Normal;
}

}  // namespace

std::vector<Option> KernelsProfileVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--kernel-config", "", Takes::Value, "FILE",
       "kernels by name and regex, as 'kernels top' writes them"},
      {"--topk", "", Takes::Value, "K", "only the first K of them [all]"},
      {"--kernel-regex", "", Takes::Value, "RE", "one kernel, by its demangled name"},
      {"--extra-sections", "", Takes::Values, "SECTION...", "sections of ncu to add"},
      {"--num-kernel-call-skip", "", Takes::Value, "N",
       "launches to skip, as far as there are [to the one of median duration]"},
      {"--num-kernel-call-profile", "", Takes::Value, "M", "launches a kernel [1]"},
      {"--sample-launches", "", Takes::Value, "M", "M launches spread over all there are, instead"},
      {"--launch-range", "", Takes::Value, "A:B", "only launches A to B, from 1"},
      {"--ncu-config", "", Takes::Value, "PRESET",
       "ncu's options: a file, or a shipped preset's name (ncu.h200), taken as it is written "
       "[the four sections of ncu.default and the roofline]"},
      {"--roofline", "", Takes::Nothing, "",
       "add the roofline's section and counters to the preset"},
      {"--no-roofline", "", Takes::Nothing, "",
       "without a preset: leave the roofline's section and counters out"},
      {"--nvtx-include", "", Takes::Value, "RANGE",
       "only launches in this range, in place of the preset's: decode, decode*, A::A1, or '' for "
       "everywhere; may be repeated"},
      {"--clock-control", "", Takes::Value, "WHAT",
       "what ncu does to the GPU's clocks [left to ncu]", clock_control_choices()},
      {"--count",
       "",
       Takes::Value,
       "HOW",
       "who counts launches first [auto: nsys, else ncu]",
       {"auto", "nsys", "ncu", "none"}},
      {"--nsys-report", "", Takes::Value, "FILE", "a capture of this program to count launches in"},
      {"--merge", "", Takes::Nothing, "",
       "several kernels in one run, where they are launched close together"},
      {"--output-dir", "", Takes::Value, "DIR", "where captures go [tmp/ncu-profile/TIME]"},
      {"--ncu", "", Takes::Value, "PROGRAM", "the ncu that captures [ncu on PATH]"},
      {"--nsys", "", Takes::Value, "PROGRAM", "the nsys that counts launches [nsys on PATH]"},
      {"--force-overwrite", "", Takes::Nothing, "", "do finished kernels again"},
  };
}

Result<ExitCode> KernelsProfileVerb::run(const Services& services,
                                         const Invocation& invocation) const {
  const SystemClock clock;
  LabArguments arguments =
      PL_TRY(read_lab_arguments(invocation.arguments, clock, fs::current_path()));
  kernel_lab::LabTools tools{PL_TRY(find_ncu(services, invocation.arguments))};
  const bool needs_nsys = arguments.count_by == kernel_lab::CountBy::Auto ||
                          arguments.count_by == kernel_lab::CountBy::Nsys ||
                          !arguments.nsys_report.empty();
  if (needs_nsys) tools.nsys = find_nsys(services, invocation.arguments);
  const kernel_lab::LabRequest request = lab_request(std::move(arguments), tools.ncu);
  const auto progress = make_progress(
      {.verbosity = verbosity_of(invocation.output), .color = ColorMode::Auto, .name_width = 14},
      STDERR_FILENO, clock);
  PL_TRY(check_collection(request, tools.ncu, *progress));
  const kernel_lab::LabOutcome outcome =
      PL_TRY(kernel_lab::run_lab(request, tools, {services.processes, *progress, clock}));
  PL_TRY(print_result(invocation.output.format == OutputFormat::Json
                          ? PL_TRY(as_json(request, outcome))
                          : as_text(request, outcome)));
  if (outcome.was_cancelled) return ExitCode::Interrupted;
  return outcome.is_complete() ? ExitCode::Done : ExitCode::Failed;
}

}  // namespace profline
