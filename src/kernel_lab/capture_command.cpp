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

/// Whether a colon belongs to the syntax of what begins here: `[:alpha:]`, `(?i:gemm)`. Elsewhere
/// it is a letter, and `\x3a` says the same.
bool has_own_colon(std::string_view rest) {
  if (rest.starts_with("[:")) return true;
  if (!rest.starts_with("(?")) return false;
  const std::size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", 2);
  return end != std::string_view::npos && rest[end] == ':';
}

/// An expression that matches the same and has no colon; nothing when there is none.
std::optional<std::string> without_colons(std::string_view regex) {
  std::string made;
  bool is_grouped = false;
  bool refers_back = false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const std::string_view rest = regex.substr(i);
    if (rest.starts_with("(?:")) {
      // What it catches is of no use here, unless something refers to groups by their numbers.
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
