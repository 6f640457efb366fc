#include "kernel_report/captured_kernels.h"

#include <algorithm>

#include "analysis/roofline/counted_kernel.h"
#include "process/environment.h"
#include "process/runner.h"
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

}  // namespace profline::kernel_report
