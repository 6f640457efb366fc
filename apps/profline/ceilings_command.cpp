#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "records/ceilings.h"
#include "session/machine_ceilings.h"
#include "session/run_preparation.h"
#include "standard_streams.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

/// The rate that is published for a figure; nothing for one that no datasheet has.
std::optional<double> published(const CeilingFigure& figure, const settings::Ceilings& datasheet) {
  using settings::Cores;
  using settings::Precision;
  if (figure.kind == "memory" && figure.name.starts_with("dram ")) {
    return datasheet.bytes_per_second;
  }
  if (figure.kind != "matrix") return std::nullopt;
  const std::pair<std::string_view, std::pair<Cores, Precision>> kRates[] = {
      {"bf16", {Cores::Tensor, Precision::Bf16}},
      {"fp16", {Cores::Tensor, Precision::Fp16}},
      {"tf32", {Cores::Tensor, Precision::Tf32}},
      {"fp32", {Cores::Vector, Precision::Fp32}},
      {"fp8", {Cores::Tensor, Precision::Fp8}}};
  for (const auto& [name, kind] : kRates) {
    if (figure.name == name) return datasheet.rate(kind.first, kind.second);
  }
  return std::nullopt;
}

std::string value_text(const CeilingFigure& figure, const std::optional<CeilingValue>& value) {
  if (!value) return "–";
  return figure.unit == "ns" ? duration(value->value) : amount(value->value, figure.unit);
}

std::string number_text(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.0f} {}", *value, unit) : "–";
}

std::string table_text(const MachineCeilings& ceilings, const settings::Ceilings& datasheet,
                       const Palette& palette) {
  using Align = TextTable::Align;
  std::vector<TextTable::Column> columns = {{"", Align::Left},
                                            {"size", Align::Left},
                                            {"sustained"},
                                            {"burst"},
                                            {"spread", Align::Right, false, 4}};
  if (ceilings.is_gpu()) {
    columns.insert(columns.end(), {{"of datasheet", Align::Right, false, 1},
                                   {"SM clock", Align::Right, false, 2},
                                   {"power", Align::Right, false, 3}});
  }
  TextTable table(std::move(columns));
  for (const CeilingFigure& figure : ceilings.figures) {
    const auto peak = published(figure, datasheet);
    const auto highest = figure.highest();
    const std::optional<CeilingValue>& seen = figure.sustained ? figure.sustained : figure.burst;
    std::vector<std::string> cells = {(figure.is_best ? "" : "  ") + figure.name,
                                      or_dash(figure.shape), value_text(figure, figure.sustained),
                                      value_text(figure, figure.burst),
                                      seen && seen->spread ? percent(*seen->spread) : "–"};
    if (ceilings.is_gpu()) {
      cells.push_back(peak && highest ? percent(*highest / *peak) : "–");
      cells.push_back(seen ? number_text(seen->sm_clock_mhz, "MHz") : "–");
      cells.push_back(seen ? number_text(seen->power_w, "W") : "–");
    }
    table.add(std::move(cells));
  }
  return table.render(output_width(), palette);
}

std::string head_text(const MachineCeilings& ceilings) {
  std::string text = ceilings.device;
  if (!ceilings.driver.empty()) text += ", driver " + ceilings.driver;
  if (!ceilings.is_gpu()) {
    text += ", " + counted(static_cast<std::uint64_t>(ceilings.threads), "thread");
  }
  return text +
         fmt::format(", measured at {} in {:.0f} s\n\n", ceilings.measured_at, ceilings.seconds);
}

std::string as_text(const MachineCeilings& ceilings, const settings::Ceilings& datasheet,
                    const fs::path& file, const Palette& palette) {
  std::string text = head_text(ceilings) + table_text(ceilings, datasheet, palette);
  if (!ceilings.notes.empty()) text += '\n';
  for (const std::string& note : ceilings.notes) text += printable(note) + '\n';
  return text + "\nkept in " + printable(file.string()) + "\n";
}

