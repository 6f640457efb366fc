#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/classify.h"
#include "analysis/roofline/counted_kernel.h"
#include "base/figures.h"
#include "base/terminal_text.h"
#include "formats/json.h"
#include "kernel_report/kernel_analysis.h"
#include "session/configuration.h"
#include "session/machine_ceilings.h"
#include "settings/kernel_classes.h"
#include "standard_streams.h"
#include "verb.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using kernel_report::KernelAnalysis;
using roofline::CountedKernel;

constexpr std::size_t kNameWidth = 60;

Result<double> margin_of(const Arguments& arguments) {
  const std::string text = arguments.value("--classify-margin").value_or("5");
  double margin = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), margin);
  if (status != std::errc() || end != text.data() + text.size() || !std::isfinite(margin) ||
      margin < 0) {
    return Error(ErrorKind::Config, "--classify-margin must be a number >= 0, not '" + text + "'")
        .with_reason("usage");
  }
  return margin;
}

std::string shown(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "–";
}

std::string as_text(const KernelAnalysis& analysis) {
  std::string text = fmt::format(
      "{:<14} {:<11} {:<8} {:>9} {:>9} {:>7} {:>9} {:>6} {:>6} {:>6}  {}\n", "kernel", "class",
      "bound", "time", "FLOP/s", "roof", "DRAM", "FLOP/B", "SM %", "mem %", "name");
  for (const CountedKernel& row : analysis.rows) {
    const roofline::Point& point = row.point;
    std::optional<double> roof;
    if (point.floor_ns && point.time_ns) roof = *point.floor_ns / *point.time_ns;
    text +=
        fmt::format("{:<14} {:<11} {:<8} {:>9} {:>9} {:>7} {:>9} {:>6} {:>6} {:>6}  {}\n",
                    fit_width(printable(row.id), 14), row.kernel_class, to_text(point.bound),
                    duration(point.time_ns), count(point.operations_per_second), percent(roof),
                    amount(point.bytes_per_second, "B/s"), plain_number(point.intensity),
                    shown(row.measured.sm_pct, "{:.1f}"), shown(row.measured.memory_pct, "{:.1f}"),
                    fit_width(printable(row.display_name), kNameWidth));
  }
  text +=
      "\nroof: the time that the kernel would take at the device's peak rates, as a share of its "
      "time\n";
  for (const CountedKernel& row : analysis.rows) {
    if (row.point.evidence.empty()) continue;
    text += fmt::format("{}: {}", row.id, to_text(row.point.bound));
    for (const std::string& reason : row.point.evidence) text += "; " + printable(reason);
    text += '\n';
  }
  return text;
}

Node maybe(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Node::real(*value) : Node();
}

Node row_node(const CountedKernel& row) {
  NodeMap map;
  map.set("id", Node::string(row.id));
  map.set("name", Node::string(row.name));
  map.set("display_name", Node::string(row.display_name));
  map.set("class", Node::string(row.kernel_class));
  map.set("launches", Node::integer(static_cast<std::int64_t>(row.mean.launches)));
  map.set("device", Node::string(row.device_name));
  map.set("bound", Node::string(std::string(to_text(row.point.bound))));
  map.set("classification", Node::string(std::string(to_text(row.margin_class))));
  NodeMap metrics;
  for (std::size_t i = 0; i < row.metrics.size(); ++i) {
    metrics.set(std::string(roofline::kMetricColumns[i]), maybe(row.metrics[i]));
  }
  map.set("metrics", Node::map(std::move(metrics)));
  const roofline::Point& point = row.point;
  map.set("time_ns", maybe(point.time_ns));
  map.set("flops", maybe(point.operations));
  map.set("dram_bytes", maybe(point.dram_bytes));
  map.set("l2_bytes", maybe(point.l2_bytes));
  map.set("intensity", maybe(point.intensity));
  map.set("flops_per_second", maybe(point.operations_per_second));
  map.set("attainable_flops_per_second", maybe(point.attainable_operations_per_second));
  map.set("floor_ns", maybe(point.floor_ns));
  Node work = Node::list();
  for (const roofline::Work& kind : row.measured.work) {
    NodeMap entry;
    entry.set("cores", Node::string(std::string(to_text(kind.cores))));
    entry.set("precision", Node::string(std::string(to_text(kind.precision))));
    entry.set("flops", Node::real(kind.operations));
    entry.set("rounded", Node::boolean(kind.is_rounded));
    entry.set("counters", Node::string(kind.counters));
    work.as_list().push_back(Node::map(std::move(entry)));
  }
  map.set("work", std::move(work));
  Node evidence = Node::list();
  for (const std::string& reason : point.evidence) {
    evidence.as_list().push_back(Node::string(reason));
  }
  map.set("evidence", std::move(evidence));
  return Node::map(std::move(map));
}

