#include "kernel_lab/capture_command.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "kernel_lab/collection.h"
#include "records/region_folder.h"
#include "tools/ncu/metrics.h"
#include "tools/ncu/profile_command.h"

namespace profline::kernel_lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCountingMetric = "gpu__time_duration.sum";

}  // namespace

std::optional<std::string> kernel_id(std::string_view regex,
                                     std::span<const std::uint32_t> invocations) {
  if (regex.find("[:") != std::string_view::npos) return std::nullopt;
  std::string name;
  for (const char letter : regex) {
    const bool is_escaped = letter == ':' && name.ends_with('\\') && !name.ends_with("\\\\");
    if (is_escaped) name.pop_back();
    name += letter == ':' ? std::string("\\x3a") : std::string(1, letter);
  }
  return fmt::format("::regex:{}:^({})$", name, fmt::join(invocations, "|"));
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
  settings::Ncu told = settings;
  ncu::Capture capture{.output = folder / "ncu", .log = folder / kLogFile};
  if (choice.invocations.empty()) {
    told.ncu_cli.kernel_name = "regex:" + std::string(regex);
    told.ncu_cli.launch_skip = choice.skip;
    told.ncu_cli.launch_count = choice.count;
  } else {
    // Numbers count from the program's beginning, so the gate is left to them.
    capture.kernel_id = kernel_id(regex, choice.invocations);
    told.gating_nvtx = false;
  }
  Command command = ncu::profile_command(ncu, told, capture, program);
  command.log = folder / "program.log";
  return command;
}

Command counting_command(const ncu::Installation& ncu, const settings::Ncu& settings,
                         std::string_view regex, const fs::path& csv, const Command& program) {
  settings::Ncu told = settings;
  settings::NcuCli& cli = told.ncu_cli;
  cli.set.reset();
  cli.sections.reset();
  cli.metrics = schema::CommaList{{kCountingMetric}};
  cli.replay_mode = settings::ReplayMode::Kernel;
  cli.kernel_name = "regex:" + std::string(regex);
  cli.nvtx.include.reset();  // rows name their ranges
  ncu::Capture capture{.output = csv, .log = csv};
  Command command = ncu::profile_command(ncu, told, capture, program);
  // Without a report ncu prints what it collected, as a table into its log.
  const auto output = std::find(command.argv.begin(), command.argv.end(), "-o");
  command.argv.erase(output, output + 2);
  const auto log = std::find(command.argv.begin(), command.argv.end(), "--log-file");
  std::vector<std::string> printing = {"--csv", "--page", "raw", "--print-units", "base"};
  // Newer releases shorten names, which the expression would no longer match.
  const bool shortens = !ncu.options.empty() && ncu.takes("--rename-kernels");
  if (shortens) printing.insert(printing.end(), {"--rename-kernels", "no"});
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
    add("ncu.section_" + region_folder(section) + ".csv", std::move(options));
  }
  return exports;
}

}  // namespace profline::kernel_lab
