#include "kernel_report/kernel_analysis.h"

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "formats/yaml.h"
#include "records/range_use.h"
#include "report/svg/charts.h"

namespace profline::kernel_report {
namespace {

namespace fs = std::filesystem;
using roofline::CountedKernel;

/// The rows of one capture; without its own id, each row gets a number.
Result<void> add_capture(Capture capture, const AnalysisOptions& options,
                         KernelAnalysis& analysis) {
  std::size_t number = 0;
  std::vector<CountedKernel> rows;
  for (roofline::KernelMean& mean : roofline::mean_kernels(capture.report)) {
    const std::string device =
        options.device.value_or(capture.report.names.text(mean.kernel.device_name));
    const settings::Ceilings ceilings = PL_TRY(options.ceilings_of(device));
    if (analysis.rows.empty() && rows.empty()) analysis.ceilings = ceilings;
    ++number;
    std::string id = capture.id.empty() ? fmt::format("k{:04}", number) : capture.id;
    if (!capture.id.empty() && number > 1) id += fmt::format("_{}", number);
    rows.push_back(roofline::make_row(capture.report, std::move(mean), std::move(id), ceilings,
                                      {.classify_margin = options.margin, .point = {}}));
  }
  const std::string prefix = capture.id.empty() ? "" : capture.id + ": ";
  if (rows.empty() && !capture.id.empty()) {
    CountedKernel unknown;
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
  for (CountedKernel& row : rows) analysis.rows.push_back(std::move(row));
  return {};
}

void name_rows(const AnalysisOptions& options, const kernels::Classifier& classifier,
               std::vector<CountedKernel>& rows) {
  for (CountedKernel& row : rows) {
    if (row.name.empty()) continue;
    const kernels::CanonicalName name = kernels::canonical_name(row.name);
    row.kernel_class = row.mean.kernel.is_range ? "range" : classifier.class_of(name);
    row.display_name = row.mean.kernel.is_range ? row.name : name.short_name;
    for (const FriendlyName& known : options.friendly_names) {
      if (known.raw.key == name.key && kernels::compatible(known.raw, name)) {
        row.display_name = known.friendly;
      }
    }
  }
}

Result<void> write_tables(const KernelAnalysis& analysis, const fs::path& folder) {
  PL_TRY(create_folders(folder));
  PL_TRY(write_file_atomic(folder / "metrics_summary.csv",
                           roofline::metrics_summary_csv(analysis.rows)));
  PL_TRY(write_file_atomic(folder / "classification_summary.csv",
                           roofline::classification_summary_csv(analysis.rows)));
  PL_TRY(write_file_atomic(folder / "all_metrics_long.csv", analysis.all_metrics));
  return write_file_atomic(folder / "histograms.csv", roofline::histograms_csv(analysis.rows));
}

/// `roofline_scatter_{normalized,physical}.svg`,
/// `roofline_per_kernel/<id>_{normalized,physical}.svg` and `histograms/<metric>.svg` in `folder`.
Result<void> write_pictures(const KernelAnalysis& analysis, double margin, const fs::path& folder) {
  const std::vector<CountedKernel>& rows = analysis.rows;
  const settings::Ceilings& ceilings = analysis.ceilings;
  const std::string on = ceilings.device.empty() ? "" : " on " + ceilings.device;
  const std::string all = counted(rows.size(), "kernel") + on;
  PL_TRY(write_file_atomic(folder / "roofline_scatter_normalized.svg",
                           svg::normalised_roofline(rows, margin, "Shares of " + all)));
  PL_TRY(write_file_atomic(folder / "roofline_scatter_physical.svg",
                           svg::physical_roofline(rows, ceilings, "Roofline of " + all)));
  const fs::path each = folder / "roofline_per_kernel";
  PL_TRY(create_folders(each));
  for (const CountedKernel& row : rows) {
    const std::string id = range_folder(row.id);
    const std::string name = (row.display_name.empty() ? row.id : row.display_name) + on;
    PL_TRY(write_file_atomic(each / (id + "_normalized.svg"),
                             svg::normalised_roofline({&row, 1}, margin, name)));
    PL_TRY(write_file_atomic(each / (id + "_physical.svg"),
                             svg::physical_roofline({&row, 1}, ceilings, name)));
  }
  PL_TRY(create_folders(folder / "histograms"));
  for (const roofline::Histogram& histogram : roofline::histograms(rows)) {
    PL_TRY(write_file_atomic(folder / "histograms" / (std::string(histogram.metric) + ".svg"),
                             svg::histogram(histogram)));
  }
  return {};
}

}  // namespace

Result<std::vector<FriendlyName>> load_friendly_names(const std::string& file) {
  std::vector<FriendlyName> names;
  const Node list = PL_TRY(parse_yaml(PL_TRY(read_file(file)), file));
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

Result<KernelAnalysis> analyse_kernels(std::vector<Capture> captures,
                                       const kernels::Classifier& classes,
                                       const AnalysisOptions& options) {
  KernelAnalysis analysis;
  for (Capture& capture : captures) {
    PL_TRY(add_capture(std::move(capture), options, analysis));
  }
  name_rows(options, classes, analysis.rows);
  return analysis;
}

Result<void> write_analysis(const KernelAnalysis& analysis, double margin, const fs::path& folder) {
  PL_TRY(write_tables(analysis, folder));
  return write_pictures(analysis, margin, folder);
}

}  // namespace profline::kernel_report
