#include "lab_request.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "base/files.h"
#include "base/strings.h"
#include "formats/csv_number.h"
#include "formats/yaml.h"
#include "profline_version.h"
#include "shipped_config/shipped_config.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using namespace kernel_lab;

Error usage(std::string message) {
  return Error(ErrorKind::Config, std::move(message)).with_reason("usage");
}

Result<std::optional<std::uint32_t>> whole_number(const Arguments& arguments, const char* option,
                                                  std::int64_t least) {
  const auto text = arguments.value(option);
  if (!text) return std::optional<std::uint32_t>();
  const Result<std::int64_t> number = csv::parse_integer(*text);
  if (!number || *number < least || *number > 1'000'000'000) {
    return usage(fmt::format("{} is '{}', not a whole number >= {}", option, *text, least));
  }
  return std::optional(static_cast<std::uint32_t>(*number));
}

/// Every value that an option was given, in order.
std::vector<std::string> each_value(const Arguments& arguments, std::string_view option) {
  std::vector<std::string> values;
  for (const Arguments::Given& given : arguments.options()) {
    if (given.name == option && given.value) values.push_back(*given.value);
  }
  return values;
}

Result<void> read_kernels(const Arguments& arguments, const fs::path& cwd, LabArguments& out) {
  const auto config = arguments.value("--kernel-config");
  const auto regex = arguments.value("--kernel-regex");
  if (config.has_value() == regex.has_value()) {
    return usage(config ? "--kernel-config and --kernel-regex exclude each other"
                        : "'kernels profile' needs --kernel-config FILE or --kernel-regex RE");
  }
  const auto at_most = PL_TRY(whole_number(arguments, "--topk", 1));
  if (regex) {
    if (at_most) return usage("--topk needs --kernel-config: a regex is one kernel");
    if (regex->empty()) return usage("--kernel-regex is empty, which would match every kernel");
    out.kernels.push_back({std::string(kUnnamed), *regex, ""});
    out.command.kernel_source = "single_regex";
    out.command.kernel_regex = regex;
    return {};
  }
  const fs::path file = cwd / *config;
  const Node tree = PL_TRY(parse_yaml(PL_TRY(read_file(file)), *config));
  out.kernels = PL_TRY(read_kernel_list(tree, at_most));
  out.command.kernel_source = "yaml_config";
  out.command.kernel_config = file.string();
  if (at_most) out.command.topk = *at_most;
  return {};
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
  CollectionWish& wish = out.collection;
  if (const auto preset = arguments.value("--ncu-config")) {
    wish.preset = PL_TRY(read_preset(PL_TRY(load_preset(*preset, cwd))));
    out.command.preset = *preset;
  }
  if (arguments.has("--roofline") && arguments.has("--no-roofline")) {
    return usage("--roofline and --no-roofline exclude each other");
  }
  if (arguments.has("--roofline")) wish.roofline = true;
  if (arguments.has("--no-roofline")) wish.roofline = false;
  for (const std::string& sections : each_value(arguments, "--extra-sections")) {
    for (const std::string_view section : split(sections, ',')) {
      if (!section.empty()) wish.extra_sections.emplace_back(section);
    }
  }
  wish.nvtx_include = each_value(arguments, "--nvtx-include");
  if (const auto control = arguments.value("--clock-control")) {
    wish.clock_control = PL_TRY(clock_control(*control));
  }
  return {};
}

Result<void> read_launches(const Arguments& arguments, LabArguments& out) {
  LaunchWish& wish = out.launches;
  wish.skip = PL_TRY(whole_number(arguments, "--num-kernel-call-skip", 0));
  const auto count = PL_TRY(whole_number(arguments, "--num-kernel-call-profile", 1));
  const auto sample = PL_TRY(whole_number(arguments, "--sample-launches", 1));
  if (sample && (wish.skip || count)) {
    return usage("--sample-launches chooses by itself: leave --num-kernel-call-* out");
  }
  wish.count = sample ? *sample : count.value_or(1);
  wish.is_spread = sample.has_value();
  if (const auto window = arguments.value("--launch-range")) {
    wish.window = PL_TRY(parse_window(*window));
    out.command.launch_range = window;
  }
  out.command.launch_skip = wish.skip;
  out.command.launch_count = wish.count;
  out.command.launches_spread = wish.is_spread;
  return {};
}

Result<void> read_counting(const Arguments& arguments, const fs::path& cwd, LabArguments& out) {
  const std::string by = arguments.value("--count").value_or("auto");
  if (by == "nsys") out.count_by = CountBy::Nsys;
  if (by == "ncu") out.count_by = CountBy::Ncu;
  if (by == "none") out.count_by = CountBy::Nothing;
  if (const auto report = arguments.value("--nsys-report")) out.nsys_report = cwd / *report;
  const bool is_counted = out.count_by != CountBy::Nothing || !out.nsys_report.empty();
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

}  // namespace

std::vector<std::string> clock_control_choices() {
  std::vector<std::string> choices;
  for (const auto& known : names(std::type_identity<settings::ClockControl>{})) {
    choices.emplace_back(std::get<std::string_view>(known.name));
  }
  return choices;
}

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

LabRequest lab_request(LabArguments arguments, const ncu::Installation& ncu) {
  LabRequest request;
  request.ncu = capture_settings(arguments.collection, ncu);
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

}  // namespace profline
