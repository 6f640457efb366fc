#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernels/classify.h"
#include "analysis/operators/operator_table.h"
#include "analysis/timeline/accounting.h"
#include "analysis/timeline/transfers.h"
#include "base/result.h"
#include "formats/node.h"
#include "process/runner.h"
#include "records/kernel_use.h"
#include "records/timeline.h"

namespace profline::trace_report {

/// How every SQLite file starts.
inline constexpr std::string_view kSqliteStart = "SQLite format 3";

/// Reads a capture, whose kind is detected from its content: a Kineto or Chrome trace (plain or
/// gzip), or an SQLite export of nsys. A file without anything usable is an Error that says what is
/// in it. `threads` read a trace, see TraceLimits.
Result<Timeline> read_capture(const std::filesystem::path& file, unsigned threads = 0);

/// Whether the file starts like a Kineto or Chrome trace (plain or gzip). A pipe, which can be read
/// only once, is assumed to be one.
Result<bool> looks_like_trace(const std::filesystem::path& file);

/// One kernel by identity, whatever names and shapes it was launched with.
struct Kernel {
  KernelUse use;
  std::vector<KernelUse> shapes;  ///< most time first, by Report::ranking()
  std::vector<KernelUse>
      launchers;  ///< by operator, most time first; KernelUse::op empty: no operator
};

struct KernelClass {
  std::string name;
  std::uint64_t instances = 0;
  std::int64_t total_ns = 0;
  std::int64_t exclusive_ns = 0;
};

/// Launching host calls and the kernels that ran: a CUDA graph is one call and many kernels.
struct Launches {
  std::uint64_t calls = 0;
  std::uint64_t graph_calls = 0;    ///< of `calls`: those that launch a CUDA graph
  std::uint64_t kernels = 0;        ///< that ran
  std::uint64_t graph_kernels = 0;  ///< of `kernels`: those that a graph launched
};

/// Everything that `profline trace` reports about one capture.
struct Report {
  const Timeline* timeline = nullptr;
  std::optional<std::string> range;  ///< restricts the report to matching ranges
  timeline::Accounting accounting;
  operators::OperatorTable operators;
  operators::OperatorOrder operator_order = operators::OperatorOrder::Self;
  Launches launches;                          ///< of the whole capture
  std::vector<Kernel> kernels;                ///< most time first, by ranking()
  std::vector<KernelClass> classes;           ///< likewise
  std::vector<timeline::TransferRow> copies;  ///< and fills; most time first
  std::vector<timeline::CollectiveRow> collectives;
  std::uint64_t copy_instances = 0;  ///< copies and fills, inside and outside ranges
  std::int64_t total_ns = 0;         ///< of all kernels
  std::int64_t exclusive_ns = 0;     ///< of all kernels
  std::uint64_t kernel_instances = 0;

  KernelRanking ranking() const { return ranking_of(*this); }

  /// The total over all ranges that `range` matches; absent without it.
  const timeline::RangeAccount* range_account() const {
    return accounting.focus ? &*accounting.focus : nullptr;
  }
};

struct Options {
  std::optional<std::string> range = {};
  operators::OperatorOrder operator_order = operators::OperatorOrder::Self;
};

/// The timeline must outlive the report. An Error lists the existing ranges if `options.range`, a
/// name or a glob, matches none.
Result<Report> make_report(const Timeline& timeline, const kernels::Classifier& classes,
                           const Options& options);

/// The document `profline.trace/1` (docs/formats/trace.md): at most `top` rows per table.
Node trace_document(std::span<const Report> reports, std::size_t top);

enum class Export { Perfetto, Csv, Json };

/// The default output of an export of `trace.json.gz`: `trace.perfetto.json`, `trace.report.json`,
/// or for CSV the folder `trace.csv`, in the current directory.
std::filesystem::path default_export_path(const Timeline& timeline, Export what);

/// What a viewer would show but an export for Perfetto lacks, because profline does not read it:
/// `Python frame (1234), instant event (20)`. Empty if nothing is lacking.
std::string left_out_of_perfetto(const Timeline& timeline);

/// Writes all rows, completely or not at all, and returns the files. CSV: a folder with
/// kernels.csv, kernel_operators.csv, operators.csv and ranges.csv.
Result<std::vector<std::filesystem::path>> export_trace(const Report& report, Export what,
                                                        const std::filesystem::path& to);

/// The kernels requested from `profline kernels top`.
struct TopKernelsQuery {
  enum class Order { Share, Time };

  /// An SQLite export of nsys, a CSV kernel summary of `nsys stats`, a .nsys-rep (which needs
  /// nsys), or a Kineto trace.
  std::filesystem::path report;
  std::optional<std::string> range{};  ///< only kernels launched in ranges of this name
  Order order = Order::Share;
  std::string nsys = "nsys";
};

struct TopKernel {
  std::string name;
  std::optional<double> time_percent{};  ///< of exclusive time if kernels overlap
  std::optional<std::int64_t> total_ns{};
  std::uint64_t instances = 0;
};

/// The kernels of a report, largest first.
struct TopKernels {
  std::string tool;
  std::vector<TopKernel> kernels;
  Reading reading;
  bool is_trace = false;  ///< names are spelled as Kineto does, unlike ncu
};

/// An empty list of kernels is not an Error: `reading` says what was in the report instead.
Result<TopKernels> read_top_kernels(const TopKernelsQuery& query, ProcessRunner& processes);

/// A regular expression that finds the kernel in ncu: its exact name or, for a trace, what both
/// spellings have in common.
std::string regex_of(const TopKernel& kernel, const TopKernels& top);

}  // namespace profline::trace_report
