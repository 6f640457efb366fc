#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "kernel_lab/capture_command.h"
#include "kernel_lab/lab.h"
#include "process/environment.h"
#include "profline_version.h"
#include "schema/read.h"
#include "shipped_config/shipped_config.h"
#include "standard_streams.h"
#include "tools/gpu/driver.h"
#include "tools/ncu/probe.h"
#include "verb.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using kernel_lab::CaptureRecord;
using kernel_lab::CaptureState;

/// What `profline kernels profile` was asked for, as far as it does not depend on the ncu that will
/// do it.
struct LabArguments {
  std::vector<kernel_lab::WantedKernel> kernels;
  kernel_lab::CollectionWish collection;
  kernel_lab::LaunchWish launches;
  kernel_lab::CountBy count_by = kernel_lab::CountBy::Auto;
  std::filesystem::path nsys_report;
  std::filesystem::path folder;  ///< absolute
  bool force_overwrite = false;
  kernel_lab::CommandFile command;
  Command program;
};

Error usage(std::string message) {
  return Error(ErrorKind::Config, std::move(message)).with_reason("usage");
}

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
  const Node tree = PL_TRY(parse_yaml(PL_TRY(read_file(file)), *config));
  out.kernels = PL_TRY(kernel_lab::read_kernel_list(tree, at_most));
  out.command.kernel_source = "yaml_config";
  out.command.kernel_config = file.string();
  if (at_most) out.command.topk = *at_most;
  return {};
}

/// The values that --clock-control takes.
std::vector<std::string> clock_control_choices() {
  std::vector<std::string> choices;
  for (const auto& known : names(std::type_identity<settings::ClockControl>{})) {
    choices.emplace_back(std::get<std::string_view>(known.name));
  }
  return choices;
}

/// A file, or one of the presets that come with profline by its name (`ncu.h200`).
Result<Node> load_preset(const std::string& name, const fs::path& cwd) {
  std::error_code ignored;
  if (!fs::exists(cwd / name, ignored)) {
    const std::string shipped = "profiling/ncu/" + name + ".yaml";
    for (const EmbeddedFile& file : shipped_config_files()) {
      if (file.path == shipped) return parse_yaml(file.text, "<profline>/" + shipped);
    }
  }
  return parse_yaml(PL_TRY(read_file(cwd / name)), name);
}

Result<settings::ClockControl> clock_control(const std::string& text) {
  for (const auto& known : names(std::type_identity<settings::ClockControl>{})) {
    if (std::get<std::string_view>(known.name) == text) return known.value;
  }
  return usage("--clock-control: " + text + " not in {" + join(clock_control_choices(), ",") + "}");
}

Result<void> read_collection(const Arguments& arguments, const fs::path& cwd, LabArguments& out) {
  kernel_lab::CollectionWish& wish = out.collection;
  if (const auto preset = arguments.value("--ncu-config")) {
    wish.preset = PL_TRY(kernel_lab::read_preset(PL_TRY(load_preset(*preset, cwd))));
    out.command.preset = *preset;
  }
  if (arguments.has("--roofline") && arguments.has("--no-roofline")) {
    return usage("--roofline and --no-roofline exclude each other");
  }
  if (arguments.has("--roofline")) wish.roofline = true;
  if (arguments.has("--no-roofline")) wish.roofline = false;
  for (const std::string& sections : arguments.each_value("--extra-sections")) {
    for (const std::string_view section : split(sections, ',')) {
      if (!section.empty()) wish.extra_sections.emplace_back(section);
    }
  }
  wish.nvtx_include = arguments.each_value("--nvtx-include");
  if (const auto control = arguments.value("--clock-control")) {
    wish.clock_control = PL_TRY(clock_control(*control));
  }
  return {};
}

Result<void> read_launches(const Arguments& arguments, LabArguments& out) {
  kernel_lab::LaunchWish& wish = out.launches;
  wish.skip = PL_TRY(number_of(arguments, "--num-kernel-call-skip", 0));
  const auto count = PL_TRY(number_of(arguments, "--num-kernel-call-profile", 1));
  const auto sample = PL_TRY(number_of(arguments, "--sample-launches", 1));
  if (sample && (wish.skip || count)) {
    return usage("--sample-launches chooses by itself: leave --num-kernel-call-* out");
  }
  wish.count = sample ? *sample : count.value_or(1);
  wish.is_spread = sample.has_value();
  if (const auto window = arguments.value("--launch-range")) {
    wish.window = PL_TRY(kernel_lab::parse_window(*window));
    out.command.launch_range = window;
  }
  out.command.launch_skip = wish.skip;
  out.command.launch_count = wish.count;
  out.command.launches_spread = wish.is_spread;
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
    return usage("--sample-launches needs to know how many there are: --count none excludes it");
  }
  return {};
}

/// `tmp/ncu-profile/20261115-102030`, a new one.
fs::path fresh_folder(const Clock& clock, const fs::path& cwd) {
  const std::time_t now = std::chrono::system_clock::to_time_t(clock.wall_now());
  const std::string name = fmt::format("{:%Y%m%d-%H%M%S}", fmt::localtime(now));
  fs::path folder = cwd / "tmp/ncu-profile" / name;
  std::error_code ignored;
  for (int n = 2; fs::exists(folder, ignored); ++n) {
    folder.replace_filename(fmt::format("{}-{}", name, n));
  }
  return folder;
}

/// Reads options, the list of kernels and the preset. `cwd` is where relative paths begin.
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
  out.folder = folder ? (cwd / *folder).lexically_normal() : fresh_folder(clock, cwd);
  out.force_overwrite = arguments.has("--force-overwrite");
  out.program.argv = arguments.words;
  out.command.timestamp = utc_timestamp(clock.wall_now());
  out.command.version = fmt::format("{} ({})", kVersion, kCommit);
  out.command.output_dir = out.folder.string();
  out.command.merge = arguments.has("--merge");
  out.command.launch_command = Redactor::of_environment().words(out.program.argv);
  out.command.working_dir = cwd.string();
  return out;
}

/// Adds the options for ncu that this release of ncu knows.
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

/// `profline kernels profile (--kernel-config F | --kernel-regex RE) [OPTIONS] -- CMD…`: one ncu
/// capture a kernel, of launches that fit. Exit code 1 when a kernel could not be captured.
class KernelsProfileVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels profile"; }
  std::string_view summary() const override {
    return "capture kernels with ncu, one capture per kernel";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline kernels profile --kernel-regex 'gemm' -- python3 infer.py",
         "every kernel whose name contains gemm"},
        {"profline kernels profile --kernel-config top.yaml -- python3 infer.py",
         "the kernels that kernels top wrote"},
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
  ProgressOptions shown = services.progress;
  shown.name_width = 14;  // kernel_0001_...
  const auto progress = make_progress(shown, STDERR_FILENO, clock);
  PL_TRY(check_collection(request, tools.ncu, *progress));
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
