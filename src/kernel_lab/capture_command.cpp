#include "kernel_lab/capture_command.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/files.h"
#include "base/strings.h"
#include "formats/yaml.h"
#include "records/range_use.h"
#include "schema/read.h"
#include "shipped_config/shipped_config.h"
#include "tools/ncu/probe.h"
#include "tools/ncu/profile_command.h"

namespace profline::kernel_lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCountingMetric = "gpu__time_duration.sum";

/// Whether a colon at this position is syntax, as in `[:alpha:]` or `(?i:gemm)`. Elsewhere it is a
/// literal, and `\x3a` means the same.
bool has_own_colon(std::string_view rest) {
  if (rest.starts_with("[:")) return true;
  if (!rest.starts_with("(?")) return false;
  const std::size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", 2);
  return end != std::string_view::npos && rest[end] == ':';
}

/// An equivalent expression without a colon; nothing if that is impossible.
std::optional<std::string> without_colons(std::string_view regex) {
  std::string made;
  bool is_grouped = false;
  bool refers_back = false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const std::string_view rest = regex.substr(i);
    if (rest.starts_with("(?:")) {
      // Captured groups are not needed here unless something refers to them by number.
      made += '(';
      is_grouped = true;
      i += 2;
    } else if (has_own_colon(rest)) {
      return std::nullopt;
    } else if (rest[0] == '\\' && rest.size() > 1 && rest[1] != ':') {
      refers_back = refers_back || (rest[1] >= '1' && rest[1] <= '9');
      made += rest.substr(0, 2);
      ++i;
    } else if (rest[0] == ':' || rest.starts_with("\\:")) {
      made += "\\x3a";
      if (rest[0] != ':') ++i;
    } else {
      made += rest[0];
    }
  }
  if (is_grouped && refers_back) return std::nullopt;
  return made;
}

/// Used if ncu was not asked what it counts.
constexpr const char* kUsualTensorCounters[] = {
    "sm__ops_path_tensor_src_bf16_dst_fp32", "sm__ops_path_tensor_src_fp16_dst_fp16",
    "sm__ops_path_tensor_src_fp16_dst_fp32", "sm__ops_path_tensor_src_tf32_dst_fp32"};

/// Sums over instructions and sparsity, whose names differ between releases and chips.
std::vector<std::string> tensor_counters(const ncu::Installation& ncu) {
  constexpr std::string_view kPrefix = "sm__ops_path_tensor_src_";
  std::vector<std::string> counters;
  if (ncu.metrics.empty())
    counters.assign(std::begin(kUsualTensorCounters), std::end(kUsualTensorCounters));
  for (const std::string& name : ncu.metrics) {
    const bool is_part = name.find("_sparsity_") != std::string::npos;
    if (name.starts_with(kPrefix) && !is_part) counters.push_back(name);
  }
  return counters;
}

/// The names that expressions are matched against.
constexpr settings::KernelNameBase kNameBase = settings::KernelNameBase::Demangled;

/// The default without a preset: the four sections of ncu.default, in every process.
settings::NcuCli default_cli() {
  settings::NcuCli cli;
  cli.target_processes = settings::TargetProcesses::All;
  cli.replay_mode = settings::ReplayMode::Kernel;
  cli.sections.emplace();
  cli.sections->items.assign(std::begin(kDefaultSections), std::end(kDefaultSections));
  return cli;
}

