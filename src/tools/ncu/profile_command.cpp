#include "tools/ncu/profile_command.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"
#include "schema/read.h"
#include "tools/ncu/probe.h"

namespace profline::ncu {
namespace {

/// Otherwise ncu copies its section files into the user's Documents folder.
constexpr const char* kNoDeployment = "NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT";

/// An enumerator in ncu's spelling, which the settings use as well.
template <typename Enum>
std::string text_of(Enum value) {
  return schema::write(value).as_string();
}

class Argv {
 public:
  void add(std::string option) { argv_.push_back(std::move(option)); }
  void add(std::string option, std::string value) {
    argv_.push_back(std::move(option));
    argv_.push_back(std::move(value));
  }
  template <typename T>
  void add_if(const std::string& option, const std::optional<T>& value) {
    if (!value) return;
    if constexpr (std::is_enum_v<T>) {
      add(option, text_of(*value));
    } else {
      add(option, std::to_string(*value));
    }
  }
  std::vector<std::string> take(const std::vector<std::string>& program) {
    argv_.insert(argv_.end(), program.begin(), program.end());
    return std::move(argv_);
  }

 private:
  std::vector<std::string> argv_;
};

void add_collection(const Installation& ncu, const settings::NcuCli& cli, Argv& argv) {
  const Collection collected = collection(ncu, cli);
  if (cli.set) argv.add("--set", *cli.set);
  argv.add_if("--replay-mode", cli.replay_mode);
  if (!collected.metrics.empty()) argv.add("--metrics", join(collected.metrics, ","));
  for (const std::string& section : collected.sections) argv.add("--section", section);
}

void add_filters(const settings::Ncu& settings, const Capture& capture, Argv& argv) {
  const settings::NcuCli& cli = settings.ncu_cli;
  argv.add("--nvtx");  // rows then name the ranges of their kernels
  if (capture.waits_for_program) argv.add("--profile-from-start", "off");
  if (!capture.without_gate) {
    for (const NvtxExpression& range : capture.ranges.value_or(gate(settings))) {
      argv.add("--nvtx-include", range.passed);
    }
    if (!capture.instances.empty()) argv.add("--range-filter", range_filter(capture.instances));
  }
  if (cli.kernel_name || capture.kernel_id) {
    argv.add_if("--kernel-name-base", cli.kernel_name_base);
  }
  if (capture.kernel_id) {
    argv.add("--kernel-id", *capture.kernel_id);
  } else if (cli.kernel_name) {
    argv.add("--kernel-name", *cli.kernel_name);
  }
  argv.add_if("--launch-skip", cli.launch_skip);
  std::optional<std::uint32_t> count = launch_bound(settings);
  if (capture.without_gate) {
    count = std::min(capture.without_gate.value(), count.value_or(capture.without_gate.value()));
  }
  argv.add_if("--launch-count", count);
}

Command reading_command(const Installation& ncu, std::vector<std::string> options,
                        const std::filesystem::path& out) {
  Command command;
  command.argv = {ncu.program.string()};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  command.env[kNoDeployment] = "1";
  command.out = out;
  return command;
}

constexpr std::string_view kError = "==ERROR== ";
constexpr std::string_view kWarning = "==WARNING== ";
constexpr std::string_view kProgress = "==PROF== ";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The number in `The application returned an error code (5).`
std::optional<int> code_in(std::string_view line) {
  constexpr std::string_view kBefore = "returned an error code (";
  const std::size_t at = line.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kBefore.size());
  int code = 0;
  const auto [rest, status] = std::from_chars(line.data(), line.data() + line.size(), code);
  if (status != std::errc()) return std::nullopt;
  return code;
}

void read_error(std::string_view line, Messages& messages) {
  messages.errors.emplace_back(line);
  if (const auto code = code_in(line)) messages.application_code = code;
  if (has(line, "failed to connect to the CUDA driver") ||
      has(line, "Driver could not be loaded")) {
    messages.no_libcuda = true;
  }
  if (has(line, "does not exist or is not an executable")) messages.program_not_found = true;
  if (has(line, "Unable to write to file") || has(line, "Failed to create report")) {
    messages.cannot_write = true;
  }
}

void read_warning(std::string_view line, Messages& messages) {
  constexpr std::array<std::string_view, 3> kKinds = {"kernels", "ranges", "graphs"};
  for (const std::string_view kind : kKinds) {
    if (line == "No " + std::string(kind) + " were profiled.") {
      messages.nothing_profiled = kind;
      return;
    }
  }
  messages.warnings.emplace_back(line);
}

void read_progress(std::string_view line, Messages& messages) {
  // ==PROF== Connected to process 937 (/usr/bin/app)
  // ==PROF== Profiling "gemm" - 0: 0%....50%....100% - 9 passes
  if (line.starts_with("Connected to process")) ++messages.connected;
  if (line.starts_with("Profiling \"") && has(line, "pass")) ++messages.profiled;
}

}  // namespace

