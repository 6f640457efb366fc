#include "kernels_top.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "analysis/kernels/name_regex.h"
#include "analysis/timeline/kernel_table.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "capture_file.h"
#include "formats/csv_number.h"
#include "formats/json_write.h"
#include "formats/yaml_write.h"
#include "process/find_program.h"
#include "scratch_folder.h"
#include "standard_streams.h"
#include "tools/nsys/export.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/nsys/stats_csv.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

struct TopKernel {
  std::string name;
  std::optional<double> time_percent;
  std::optional<std::int64_t> total_ns;
  std::uint64_t instances = 0;
};

/// What a report says of its kernels, most time first.
struct TopKernels {
  std::string source;
  std::string tool;
  std::vector<TopKernel> kernels;
  Reading reading;
  bool is_trace = false;  ///< names are spelled as Kineto does, which is not how ncu does
};

struct Request {
  fs::path report;
  std::optional<fs::path> output;
  std::optional<std::size_t> at_most;
  std::string sort_by;
  std::optional<std::string> range;
  std::string nsys;
};

Result<Request> read_request(const Arguments& arguments) {
  if (arguments.words.size() != 1) {
    return Error(ErrorKind::Config,
                 "'kernels top' takes one report, as in 'profline kernels top run.sqlite'")
        .with_reason("usage");
  }
  Request request;
  request.report = arguments.words.front();
  request.output = arguments.value("--output");
  request.sort_by = arguments.value("--sort-by").value_or("time_pct");
  request.range = arguments.value("--range");
  request.nsys = arguments.value("--nsys").value_or("nsys");
  if (const auto text = arguments.value("--topk")) {
    const Result<std::int64_t> number = csv::parse_integer(*text);
    if (!number || *number <= 0) {
      return Error(ErrorKind::Config, "--topk is '" + *text + "', not a whole number above 0");
    }
    request.at_most = static_cast<std::size_t>(*number);
  }
  return request;
}

TopKernels from_timeline(Timeline timeline, const Request& request) {
  timeline::KernelTableOptions options;
  std::optional<timeline::Attribution> attribution;
  if (request.range) {
    attribution = timeline::Attribution::of(timeline);
    options.inside = request.range;
    options.attribution = &*attribution;
  }
  const timeline::KernelTable table = timeline::kernel_table(timeline, options);
  TopKernels top;
  top.tool = timeline.tool;
  top.reading = std::move(timeline.reading);
  for (const timeline::KernelRow& row : table.rows) {
    top.kernels.push_back(
        {timeline.names.text(row.name), table.share(row), row.total_ns, row.instances});
  }
  return top;
}

Result<TopKernels> from_sqlite(const fs::path& path, const Request& request) {
  const auto rows = request.range ? nsys::SqliteRows::All : nsys::SqliteRows::Kernels;
  return from_timeline(PL_TRY(nsys::read_sqlite(path, rows)), request);
}

Result<TopKernels> from_trace(const Request& request) {
  TopKernels top = from_timeline(PL_TRY(read_capture(request.report)), request);
  top.is_trace = true;
  return top;
}

Result<TopKernels> from_csv(const Request& request) {
  if (request.range) {
    return Error(ErrorKind::Config,
                 "--range needs an SQLite export, a .nsys-rep or a Kineto trace: a summary as CSV "
                 "does not say in which range a kernel was launched");
  }
  const std::string text = PL_TRY(read_file(request.report));
  nsys::KernelSummary summary = PL_TRY(nsys::read_kernel_summary(text, request.report.string()));
  TopKernels top;
  top.tool = "nsys stats";
  top.reading = std::move(summary.reading);
  for (nsys::KernelSummaryRow& row : summary.rows) {
    top.kernels.push_back({std::move(row.name), row.time_percent, row.total_ns, row.instances});
  }
  return top;
}