/// `profline ceilings`: what this machine reaches, measured and kept for later runs.
class CeilingsVerb final : public Verb {
 public:
  std::string_view name() const override { return "ceilings"; }
  std::string_view summary() const override {
    return "measure the bandwidth and FLOP rates this machine reaches";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline ceilings", "measure the first GPU, or the CPU; later runs compare with it"},
        {"profline ceilings --show", "print what was measured before"},
        {"profline run ceilings=datasheet", "compare a run with published peaks instead"},
    };
  }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

struct Found {
  MachineCeilings ceilings;
  fs::path file;
};

Result<Found> show(const session::CeilingsMeasurement& request) {
  const session::MeasuredDevice device = PL_TRY(session::device_to_measure(request));
  return Found{PL_TRY(session::kept_ceilings(device)), session::kept_file(device)};
}

Result<Found> measure(const Services& services, const session::CeilingsMeasurement& request,
                      const std::optional<std::string>& file) {
  Found found;
  found.ceilings = PL_TRY(session::measure_machine(request, services));
  if (!file) {
    found.file = PL_TRY(session::keep_ceilings(found.ceilings));
    return found;
  }
  found.file = *file;
  PL_TRY(write_file_atomic(found.file, PL_TRY(to_document(found.ceilings))));
  return found;
}

Result<session::CeilingsMeasurement> request_of(const Arguments& arguments) {
  session::CeilingsMeasurement request;
  if (const auto device = arguments.value("--device")) {
    const auto parsed = settings::parse_device(*device);
    if (!parsed)
      return usage("--device must be one of auto, cpu, cuda, cuda:N, not '" + *device + "'");
    request.device = *parsed;
  }
  constexpr WholeNumbers kSeconds{.least = 1, .most = 3600};
  constexpr WholeNumbers kThreads{.least = 1, .most = 4096};
  if (const auto seconds = PL_TRY(whole_number(arguments, "--seconds", kSeconds))) {
    request.seconds = static_cast<double>(*seconds);
  }
  if (const auto threads = PL_TRY(whole_number(arguments, "--threads", kThreads))) {
    request.threads = static_cast<std::int64_t>(*threads);
  }
  request.workload = arguments.value("--workload").value_or("");
  return request;
}

}  // namespace

std::vector<Option> CeilingsVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--device", "", Takes::Value, "DEVICE", "auto, cpu, cuda or cuda:N [auto]"},
      {"--seconds", "", Takes::Value, "N",
       "take no longer than this; less than 60 makes every figure less exact [90]"},
      {"--threads", "", Takes::Value, "N", "threads on a CPU [all]"},
      {"--output-file", "", Takes::Value, "FILE",
       "write the result to this file, for ceilings=FILE, instead of keeping it for all runs"},
      {"--show", "", Takes::Nothing, "", "print the stored result without measuring"},
      {"--workload", "", Takes::Value, "PROGRAM",
       "the profline-workload to use [next to profline, then on PATH]"},
  };
}

Result<ExitCode> CeilingsVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (!arguments.words.empty()) {
    return usage("'ceilings' takes no words, but got '" + arguments.words.front() + "'");
  }
  const session::CeilingsMeasurement request = PL_TRY(request_of(arguments));
  const Found found = PL_TRY(arguments.has("--show")
                                 ? show(request)
                                 : measure(services, request, arguments.value("--output-file")));
  const auto search_path =
      PL_TRY(session::config_search_path(session::ConfigChoice(), fs::current_path()));
  const settings::Hardware hardware = PL_TRY(session::load_hardware(search_path));
  const settings::DeviceLimits* limits = session::find_device(hardware, found.ceilings.device);
  const settings::Ceilings datasheet =
      limits == nullptr ? settings::Ceilings() : settings::ceilings_of(*limits);
  const std::string text =
      invocation.output.format == OutputFormat::Json
          ? PL_TRY(to_document(found.ceilings))
          : as_text(found.ceilings, datasheet, found.file,
                    Palette(wants_color(arguments.value("--color"), STDOUT_FILENO)));
  PL_TRY(print_result(text));
  return ExitCode::Done;
}

std::unique_ptr<Verb> ceilings_verb() {
  return std::make_unique<CeilingsVerb>();
}

}  // namespace profline