void add_ranges(const CollectionRequest& request, settings::NcuCli& cli) {
  if (request.nvtx_include.empty()) return;
  std::vector<std::string> ranges = request.nvtx_include;
  std::erase(ranges, "");
  cli.nvtx.include.reset();
  if (!ranges.empty()) cli.nvtx.include = schema::SemicolonList{std::move(ranges)};
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace

std::optional<std::string> kernel_id(std::string_view regex,
                                     std::span<const std::uint32_t> invocations) {
  const auto name = without_colons(regex);
  if (!name) return std::nullopt;
  return fmt::format("::regex:{}:^({})$", *name, fmt::join(invocations, "|"));
}

std::string any_of(std::span<const WantedKernel> kernels) {
  if (kernels.size() == 1) return kernels.front().regex;
  std::string all;
  for (const WantedKernel& kernel : kernels) {
    all += (all.empty() ? "(?:" : "|(?:") + kernel.regex + ")";
  }
  return all;
}

Command capture_command(const ncu::Installation& ncu, const settings::Ncu& settings,
                        std::string_view regex, const LaunchChoice& choice, const fs::path& folder,
                        const Command& program) {
  settings::Ncu own = settings;
  ncu::Capture capture{.output = folder / "ncu", .log = folder / kLogFile};
  if (choice.invocations.empty()) {
    own.ncu_cli.kernel_name = "regex:" + std::string(regex);
    own.ncu_cli.launch_skip = choice.skip;
    own.ncu_cli.launch_count = choice.count;
  } else {
    // These numbers count from the program's start, so the gate must be off.
    capture.kernel_id = kernel_id(regex, choice.invocations);
    own.gating_nvtx = false;
  }
  Command command = ncu::profile_command(ncu, own, capture, program);
  command.log = folder / "program.log";
  return command;
}

Command counting_command(const ncu::Installation& ncu, const settings::Ncu& settings,
                         std::string_view regex, const fs::path& csv, const Command& program) {
  settings::Ncu own = settings;
  settings::NcuCli& cli = own.ncu_cli;
  cli.set.reset();
  cli.sections.reset();
  cli.metrics = schema::CommaList{{kCountingMetric}};
  cli.replay_mode = settings::ReplayMode::Kernel;
  cli.kernel_name = "regex:" + std::string(regex);
  cli.nvtx.include.reset();  // rows name their ranges
  ncu::Capture capture{.output = csv, .log = csv};
  Command command = ncu::profile_command(ncu, own, capture, program);
  // Without a report file, ncu prints what it collected as a table into its log.
  const auto output = std::find(command.argv.begin(), command.argv.end(), "-o");
  command.argv.erase(output, output + 2);
  const auto log = std::find(command.argv.begin(), command.argv.end(), "--log-file");
  std::vector<std::string> printing = {"--csv", "--page", "raw", "--print-units", "base"};
  const std::vector<std::string> names = ncu::whole_names(ncu);
  printing.insert(printing.end(), names.begin(), names.end());
  command.argv.insert(log, printing.begin(), printing.end());
  command.log = csv.parent_path() / "program.log";
  return command;
}

std::vector<Export> export_commands(const ncu::Installation& ncu, const settings::Ncu& settings,
                                    const fs::path& report, const fs::path& folder,
                                    const std::optional<std::string>& only) {
  std::vector<Export> exports;
  if (!settings.ncu_cli.export_files.csv) return exports;
  const auto add = [&](const std::string& file, std::vector<std::string> options) {
    Command command = ncu::raw_csv_command(ncu, report, folder / file);
    command.argv = {ncu.program.string(), "--import", report.string(), "--csv",
                    "--print-units",      "base"};
    const std::vector<std::string> names = ncu::whole_names(ncu);
    command.argv.insert(command.argv.end(), names.begin(), names.end());
    if (only) {
      options.insert(options.end(),
                     {"--kernel-name-base", "demangled", "--kernel-name", "regex:" + *only});
    }
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    exports.push_back({std::move(command), folder / file});
  };
  add(kMetricsFile, {"--page", "raw"});
  add("ncu.details.csv", {"--page", "details"});
  for (const std::string& section : ncu::collection(ncu, settings.ncu_cli).sections) {
    std::vector<std::string> options = {"--page", "details", "--section", section};
    if (section == kRooflineSection) options.insert(options.end(), {"--print-details", "all"});
    add("ncu.section_" + folder_name(section) + ".csv", std::move(options));
  }
  return exports;
}

Result<settings::NcuCli> read_preset(const Node& tree) {
  const Node* const inner = tree.find("ncu_cli");
  const Node& preset = inner == nullptr ? tree : *inner;
  settings::NcuCli cli = PL_TRY(schema::read<settings::NcuCli>(preset, inner ? "ncu_cli" : ""));
  for (const char* key : {"kernel_name", "launch_skip", "launch_count"}) {
    const Node* const value = preset.find(key);
    if (value == nullptr || value->is_null()) continue;
    return Error(ErrorKind::Config,
                 std::string(key) +
                     ": must be null, because --kernel-config, --kernel-regex and "
                     "--num-kernel-call-* say which launches",
                 value->position());
  }
  if (cli.kernel_name_base.value_or(kNameBase) != kNameBase) {
    return Error(ErrorKind::Config,
                 "kernel_name_base: must be demangled or null, because --kernel-config and "
                 "--kernel-regex are compared with demangled names",
                 preset.find("kernel_name_base")->position());
  }
  const bool is_of_ranges = cli.replay_mode == settings::ReplayMode::Range ||
                            cli.replay_mode == settings::ReplayMode::AppRange;
  if (is_of_ranges) {
    return Error(ErrorKind::Config,
                 "replay_mode: must be kernel or application; ranges are profiled by 'profline "
                 "run' with pipeline.ncu",
                 preset.find("replay_mode")->position());
  }
  return cli;
}

Result<settings::NcuCli> load_preset(const std::string& name, const std::filesystem::path& cwd) {
  std::error_code ignored;
  if (!std::filesystem::exists(cwd / name, ignored)) {
    const std::string shipped = "profiling/ncu/" + name + ".yaml";
    for (const EmbeddedFile& file : shipped_config_files()) {
      if (file.path != shipped) continue;
      return read_preset(PL_TRY(parse_yaml(file.text, "<profline>/" + shipped)));
    }
  }
  return read_preset(PL_TRY(parse_yaml(PL_TRY(read_file(cwd / name)), name)));
}

Result<std::vector<std::string>> left_out(const ncu::Installation& ncu,
                                          const settings::NcuCli& cli) {
  const ncu::Collection collected = ncu::collection(ncu, cli);
  const std::string version = "ncu " + ncu.version.to_string();
  const bool has_any =
      !collected.metrics.empty() || !collected.sections.empty() || cli.set.has_value();
  if (!has_any && cli.names_what_to_collect()) {
    std::vector<std::string> unknown = collected.unknown_sections;
    unknown.insert(unknown.end(), collected.unknown_metrics.begin(),
                   collected.unknown_metrics.end());
    return Error(
        ErrorKind::Config,
        version + " knows none of the requested sections and counters: " + join(unknown, ", "));
  }
  std::vector<std::string> lines;
  for (const std::string& section : collected.unknown_sections) {
    lines.push_back(version + " has no section " + section + ": left out");
  }
  for (const std::string& metric : collected.unknown_metrics) {
    lines.push_back(version + " does not know the counter " + metric + " on this GPU: left out");
  }
  return lines;
}

std::vector<std::string> roofline_counters(const ncu::Installation& ncu) {
  std::vector<std::string> counters = {"gpu__time_duration.sum", "dram__bytes_read.sum",
                                       "dram__bytes_write.sum"};
  for (const char precision : {'f', 'h', 'd'}) {
    for (const char* instruction : {"add", "mul", "fma"}) {
      counters.push_back(std::string("smsp__sass_thread_inst_executed_op_") + precision +
                         instruction + "_pred_on.sum");
    }
  }
  for (const std::string& name : tensor_counters(ncu)) counters.push_back(name + ".sum");
  std::erase_if(counters, [&](const std::string& name) { return !ncu.knows_metric(name); });
  return counters;
}

settings::Ncu capture_settings(const CollectionRequest& request, const ncu::Installation& ncu) {
  settings::Ncu settings;
  settings::NcuCli& cli = settings.ncu_cli;
  cli = request.preset ? *request.preset : default_cli();
  cli.kernel_name_base = kNameBase;
  cli.force_overwrite = true;  // run_lab() keeps finished captures
  add_ranges(request, cli);
  if (request.clock_control) cli.clock_control = request.clock_control;
  std::vector<std::string> sections =
      cli.sections ? cli.sections->items : std::vector<std::string>();
  std::vector<std::string> metrics = cli.metrics ? cli.metrics->items : std::vector<std::string>();
  for (const std::string& section : request.extra_sections) add_once(sections, section);
  if (request.roofline.value_or(!request.preset)) {
    add_once(sections, kRooflineSection);
    for (const std::string& counter : roofline_counters(ncu)) add_once(metrics, counter);
  }
  if (!sections.empty()) cli.sections = schema::CommaList{std::move(sections)};
  if (!metrics.empty()) cli.metrics = schema::CommaList{std::move(metrics)};
  return settings;
}

}  // namespace profline::kernel_lab
