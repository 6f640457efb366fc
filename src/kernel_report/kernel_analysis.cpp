#include "kernel_report/kernel_analysis.h"

#include <algorithm>

#include <fmt/core.h>

#include "analysis/roofline/counted_kernel.h"
#include "base/figures.h"
#include "base/files.h"
#include "formats/yaml.h"
#include "process/runner.h"
#include "records/range_use.h"
#include "report/svg/charts.h"
#include "tools/ncu/csv_reader.h"

namespace profline::kernel_report {
namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end;
       it.increment(problem)) {
    entries.push_back(it->path());
  }
  if (problem) {
    return Error(ErrorKind::Io, "cannot list " + folder.string() + ": " + problem.message());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

Result<CounterReport> import_report(const fs::path& file, ProcessRunner& processes,
                                    const std::string& ncu) {
  const fs::path program = PL_TRY(find_program(ncu));
  const std::string text =
      PL_TRY(output_of(processes, {program.string(), "--import", file.string(), "--page", "raw",
                                   "--csv", "--print-units", "base"}));
  return ncu::read_csv(text, {.source = file.string(), .keep = {}});
}

/// The files of one report; ncu prints one section to each.
Result<CounterReport> read_files(const std::vector<fs::path>& files) {
  CounterReport all;
  bool any = false;
  std::vector<Error> problems;
  for (const fs::path& file : files) {
    auto report = ncu::load_csv(file.string(), {});
    if (!report) {
      problems.push_back(std::move(report).error());
      continue;
    }
    if (any) {
      roofline::merge_into(all, *report);
    } else {
      all = std::move(*report);
    }
    any = true;
  }
  if (!any && !problems.empty()) return Error::all(problems);
  for (const Error& problem : problems) all.reading.notes.push_back(problem.to_string());
  return all;
}

bool is_csv(const fs::path& path) {
  return path.extension() == ".csv" && fs::is_regular_file(path);
}

/// The CSV files of a folder, or its report if it has no CSV files.
Result<CounterReport> read_folder(const fs::path& folder, ProcessRunner& processes,
                                  const std::string& ncu) {
  const std::vector<fs::path> entries = PL_TRY(entries_of(folder));
  std::vector<fs::path> files;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(files), is_csv);
  if (!files.empty()) return read_files(files);
  for (const fs::path& entry : entries) {
    if (entry.extension() == ".ncu-rep") return import_report(entry, processes, ncu);
  }
  return Error(ErrorKind::NotFound, "no captured kernels in " + folder.string() +
                                        ": no kernel_* folders, CSV files from ncu or .ncu-rep");
}

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
    const std::string id = folder_name(row.id);
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

Result<std::vector<Capture>> find_captures(const fs::path& input, ProcessRunner& processes,
                                           const std::string& ncu) {
  std::error_code problem;
  const fs::file_status status = fs::status(input, problem);
  if (!fs::exists(status)) {
    return Error(ErrorKind::NotFound, "cannot read " + input.string() + ": no such file");
  }
  std::vector<Capture> captures;
  if (!fs::is_directory(status)) {
    const bool is_report = input.extension() == ".ncu-rep";
    auto report = is_report ? import_report(input, processes, ncu) : read_files({input});
    if (!report) return std::move(report).error();
    captures.push_back({"", *std::move(report)});
    return captures;
  }
  for (const fs::path& entry : PL_TRY(entries_of(input))) {
    const std::string name = entry.filename().string();
    if (!name.starts_with("kernel_") || !fs::is_directory(entry)) continue;
    auto report = read_folder(entry, processes, ncu);
    Capture capture{name, {}};
    if (report) {
      capture.report = std::move(*report);
    } else {
      capture.report.reading.notes.push_back(report.error().to_string());
    }
    captures.push_back(std::move(capture));
  }
  if (captures.empty()) captures.push_back({"", PL_TRY(read_folder(input, processes, ncu))});
  return captures;
}

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