std::vector<NvtxExpression> gate(const settings::Ncu& ncu) {
  const auto& include = ncu.ncu_cli.nvtx.include;
  if (!ncu.gating_nvtx || !include) return {};
  return translate_ranges(include->items);
}

std::vector<std::vector<NvtxExpression>> gate_groups(const settings::Ncu& ncu) {
  std::vector<NvtxExpression> ranges = gate(ncu);
  if (is_range_replay(ncu.ncu_cli) && !ranges.empty()) return by_nesting(ranges);
  return {std::move(ranges)};
}

std::optional<std::uint32_t> launch_bound(const settings::Ncu& ncu) {
  const settings::NcuCli& cli = ncu.ncu_cli;
  if (cli.launch_count) return cli.launch_count;
  // ncu ends the workload after a number of launches only if it is given one.
  if (cli.kernel_name && !cli.kill.value_or(false)) return std::nullopt;
  return ncu.max_launches;
}

std::string range_filter(const std::vector<std::uint64_t>& instances) {
  std::string numbers;
  for (const std::uint64_t instance : instances) {
    numbers += (numbers.empty() ? "" : "|") + std::to_string(instance);
  }
  return "::" + numbers;
}

Command profile_command(const Installation& ncu, const settings::Ncu& settings,
                        const Capture& capture, const Command& workload) {
  const settings::NcuCli& cli = settings.ncu_cli;
  Argv argv;
  argv.add(ncu.program.string());
  argv.add_if("--target-processes", cli.target_processes);
  add_collection(ncu, cli, argv);
  argv.add("-o", capture.output.string());
  add_filters(settings, capture, argv);
  argv.add_if("--clock-control", cli.clock_control);
  argv.add_if("--cache-control", cli.cache_control);
  argv.add_if("--graph-profiling", cli.graph_profiling);
  if (cli.kill) argv.add("--kill", *cli.kill ? "yes" : "no");
  argv.add("--log-file", capture.log.string());
  if (cli.force_overwrite) argv.add("--force-overwrite");
  Command command = workload;
  command.argv = argv.take(workload.argv);
  command.env[kNoDeployment] = "1";
  return command;
}

std::vector<std::string> missing_options(const Installation& ncu, const settings::NcuCli& cli) {
  std::vector<std::string> missing;
  const auto need = [&](bool is_given, const char* option) {
    if (is_given && !ncu.takes(option)) missing.emplace_back(option);
  };
  need(cli.clock_control.has_value(), "--clock-control");
  need(cli.cache_control.has_value(), "--cache-control");
  need(cli.graph_profiling.has_value(), "--graph-profiling");
  need(cli.kill.has_value(), "--kill");
  // This value was introduced together with this option.
  if (cli.replay_mode == settings::ReplayMode::AppRange && !ncu.takes("--range-filter")) {
    missing.emplace_back("--replay-mode app-range");
  }
  return missing;
}

std::vector<std::string> whole_names(const Installation& ncu) {
  const bool shortens = !ncu.options.empty() && ncu.takes("--rename-kernels");
  if (!shortens) return {};
  return {"--rename-kernels", "no"};
}

Command raw_csv_command(const Installation& ncu, const std::filesystem::path& report,
                        const std::filesystem::path& csv) {
  std::vector<std::string> options = {"--import", report.string(), "--page", "raw",
                                      "--csv",    "--print-units", "base"};
  const std::vector<std::string> names = whole_names(ncu);
  options.insert(options.end(), names.begin(), names.end());
  return reading_command(ncu, std::move(options), csv);
}

Command details_command(const Installation& ncu, const std::filesystem::path& report,
                        const std::filesystem::path& text) {
  return reading_command(ncu, {"--import", report.string(), "--page", "details"}, text);
}

Command list_sections_command(const Installation& ncu, const std::filesystem::path& text) {
  return reading_command(ncu, {"--list-sections"}, text);
}

Messages read_messages(std::string_view log) {
  Messages messages;
  std::string text(log);
  std::replace(text.begin(), text.end(), '\r', '\n');
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    if (has(line, "ERR_NVGPUCTRPERM")) messages.counters_denied = true;
    if (has(line, "No space left on device")) messages.disk_full = true;
    if (line.starts_with(kError)) read_error(line.substr(kError.size()), messages);
    if (line.starts_with(kWarning)) read_warning(line.substr(kWarning.size()), messages);
    if (line.starts_with(kProgress)) read_progress(line.substr(kProgress.size()), messages);
  }
  return messages;
}

}  // namespace profline::ncu
