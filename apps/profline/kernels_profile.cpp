#include <unistd.h>

#include <filesystem>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "formats/json.h"
#include "kernel_lab/capture_command.h"
#include "kernel_lab/lab.h"
#include "profline_version.h"
#include "schema/read.h"
#include "standard_streams.h"
#include "tools/gpu/driver.h"
#include "tools/ncu/probe.h"
#include "verb.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using kernel_lab::CaptureRecord;
using kernel_lab::CaptureState;

/// A request of `profline kernels profile`, as far as it does not depend on the installed ncu.
struct LabArguments {
  std::vector<kernel_lab::WantedKernel> kernels;
  kernel_lab::CollectionRequest collection;
  kernel_lab::LaunchRequest launches;
  kernel_lab::CountBy count_by = kernel_lab::CountBy::Auto;
  std::filesystem::path nsys_report;
  std::filesystem::path folder;  ///< absolute
  bool force_overwrite = false;
  kernel_lab::CommandFile command;
  Command program;
};

Result<std::optional<std::uint32_t>> number_of(const Arguments& arguments, const char* option,
                                               std::uint64_t least) {
  const auto number = PL_TRY(whole_number(arguments, option, {.least = least}));
  if (!number) return std::optional<std::uint32_t>();
  return std::optional(static_cast<std::uint32_t>(*number));
}

Result<void> read_kernels(const Arguments& arguments, const fs::path& cwd, LabArguments& out) {
  const auto config = arguments.value("--kernel-config");
  const auto regex = arguments.value("--kernel-regex");
  if (config.has_value() == regex.has_value()) {
    return usage(config ? "--kernel-config and --kernel-regex exclude each other"
                        : "'kernels profile' needs --kernel-config FILE or --kernel-regex RE");
  }
  const auto at_most = PL_TRY(number_of(arguments, "--topk", 1));
  if (regex) {
    if (at_most) return usage("--topk needs --kernel-config: a regex is one kernel");
    if (regex->empty()) return usage("--kernel-regex is empty, which would match every kernel");
    out.kernels.push_back({std::string(kernel_lab::kUnnamed), *regex, ""});
    out.command.kernel_source = "single_regex";
    out.command.kernel_regex = regex;
    return {};
  }
  const fs::path file = cwd / *config;
  out.kernels = PL_TRY(kernel_lab::load_kernel_list(file, *config, at_most));
  out.command.kernel_source = "yaml_config";
  out.command.kernel_config = file.string();
  if (at_most) out.command.topk = *at_most;
  return {};
}

/// The values of --clock-control.
std::vector<std::string> clock_control_choices() {
  std::vector<std::string> choices;
  for (const auto& known : names(std::type_identity<settings::ClockControl>{})) {
    choices.emplace_back(std::get<std::string_view>(known.name));
  }
  return choices;
}

Result<settings::ClockControl> clock_control(const std::string& text) {
  for (const auto& known : names(std::type_identity<settings::ClockControl>{})) {
    if (std::get<std::string_view>(known.name) == text) return known.value;
  }
  return usage("--clock-control: " + text + " not in {" + join(clock_control_choices(), ",") + "}");
}

Result<void> read_collection(const Arguments& arguments, const fs::path& cwd, LabArguments& out) {
  kernel_lab::CollectionRequest& request = out.collection;
  if (const auto preset = arguments.value("--ncu-config")) {
    request.preset = PL_TRY(kernel_lab::load_preset(*preset, cwd));
    out.command.preset = *preset;
  }
  if (arguments.has("--roofline") && arguments.has("--no-roofline")) {
    return usage("--roofline and --no-roofline exclude each other");
  }
  if (arguments.has("--roofline")) request.roofline = true;
  if (arguments.has("--no-roofline")) request.roofline = false;
  for (const std::string& sections : arguments.each_value("--extra-sections")) {
    for (const std::string_view section : split(sections, ',')) {
      if (!section.empty()) request.extra_sections.emplace_back(section);
    }
  }
  request.nvtx_include = arguments.each_value("--nvtx-include");
  if (const auto control = arguments.value("--clock-control")) {
    request.clock_control = PL_TRY(clock_control(*control));
  }
  return {};
}

Result<void> read_launches(const Arguments& arguments, LabArguments& out) {
  kernel_lab::LaunchRequest& request = out.launches;
  request.skip = PL_TRY(number_of(arguments, "--num-kernel-call-skip", 0));
  const auto count = PL_TRY(number_of(arguments, "--num-kernel-call-profile", 1));
  const auto sample = PL_TRY(number_of(arguments, "--sample-launches", 1));
  if (sample && (request.skip || count)) {
    return usage("--sample-launches chooses launches itself: leave out --num-kernel-call-*");
  }
  request.count = sample ? *sample : count.value_or(1);
  request.is_spread = sample.has_value();
  if (const auto window = arguments.value("--launch-range")) {
    const auto range = PL_TRY(parse_whole_number_range(*window, "--launch-range"));
    request.window = {static_cast<std::uint32_t>(range.first),
                      static_cast<std::uint32_t>(range.last)};
    out.command.launch_range = window;
  }
  out.command.launch_skip = request.skip;
  out.command.launch_count = request.count;
  out.command.launches_spread = request.is_spread;
  return {};
}

