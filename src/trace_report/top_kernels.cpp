
#include <algorithm>
#include <array>

#include "analysis/kernels/canonical_name.h"
#include "analysis/timeline/group_kernels.h"
#include "base/files.h"
#include "process/runner.h"
#include "tools/nsys/commands.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/nsys/stats_csv.h"
#include "trace_report/report.h"

namespace profline::trace_report {
namespace {

namespace fs = std::filesystem;

TopKernels from_timeline(Timeline timeline, const TopKernelsQuery& query) {
  // Names as printed, because ncu will look for them.
  const timeline::KernelUses uses =
      timeline::group_kernels(timeline, {.spelling = true}, {.inside = query.range});
  TopKernels top;
  top.tool = timeline.tool;
  top.reading = std::move(timeline.reading);
  for (const KernelUse& row : uses.rows) {
    top.kernels.push_back({row.printed_name, uses.share(row), row.total_ns, row.launches});
  }
  return top;
}

Result<TopKernels> from_sqlite(const fs::path& path, const TopKernelsQuery& query) {
  const auto rows = query.range ? nsys::SqliteRows::All : nsys::SqliteRows::Kernels;
  return from_timeline(PL_TRY(nsys::read_sqlite(path, rows)), query);
}

Result<TopKernels> from_trace(const TopKernelsQuery& query) {
  TopKernels top = from_timeline(PL_TRY(read_capture(query.report)), query);
  top.is_trace = true;
  return top;
}

Result<TopKernels> from_csv(const TopKernelsQuery& query) {
  if (query.range) {
    return Error(ErrorKind::Config,
                 "--range needs an SQLite export, a .nsys-rep or a Kineto trace: a CSV summary "
                 "does not say in which range a kernel was launched");
  }
  const std::string text = PL_TRY(read_file(query.report));
  nsys::KernelSummary summary = PL_TRY(nsys::read_kernel_summary(text, query.report.string()));
  TopKernels top;
  top.tool = "nsys stats";
  top.reading = std::move(summary.reading);
  for (nsys::KernelSummaryRow& row : summary.rows) {
    top.kernels.push_back({std::move(row.name), row.time_percent, row.total_ns, row.instances});
  }
  return top;
}

Result<TopKernels> from_report(ProcessRunner& processes, const TopKernelsQuery& query) {
  const Result<fs::path> program = find_program(query.nsys);
  if (!program) {
    return Error(ErrorKind::NotFound,
                 query.report.string() + " can only be read with nsys, and " +
                     program.error().message() +
                     "; install Nsight Systems, name it with --nsys PROGRAM, or run 'nsys export "
                     "--type sqlite " +
                     query.report.string() + "' where it is and give the .sqlite");
  }
  const ScratchFolder folder;
  if (folder.path().empty()) {
    return Error(ErrorKind::Io, "cannot make a folder for temporary files");
  }
  const fs::path sqlite = folder.path() / "report.sqlite";
  PL_TRY(nsys::export_sqlite(processes, *program, query.report, sqlite));
  return from_sqlite(sqlite, query);
}

Result<TopKernels> read_any(ProcessRunner& processes, const TopKernelsQuery& query) {
  if (PL_TRY(looks_like_trace(query.report))) return from_trace(query);
  const FileDescriptor file = PL_TRY(open_for_reading(query.report));
  std::array<char, kSqliteStart.size()> magic{};
  const ssize_t size = read_some(file.get(), magic.data(), magic.size());
  const std::string extension = query.report.extension().string();
  const bool is_sqlite =
      size == std::ssize(magic) && std::equal(magic.begin(), magic.end(), kSqliteStart.begin());
  if (is_sqlite || extension == ".sqlite") {
    return from_sqlite(query.report, query);
  }
  if (extension == ".nsys-rep" || extension == ".qdrep") return from_report(processes, query);
  return from_csv(query);
}

/// Computes shares that the file lacks from its times.
void fill_shares(std::vector<TopKernel>& kernels) {
  double total = 0;
  for (const TopKernel& kernel : kernels) total += static_cast<double>(kernel.total_ns.value_or(0));
  for (TopKernel& kernel : kernels) {
    if (kernel.time_percent || !kernel.total_ns || total == 0) continue;
    kernel.time_percent = 100 * static_cast<double>(*kernel.total_ns) / total;
  }
}

void sort_kernels(std::vector<TopKernel>& kernels, TopKernelsQuery::Order by) {
  std::stable_sort(kernels.begin(), kernels.end(), [&](const TopKernel& a, const TopKernel& b) {
    if (by == TopKernelsQuery::Order::Time)
      return a.total_ns.value_or(-1) > b.total_ns.value_or(-1);
    return a.time_percent.value_or(-1) > b.time_percent.value_or(-1);
  });
}

}  // namespace

Result<TopKernels> read_top_kernels(const TopKernelsQuery& query, ProcessRunner& processes) {
  TopKernels top = PL_TRY(read_any(processes, query));
  fill_shares(top.kernels);
  sort_kernels(top.kernels, query.order);
  return top;
}

std::string regex_of(const TopKernel& kernel, const TopKernels& top) {
  return top.is_trace ? kernels::spelling_regex(kernel.name) : kernels::exact_regex(kernel.name);
}

}  // namespace profline::trace_report
