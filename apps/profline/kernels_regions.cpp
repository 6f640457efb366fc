#include <fmt/core.h>

#include "analysis/regions/region_table.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/terminal_text.h"
#include "kernel_report/kernel_analysis.h"
#include "standard_streams.h"
#include "verb.h"

namespace profline {
namespace {

regions::Rules rules_of(const Arguments& arguments) {
  regions::Rules rules;
  for (const std::string& rule : arguments.each_value("--kernel-include")) {
    rules.include.push_back(regions::parse_kernel_rule(rule));
  }
  for (const std::string& rule : arguments.each_value("--kernel-exclude")) {
    rules.exclude.push_back(regions::parse_kernel_rule(rule));
  }
  return rules;
}

std::string as_text(const std::vector<NcuRegion>& rows) {
  std::string text = fmt::format("{:<10} {:>9} {:>11} {:>11} {:>8}  {}\n", "source", "instances",
                                 "inclusive", "exclusive", "adds up", "region");
  for (const NcuRegion& region : rows) {
    std::string_view adds_up = "–";
    if (region.reconciles) adds_up = *region.reconciles ? "yes" : "no";
    const std::string indent(2 * static_cast<std::size_t>(region.depth), ' ');
    text += fmt::format("{:<10} {:>9} {:>11} {:>11} {:>8}  {}{}\n", schema::name_of(region.source),
                        region.instances == 0 ? "–" : std::to_string(region.instances),
                        duration(region.inclusive_ns), duration(region.exclusive_ns), adds_up,
                        indent, printable(region.name));
    for (const NcuRegionKernel& kernel : region.kernels) {
      text += fmt::format("{:<10} {:>9} {:>11} {:>11} {:>8}  {}    {}\n", "", kernel.launches,
                          duration(kernel.total_ns), "", "", indent,
                          fit_width(printable(kernel.name), 60));
    }
    if (region.launches_left_out > 0) {
      text += fmt::format("{:<10} {:>9} {:>11} {:>11} {:>8}  {}    left out by rules\n", "",
                          region.launches_left_out, "", "", "", indent);
    }
  }
  return text;
}

/// `profline kernels regions CAPTURE`: what ncu measured per NVTX range of the program, with
/// inclusive and exclusive times, and rules about which kernels count where.
class KernelsRegionsVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels regions"; }
  std::string_view summary() const override {
    return "show what ncu measured per NVTX range, inclusive and exclusive";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline kernels regions ncu-raw.csv", "time and launches per range"},
    };
  }
  std::string_view words() const override { return "CAPTURE"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> KernelsRegionsVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--output", "-o", Takes::Value, "FILE", "write to this file instead of stdout"},
      {"--ncu", "", Takes::Value, "PROGRAM", "the ncu that imports an .ncu-rep [ncu on PATH]"},
      {"--kernel-include", "", Takes::Value, "[REGION=]RE",
       "count only matching kernels, in that region or everywhere; may be repeated"},
      {"--kernel-exclude", "", Takes::Value, "[REGION=]RE",
       "do not count matching kernels, even if included; may be repeated"},
  };
}

Result<ExitCode> KernelsRegionsVerb::run(const Services& services,
                                         const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.size() != 1) {
    return Error(ErrorKind::Config,
                 "'kernels regions' needs one ncu capture, as in 'profline kernels regions "
                 "run/ncu/raw.csv'")
        .with_reason("usage");
  }
  const std::vector<kernel_report::Capture> captures = PL_TRY(kernel_report::find_captures(
      arguments.words.front(), services.processes, arguments.value("--ncu").value_or("ncu")));
  NcuRegions document{.tool = "ncu", .replay_mode = "", .regions = {}};
  const regions::Rules rules = rules_of(arguments);
  for (const kernel_report::Capture& capture : captures) {
    for (NcuRegion& region : PL_TRY(regions::region_table(capture.report, rules))) {
      document.regions.push_back(std::move(region));
    }
  }
  if (document.regions.empty()) {
    return Error(ErrorKind::Parse,
                 arguments.words.front() + ": no row is in an NVTX range; capture with --nvtx");
  }
  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(to_document(document))
                               : as_text(document.regions);
  if (const auto file = arguments.value("--output")) {
    PL_TRY(write_file_atomic(*file, text));
  } else {
    PL_TRY(print_result(text));
  }
  return ExitCode::Done;
}

std::unique_ptr<Verb> kernels_regions_verb() {
  return std::make_unique<KernelsRegionsVerb>();
}

}  // namespace profline