Result<std::string> as_json(const KernelAnalysis& analysis) {
  NodeMap document;
  document.set("schema", Node::string("profline.kernel_analysis/1"));
  Node rows = Node::list();
  for (const CountedKernel& row : analysis.rows) rows.as_list().push_back(row_node(row));
  document.set("kernels", std::move(rows));
  Node notes = Node::list();
  for (const std::string& note : analysis.notes) notes.as_list().push_back(Node::string(note));
  document.set("notes", std::move(notes));
  return write_json(Node::map(std::move(document)));
}

/// `profline kernels analyze DIR`: what bounds the kernels that ncu captured. Prints a table and
/// writes metrics_summary.csv, classification_summary.csv, all_metrics_long.csv, histograms.csv and
/// pictures into `DIR/analysis`.
class KernelsAnalyzeVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels analyze"; }
  std::string_view summary() const override {
    return "classify captured kernels: tables, rooflines, histograms";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline kernels analyze tmp/ncu-profile/20261115-100000",
         "what bounds each captured kernel"},
    };
  }
  std::string_view words() const override { return "DIR"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> KernelsAnalyzeVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--classify-margin", "", Takes::Value, "POINTS",
       "SM and DRAM shares within this margin are balanced [5]"},
      {"--kernel-desc", "", Takes::Value, "FILE",
       "YAML list of raw_name and friendly_name: display names of kernels"},
      {"--device", "", Takes::Value, "NAME",
       "device whose peak rates to use [the one ncu reports]"},
      {"--ceilings", "", Takes::Value, "CHOICE",
       "measured, datasheet or a file written by 'profline ceilings' [measured if available, "
       "otherwise datasheet]"},
      {"--output-dir", "", Takes::Value, "DIR", "folder for tables and charts [DIR/analysis]"},
      {"--ncu", "", Takes::Value, "PROGRAM", "the ncu that imports an .ncu-rep [ncu on PATH]"},
  };
}

Result<ExitCode> KernelsAnalyzeVerb::run(const Services& services,
                                         const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.size() != 1) {
    return Error(ErrorKind::Config,
                 "'kernels analyze' needs one folder of captured kernels or one file from ncu")
        .with_reason("usage");
  }
  const auto search_path =
      PL_TRY(session::config_search_path(session::ConfigChoice(), fs::current_path()));
  kernel_report::AnalysisOptions options;
  const session::CeilingsChoice choice{arguments.value("--ceilings").value_or("auto"),
                                       fs::current_path()};
  options.ceilings_of = [&](const std::string& device) -> Result<settings::Ceilings> {
    return PL_TRY(session::ceilings_for(search_path, {device, "", 0}, choice)).used;
  };
  options.device = arguments.value("--device");
  options.margin = PL_TRY(margin_of(arguments));
  if (const auto file = arguments.value("--kernel-desc")) {
    options.friendly_names = PL_TRY(kernel_report::load_friendly_names(*file));
  }
  const kernels::Classifier classifier = PL_TRY(
      kernels::classifier_with(PL_TRY(kernels::own_classes(search_path, fs::current_path()))));
  const fs::path input = arguments.words.front();
  std::vector<kernel_report::Capture> captures = PL_TRY(kernel_report::find_captures(
      input, services.processes, arguments.value("--ncu").value_or("ncu")));
  const KernelAnalysis analysis =
      PL_TRY(kernel_report::analyse_kernels(std::move(captures), classifier, options));
  const fs::path beside = fs::is_directory(input) ? input : input.parent_path();
  const auto folder = arguments.value("--output-dir");
  PL_TRY(kernel_report::write_analysis(analysis, options.margin,
                                       folder ? fs::path(*folder) : beside / "analysis"));
  if (invocation.output.verbosity >= 0) {
    for (const std::string& note : analysis.notes) {
      print_remark("profline: " + printable(note));
    }
  }
  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(as_json(analysis))
                               : as_text(analysis);
  PL_TRY(print_result(text));
  return ExitCode::Done;
}

std::unique_ptr<Verb> kernels_analyze_verb() {
  return std::make_unique<KernelsAnalyzeVerb>();
}

}  // namespace profline
