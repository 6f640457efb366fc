#include "kernels_analyze.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/classify.h"
#include "analysis/roofline/kernel_table.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/terminal_text.h"
#include "captured_kernels.h"
#include "configuration.h"
#include "formats/json_write.h"
#include "formats/yaml.h"
#include "hardware_table.h"
#include "kernel_pictures.h"
#include "settings/kernel_classes.h"
#include "standard_streams.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using roofline::KernelRow;

constexpr std::size_t kNameWidth = 60;

struct Analysis {
  std::vector<KernelRow> rows;
  std::vector<std::string> notes;
  std::string all_metrics;      ///< as CSV
  settings::Ceilings ceilings;  ///< of the device of the first kernel that has one
};

Result<kernels::Classifier> load_classifier(const config::SearchPath& search_path) {
  for (const config::SearchPath::Entry& entry : search_path.entries()) {
    if (!entry.source) continue;
    const auto file = PL_TRY(entry.source->load("kernels/classes"));
    if (!file) continue;
    return kernels::Classifier::create(PL_TRY(settings::read_kernel_classes(file->tree)));
  }
  return Error(ErrorKind::NotFound, "there is no kernels/classes.yaml on the search path");
}

/// What people call a kernel, by a file of theirs.
struct FriendlyName {
  kernels::CanonicalName raw;
  std::string friendly;
};

Result<std::vector<FriendlyName>> load_friendly_names(const std::optional<std::string>& file) {
  std::vector<FriendlyName> names;
  if (!file) return names;
  const Node list = PL_TRY(parse_yaml(PL_TRY(read_file(*file)), *file));
  if (!list.is_list()) {
    return Error(ErrorKind::Config, "--kernel-desc must hold a list of raw_name and friendly_name",
                 list.position());
  }
  for (const Node& entry : list.as_list()) {
    const Node* raw = entry.find("raw_name");
    const Node* friendly = entry.find("friendly_name");
    if (raw == nullptr || !raw->is_string() || friendly == nullptr || !friendly->is_string()) {
      return Error(ErrorKind::Config, "an entry must have raw_name and friendly_name, both strings",
                   entry.position());
    }
    names.push_back({kernels::canonical_name(raw->as_string()), friendly->as_string()});
  }
  return names;
}

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

/// Rows of one capture; without an id of its own each row gets a number.
Result<void> add_capture(Capture capture, const Arguments& arguments,
                         const config::SearchPath& search_path, double margin, Analysis& analysis) {
  const auto given = arguments.value("--device");
  std::size_t number = 0;
  std::vector<KernelRow> rows;
  for (roofline::KernelMean& mean : roofline::mean_kernels(capture.report)) {
    const std::string device = given.value_or(capture.report.names.text(mean.kernel.device_name));
    const settings::Ceilings ceilings = PL_TRY(ceilings_for(search_path, device));
    if (analysis.rows.empty() && rows.empty()) analysis.ceilings = ceilings;
    ++number;
    std::string id = capture.id.empty() ? fmt::format("k{:04}", number) : capture.id;
    if (!capture.id.empty() && number > 1) id += fmt::format("_{}", number);
    rows.push_back(roofline::make_row(capture.report, std::move(mean), std::move(id), ceilings,
                                      {.classify_margin = margin, .point = {}}));
  }
  const std::string prefix = capture.id.empty() ? "" : capture.id + ": ";
  if (rows.empty() && !capture.id.empty()) {
    KernelRow unknown;
    unknown.id = capture.id;
    rows.push_back(std::move(unknown));
  }
  for (const std::string& note : capture.report.reading.notes) {
    analysis.notes.push_back(prefix + note);
  }
  for (const Reading::Skipped& skipped : capture.report.reading.skipped) {
    analysis.notes.push_back(fmt::format("{}{} skipped: {} ({})", prefix,
                                         counted(skipped.count, "row"), skipped.reason,
                                         skipped.first_position));
  }
  std::string metrics = roofline::all_metrics_csv(capture.report, rows);
  if (!analysis.all_metrics.empty()) metrics.erase(0, metrics.find('\n') + 1);
  analysis.all_metrics += metrics;
  for (KernelRow& row : rows) analysis.rows.push_back(std::move(row));
  return {};
}

void name_rows(const kernels::Classifier& classifier, const std::vector<FriendlyName>& friendly,
               std::vector<KernelRow>& rows) {
  for (KernelRow& row : rows) {
    if (row.name.empty()) continue;
    const kernels::CanonicalName name = kernels::canonical_name(row.name);
    row.kernel_class = row.mean.kernel.is_range ? "range" : classifier.class_of(name);
    row.display_name = row.mean.kernel.is_range ? row.name : name.short_name;
    for (const FriendlyName& known : friendly) {
      if (known.raw.key == name.key && kernels::compatible(known.raw, name)) {
        row.display_name = known.friendly;
      }
    }
  }
}