Result<TopKernels> from_report(const Services& services, const Request& request) {
  const Result<fs::path> program = find_program(request.nsys);
  if (!program) {
    return Error(ErrorKind::NotFound,
                 request.report.string() + " can only be read with nsys, and " +
                     program.error().message() +
                     "; install Nsight Systems, name it with --nsys PROGRAM, or run 'nsys export "
                     "--type sqlite " +
                     request.report.string() + "' where it is and give the .sqlite");
  }
  const ScratchFolder folder;
  if (folder.path().empty()) {
    return Error(ErrorKind::Io, "cannot make a folder for temporary files");
  }
  const fs::path sqlite = folder.path() / "report.sqlite";
  PL_TRY(nsys::export_sqlite(services.processes, *program, request.report, sqlite));
  return from_sqlite(sqlite, request);
}

Result<TopKernels> read_report(const Services& services, const Request& request) {
  if (PL_TRY(looks_like_trace(request.report))) return from_trace(request);
  const FileDescriptor file = PL_TRY(open_for_reading(request.report));
  constexpr std::string_view kSqlite = "SQLite format 3";
  std::array<char, kSqlite.size()> magic{};
  const ssize_t size = read_some(file.get(), magic.data(), magic.size());
  const std::string extension = request.report.extension().string();
  const bool is_sqlite =
      size == std::ssize(magic) && std::equal(magic.begin(), magic.end(), kSqlite.begin());
  if (is_sqlite || extension == ".sqlite") {
    return from_sqlite(request.report, request);
  }
  if (extension == ".nsys-rep" || extension == ".qdrep") return from_report(services, request);
  return from_csv(request);
}

/// Shares that the file does not have, from its times.
void fill_shares(std::vector<TopKernel>& kernels) {
  double total = 0;
  for (const TopKernel& kernel : kernels) total += static_cast<double>(kernel.total_ns.value_or(0));
  for (TopKernel& kernel : kernels) {
    if (kernel.time_percent || !kernel.total_ns || total == 0) continue;
    kernel.time_percent = 100 * static_cast<double>(*kernel.total_ns) / total;
  }
}

void sort_kernels(std::vector<TopKernel>& kernels, const std::string& by) {
  std::stable_sort(kernels.begin(), kernels.end(), [&](const TopKernel& a, const TopKernel& b) {
    if (by == "time_ns") return a.total_ns.value_or(-1) > b.total_ns.value_or(-1);
    return a.time_percent.value_or(-1) > b.time_percent.value_or(-1);
  });
}

std::string description(const TopKernel& kernel, std::size_t rank) {
  return fmt::format("Kernel #{} - {:.1f}% of GPU time, {}", rank, kernel.time_percent.value_or(0),
                     counted(kernel.instances, "call"));
}

Node kernel_node(const TopKernels& top, std::size_t rank) {
  const TopKernel& kernel = top.kernels[rank - 1];
  NodeMap entry;
  entry.set("name", Node::string(kernel.name));
  entry.set("regex", Node::string(top.is_trace ? kernels::spelling_regex(kernel.name)
                                               : kernels::exact_regex(kernel.name)));
  entry.set("description", Node::string(description(kernel, rank)));
  return Node::map(std::move(entry));
}

std::string_view about_regexes(const TopKernels& top) {
  if (top.is_trace) {
    return "# Traces spell names unlike ncu. Each regex finds its kernel in either spelling, by "
           "the\n"
           "# function and what tells its template arguments apart; close relatives may match "
           "too.\n";
  }
  return "# Each regex matches one name exactly. To catch relatives of a kernel, replace what\n"
         "# differs between them, such as template arguments, by '.*'.\n";
}

std::string as_yaml(const TopKernels& top, const Request& request, std::size_t all) {
  Node::List kernels;
  for (std::size_t rank = 1; rank <= top.kernels.size(); ++rank) {
    kernels.push_back(kernel_node(top, rank));
  }
  const std::string where = request.range ? ", in range " + printable(*request.range) : "";
  NodeMap document;
  document.set("kernels", Node::list(std::move(kernels)));
  return fmt::format("# Kernels of {} ({}), by {}{}: {} of {}.\n{}",
                     printable(request.report.filename().string()), printable(top.tool),
                     request.sort_by, where, top.kernels.size(), all, about_regexes(top)) +
         write_yaml(Node::map(std::move(document)));
}