Result<void> read_counting(const Arguments& arguments, const fs::path& cwd, LabArguments& out) {
  const std::string by = arguments.value("--count").value_or("auto");
  if (by == "nsys") out.count_by = kernel_lab::CountBy::Nsys;
  if (by == "ncu") out.count_by = kernel_lab::CountBy::Ncu;
  if (by == "none") out.count_by = kernel_lab::CountBy::Nothing;
  if (const auto report = arguments.value("--nsys-report")) out.nsys_report = cwd / *report;
  const bool is_counted = out.count_by != kernel_lab::CountBy::Nothing || !out.nsys_report.empty();
  if (out.launches.is_spread && !is_counted) {
    return usage(
        "--sample-launches needs the number of launches, which --count none leaves unknown");
  }
  return {};
}

/// Reads options, the list of kernels and the preset. Relative paths start at `cwd`.
Result<LabArguments> read_lab_arguments(const Arguments& arguments, const Clock& clock,
                                        const fs::path& cwd) {
  LabArguments out;
  PL_TRY(read_kernels(arguments, cwd, out));
  PL_TRY(read_collection(arguments, cwd, out));
  PL_TRY(read_launches(arguments, out));
  PL_TRY(read_counting(arguments, cwd, out));
  if (arguments.words.empty()) {
    return usage("'kernels profile' needs a program after '--', as in '-- python infer.py'");
  }
  const auto folder = arguments.value("--output-dir");
  out.folder = folder ? (cwd / *folder).lexically_normal() : kernel_lab::fresh_folder(clock, cwd);
  out.force_overwrite = arguments.has("--force-overwrite");
  out.program.argv = arguments.words;
  out.command.timestamp = utc_timestamp(clock.wall_now());
  out.command.version = fmt::format("{} ({})", kVersion, kCommit);
  out.command.output_dir = out.folder.string();
  out.command.merge = arguments.has("--merge");
  out.command.budget_s = PL_TRY(whole_number(arguments, "--budget-s", {.least = 1}));
  out.command.launch_command = Redactor::of_environment().words(out.program.argv);
  out.command.working_dir = cwd.string();
  return out;
}

/// Adds the options that this release of ncu supports.
kernel_lab::LabRequest lab_request(LabArguments arguments, const ncu::Installation& ncu) {
  kernel_lab::LabRequest request;
  request.ncu = kernel_lab::capture_settings(arguments.collection, ncu);
  request.command = std::move(arguments.command);
  const settings::NcuCli& cli = request.ncu.ncu_cli;
  request.command.ncu_cli = cli;
  if (cli.sections) request.command.sections = cli.sections->items;
  if (cli.metrics) request.command.metrics = cli.metrics->items;
  request.command.ncu_version = ncu.version.to_string();
  request.kernels = std::move(arguments.kernels);
  request.launches = arguments.launches;
  request.count_by = arguments.count_by;
  request.nsys_report = std::move(arguments.nsys_report);
  request.folder = std::move(arguments.folder);
  request.force_overwrite = arguments.force_overwrite;
  request.program = std::move(arguments.program);
  return request;
}

std::string as_text(const kernel_lab::LabRequest& request, const kernel_lab::LabOutcome& outcome) {
  std::string text;
  for (const CaptureRecord& record : outcome.kernels) {
    const bool is_ok = record.state == CaptureState::Ok;
    const char* const state = is_ok                                   ? "ok"
                              : record.state == CaptureState::LeftOut ? "left out"
                                                                      : "failed";
    const std::string rank = record.folder.substr(0, record.folder.rfind('_'));
    text +=
        fmt::format("{}  {:<8}  {}\n", rank, state,
                    printable(is_ok ? fmt::format("{} profiled: {}", record.profiled, record.choice)
                                    : record.problem));
    for (const std::string& note : record.notes) text += fmt::format("    {}\n", printable(note));
  }
  if (!outcome.budget.empty()) text += fmt::format("budget    {}\n", outcome.budget);
  return text + fmt::format("captures  {}\n", printable(request.folder.string()));
}

Result<std::string> as_json(const kernel_lab::LabRequest& request,
                            const kernel_lab::LabOutcome& outcome) {
  NodeMap document;
  document.set("schema", Node::string("profline.kernel_captures/1"));
  document.set("folder", Node::string(request.folder.string()));
  document.set("complete", Node::boolean(outcome.is_complete()));
  if (!outcome.budget.empty()) document.set("budget", Node::string(outcome.budget));
  document.set("kernels", schema::write(outcome.kernels));
  return write_json(Node::map(std::move(document)));
}