Result<void> write_tables(const Analysis& analysis, const fs::path& folder) {
  PL_TRY(create_folders(folder));
  PL_TRY(write_file_atomic(folder / "metrics_summary.csv",
                           roofline::metrics_summary_csv(analysis.rows)));
  PL_TRY(write_file_atomic(folder / "classification_summary.csv",
                           roofline::classification_summary_csv(analysis.rows)));
  PL_TRY(write_file_atomic(folder / "all_metrics_long.csv", analysis.all_metrics));
  return write_file_atomic(folder / "histograms.csv", roofline::histograms_csv(analysis.rows));
}

std::string shown(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string rate(const std::optional<double>& per_second, std::string_view unit) {
  return per_second ? human_count(*per_second) + std::string(unit) : "-";
}

std::string as_text(const Analysis& analysis) {
  std::string text = fmt::format(
      "{:<14} {:<11} {:<8} {:>9} {:>9} {:>6} {:>9} {:>6} {:>6} {:>6}  {}\n", "kernel", "class",
      "bound", "time", "FLOP/s", "roof", "DRAM", "FLOP/B", "SM %", "mem %", "name");
  for (const KernelRow& row : analysis.rows) {
    const roofline::Point& point = row.point;
    std::optional<double> roof;
    if (point.floor_ns && point.time_ns) roof = *point.floor_ns / *point.time_ns * 100;
    text +=
        fmt::format("{:<14} {:<11} {:<8} {:>9} {:>9} {:>6} {:>9} {:>6} {:>6} {:>6}  {}\n",
                    fit_width(printable(row.id), 14), row.kernel_class, to_text(point.bound),
                    point.time_ns ? human_duration(FractionalNanoseconds(*point.time_ns)) : "-",
                    rate(point.operations_per_second, ""), shown(roof, "{:.0f} %"),
                    rate(point.bytes_per_second, "B/s"), shown(point.intensity, "{:.3g}"),
                    shown(row.measured.sm_pct, "{:.1f}"), shown(row.measured.memory_pct, "{:.1f}"),
                    fit_width(printable(row.display_name), kNameWidth));
  }
  text += "\nroof: the share of the time that the kernel would take at the device's ceilings\n";
  for (const KernelRow& row : analysis.rows) {
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

Node row_node(const KernelRow& row) {
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

Result<std::string> as_json(const Analysis& analysis) {
  NodeMap document;
  document.set("schema", Node::string("profline.kernel_analysis/1"));
  Node rows = Node::list();
  for (const KernelRow& row : analysis.rows) rows.as_list().push_back(row_node(row));
  document.set("kernels", std::move(rows));
  Node notes = Node::list();
  for (const std::string& note : analysis.notes) notes.as_list().push_back(Node::string(note));
  document.set("notes", std::move(notes));
  return write_json(Node::map(std::move(document)));
}

}  // namespace

std::vector<Option> KernelsAnalyzeVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--classify-margin", "", Takes::Value, "POINTS",
       "SM and DRAM shares this close are balanced [5]"},
      {"--kernel-desc", "", Takes::Value, "FILE",
       "YAML list of raw_name and friendly_name, to show kernels by"},
      {"--device", "", Takes::Value, "NAME", "whose ceilings to use [what ncu says]"},
      {"--output-dir", "", Takes::Value, "DIR", "where tables and pictures go [DIR/analysis]"},
      {"--ncu", "", Takes::Value, "PROGRAM", "the ncu that imports an .ncu-rep [ncu on PATH]"},
  };
}

Result<ExitCode> KernelsAnalyzeVerb::run(const Services& services,
                                         const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.size() != 1) {
    return Error(ErrorKind::Config,
                 "'kernels analyze' needs one folder of captured kernels, or a file of ncu's")
        .with_reason("usage");
  }
  const double margin = PL_TRY(margin_of(arguments));
  const auto friendly = PL_TRY(load_friendly_names(arguments.value("--kernel-desc")));
  const auto search_path = PL_TRY(config_search_path(ConfigChoice(), fs::current_path()));
  const kernels::Classifier classifier = PL_TRY(load_classifier(search_path));
  const fs::path input = arguments.words.front();
  std::vector<Capture> captures =
      PL_TRY(find_captures(input, services.processes, arguments.value("--ncu").value_or("ncu")));
  Analysis analysis;
  for (Capture& capture : captures) {
    PL_TRY(add_capture(std::move(capture), arguments, search_path, margin, analysis));
  }
  name_rows(classifier, friendly, analysis.rows);
  const fs::path beside = fs::is_directory(input) ? input : input.parent_path();
  const auto folder = arguments.value("--output-dir");
  const fs::path output = folder ? fs::path(*folder) : beside / "analysis";
  PL_TRY(write_tables(analysis, output));
  PL_TRY(write_kernel_pictures(analysis.rows, analysis.ceilings, margin, output));
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

}  // namespace profline