Result<std::string> as_json(const TopKernels& top, const Request& request, std::size_t all) {
  Node::List kernels;
  for (const TopKernel& kernel : top.kernels) {
    Node node = kernel_node(top, kernels.size() + 1);
    NodeMap& entry = node.as_map();
    entry.set("time_pct", kernel.time_percent ? Node::real(*kernel.time_percent) : Node());
    entry.set("total_ns", kernel.total_ns ? Node::integer(*kernel.total_ns) : Node());
    entry.set("instances", Node::integer(static_cast<std::int64_t>(kernel.instances)));
    kernels.push_back(std::move(node));
  }
  NodeMap document;
  document.set("schema", Node::string("profline.kernels_top/1"));
  document.set("source", Node::string(request.report.string()));
  document.set("tool", Node::string(top.tool));
  document.set("sort_by", Node::string(request.sort_by));
  document.set("range", request.range ? Node::string(*request.range) : Node());
  document.set("kernels_in_report", Node::integer(static_cast<std::int64_t>(all)));
  document.set("kernels", Node::list(std::move(kernels)));
  return write_json(Node::map(std::move(document)));
}

/// What the file did not give, on stderr. Most events of a trace are of no use here, and only
/// `profline trace` lists them.
void tell(const TopKernels& top, const OutputOptions& output) {
  const Reading& reading = top.reading;
  const auto line = [](const std::string& text) { print_remark("profline: " + printable(text)); };
  for (const std::string& loss : reading.losses) line("incomplete: " + loss);
  if (output.verbosity < 0) return;
  for (const Reading::Skipped& skipped : reading.skipped) {
    if (top.is_trace) break;
    line(fmt::format("skipped {} ({}): {}", skipped.count, skipped.first_position, skipped.reason));
  }
  for (const std::string& note : reading.notes) line("note: " + note);
}

}  // namespace

std::vector<Option> KernelsTopVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--output", "-o", Takes::Value, "FILE", "write there instead of to stdout"},
      {"--topk", "", Takes::Value, "K", "only the first K [all]"},
      {"--sort-by",
       "",
       Takes::Value,
       "COLUMN",
       "share of kernel time, or time [time_pct]",
       {"time_pct", "time_ns"}},
      {"--range", "", Takes::Value, "NAME", "only kernels launched in ranges of this name"},
      {"--nsys", "", Takes::Value, "PROGRAM", "the nsys that reads a .nsys-rep [nsys on PATH]"},
  };
}

Result<ExitCode> KernelsTopVerb::run(const Services& services, const Invocation& invocation) const {
  const Request request = PL_TRY(read_request(invocation.arguments));
  TopKernels top = PL_TRY(read_report(services, request));
  tell(top, invocation.output);
  if (top.kernels.empty()) {
    const std::string where = request.range ? " in ranges named '" + *request.range + "'" : "";
    return Error(ErrorKind::Parse, request.report.string() + ": no kernels" + where);
  }
  fill_shares(top.kernels);
  sort_kernels(top.kernels, request.sort_by);
  const std::size_t all = top.kernels.size();
  if (request.at_most && *request.at_most > all) {
    print_remark(fmt::format("profline: --topk asks for {}, the report has {}",
                             counted(*request.at_most, "kernel"), all));
  }
  if (request.at_most) top.kernels.resize(std::min(*request.at_most, all));
  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(as_json(top, request, all))
                               : as_yaml(top, request, all);
  if (request.output) {
    PL_TRY(write_file_atomic(*request.output, text));
  } else {
    PL_TRY(print_result(text));
  }
  return ExitCode::Done;
}

}  // namespace profline