/// `profline kernels profile (--kernel-config F | --kernel-regex RE) [OPTIONS] -- CMD…`: one ncu
/// capture per kernel, of suitable launches. Exit code 1 if a kernel could not be captured.
class KernelsProfileVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels profile"; }
  std::string_view summary() const override {
    return "capture kernels with ncu, one capture per kernel";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline kernels profile --kernel-regex 'gemm' -- python3 infer.py",
         "kernels whose name contains gemm"},
        {"profline kernels profile --kernel-config top.yaml -- python3 infer.py",
         "the kernels listed by kernels top"},
    };
  }
  std::string_view words() const override { return "-- PROGRAM..."; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> KernelsProfileVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--kernel-config", "", Takes::Value, "FILE",
       "kernels to capture, as written by 'kernels top'"},
      {"--topk", "", Takes::Value, "K", "only the first K of them [all]"},
      {"--kernel-regex", "", Takes::Value, "RE",
       "one capture of the kernels whose demangled name matches"},
      {"--extra-sections", "", Takes::Values, "SECTION...", "ncu sections to add"},
      {"--num-kernel-call-skip", "", Takes::Value, "N",
       "launches to skip, if there are that many [up to the one of median duration]"},
      {"--num-kernel-call-profile", "", Takes::Value, "M", "launches to profile per kernel [1]"},
      {"--sample-launches", "", Takes::Value, "M",
       "profile M launches spread over all of them instead"},
      {"--launch-range", "", Takes::Value, "A:B", "only launches A to B, counted from 1"},
      {"--ncu-config", "", Takes::Value, "PRESET",
       "ncu's options: a file or the name of a shipped preset (ncu.h200), used as written [the "
       "four sections of ncu.default and the roofline]"},
      {"--roofline", "", Takes::Nothing, "",
       "add the roofline section and its counters to the preset"},
      {"--no-roofline", "", Takes::Nothing, "",
       "without a preset: leave out the roofline section and its counters"},
      {"--nvtx-include", "", Takes::Value, "RANGE",
       "only launches in this range, instead of the preset's ranges: decode, decode*, A::A1, or '' "
       "for everywhere; may be repeated"},
      {"--clock-control", "", Takes::Value, "WHAT",
       "how ncu controls the GPU's clocks [left to ncu]", clock_control_choices()},
      {"--count",
       "",
       Takes::Value,
       "HOW",
       "tool that counts launches first [auto: nsys, otherwise ncu]",
       {"auto", "nsys", "ncu", "none"}},
      {"--nsys-report", "", Takes::Value, "FILE",
       "count launches in this nsys capture of the program"},
      {"--merge", "", Takes::Nothing, "",
       "capture several kernels in one run if they are launched close together"},
      {"--budget-s", "", Takes::Value, "N",
       "take no longer than N seconds: the kernels that take most time come first"},
      {"--output-dir", "", Takes::Value, "DIR", "folder for the captures [tmp/ncu-profile/TIME]"},
      {"--ncu", "", Takes::Value, "PROGRAM", "the ncu that captures [ncu on PATH]"},
      {"--nsys", "", Takes::Value, "PROGRAM", "the nsys that counts launches [nsys on PATH]"},
      {"--force-overwrite", "", Takes::Nothing, "", "capture finished kernels again"},
  };
}

Result<ExitCode> KernelsProfileVerb::run(const Services& services,
                                         const Invocation& invocation) const {
  const SystemClock clock;
  LabArguments arguments =
      PL_TRY(read_lab_arguments(invocation.arguments, clock, fs::current_path()));
  kernel_lab::LabTools tools{PL_TRY(
      kernel_lab::find_ncu(services.processes, invocation.arguments.value("--ncu").value_or("ncu"),
                           gpu::load_driver()))};
  const bool needs_nsys = arguments.count_by == kernel_lab::CountBy::Auto ||
                          arguments.count_by == kernel_lab::CountBy::Nsys ||
                          !arguments.nsys_report.empty();
  if (needs_nsys) {
    tools.nsys = kernel_lab::find_nsys(services.processes,
                                       invocation.arguments.value("--nsys").value_or("nsys"));
  }
  const kernel_lab::LabRequest request = lab_request(std::move(arguments), tools.ncu);
  ProgressOptions shown = services.progress;
  shown.name_width = 14;  // kernel_0001_...
  const auto progress = make_progress(shown, STDERR_FILENO, clock);
  for (const std::string& line : PL_TRY(kernel_lab::left_out(tools.ncu, request.ncu.ncu_cli))) {
    progress->warning(line);
  }
  const kernel_lab::LabOutcome outcome =
      PL_TRY(kernel_lab::run_lab(request, tools, {services.processes, *progress, clock}));
  PL_TRY(print_result(invocation.output.format == OutputFormat::Json
                          ? PL_TRY(as_json(request, outcome))
                          : as_text(request, outcome)));
  if (outcome.was_cancelled) return ExitCode::Interrupted;
  return outcome.is_complete() ? ExitCode::Done : ExitCode::Failed;
}

std::unique_ptr<Verb> kernels_profile_verb() {
  return std::make_unique<KernelsProfileVerb>();
}

}  // namespace profline
