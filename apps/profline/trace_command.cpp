#include "trace_command.h"

#include <unistd.h>

#include <charconv>
#include <deque>
#include <limits>

#include "base/terminal_text.h"
#include "capture_file.h"
#include "command_line.h"
#include "formats/json_write.h"
#include "kernel_classes.h"
#include "standard_streams.h"
#include "trace_export.h"
#include "trace_json.h"
#include "trace_report.h"
#include "trace_text.h"

namespace profline {
namespace {

constexpr std::size_t kDefaultTop = 20;

Result<std::size_t> top_of(const Arguments& arguments) {
  const auto given = arguments.value("--top");
  if (!given) return kDefaultTop;
  if (*given == "all") return std::numeric_limits<std::size_t>::max();
  std::size_t top = 0;
  const char* const end = given->data() + given->size();
  const auto [rest, failure] = std::from_chars(given->data(), end, top);
  if (failure != std::errc() || rest != end || top == 0) {
    return Error(ErrorKind::Config, "--top takes a number above 0 or 'all', not '" + *given + "'");
  }
  return top;
}

operators::OperatorOrder operator_order(const std::string& column) {
  using operators::OperatorOrder;
  if (column == "total") return OperatorOrder::Total;
  if (column == "gpu_self") return OperatorOrder::SelfDevice;
  if (column == "gpu_total") return OperatorOrder::Device;
  return column == "calls" ? OperatorOrder::Calls : OperatorOrder::Self;
}

TraceExport export_kind(const std::string& given) {
  if (given == "perfetto") return TraceExport::Perfetto;
  return given == "csv" ? TraceExport::Csv : TraceExport::Json;
}

/// Of several captures each goes into the folder that was named.
std::filesystem::path export_path(const Arguments& arguments, const Timeline& timeline,
                                  TraceExport what) {
  const auto to = arguments.value("--to");
  std::filesystem::path usual = default_export_path(timeline, what);
  if (!to) return usual;
  return arguments.words.size() > 1 ? std::filesystem::path(*to) / usual
                                    : std::filesystem::path(*to);
}

/// A viewer shows more of a trace than profline reads, Python frames above all.
void tell_what_is_left_out(const Timeline& timeline, const std::filesystem::path& written) {
  const std::string left_out = left_out_of_perfetto(timeline);
  if (left_out.empty()) return;
  print_remark("profline: " + printable(written.string()) +
               " leaves out what profline does not read: " + printable(left_out));
}

Result<void> export_all(const std::vector<TraceReport>& reports, const Arguments& arguments,
                        const OutputOptions& output) {
  const TraceExport what = export_kind(*arguments.value("--export"));
  if (reports.size() > 1 && arguments.has("--to")) {
    std::error_code failure;
    std::filesystem::create_directories(*arguments.value("--to"), failure);
    if (failure) {
      return Error(ErrorKind::Io,
                   "cannot create " + *arguments.value("--to") + ": " + failure.message());
    }
  }
  for (const TraceReport& report : reports) {
    const auto path = export_path(arguments, *report.timeline, what);
    for (const auto& written : PL_TRY(export_trace(report, what, path))) {
      PL_TRY(print_result(printable(written.string()) + "\n"));
    }
    if (what == TraceExport::Perfetto && output.verbosity >= 0) {
      tell_what_is_left_out(*report.timeline, path);
    }
  }
  return {};
}

}  // namespace

std::vector<Option> TraceVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--top", "", Takes::Value, "N", "rows a table shows, or 'all' (default 20)"},
      {"--range", "", Takes::Value, "NAME",
       "only what happened in ranges of this name or glob: 'decode*'"},
      {"--operators-by",
       "",
       Takes::Value,
       "COLUMN",
       "sort the operators by this column [self]",
       {"self", "total", "gpu_self", "gpu_total", "calls"}},
      {"--export",
       "",
       Takes::Value,
       "FORM",
       "write a file instead, with all rows",
       {"perfetto", "csv", "json"}},
      {"--to", "", Takes::Value, "PATH",
       "where the export goes: a file; for csv and several captures a folder"},
      {"--kernel-classes", "", Takes::Value, "FILE",
       "rules for classes of kernels, before the shipped ones"},
  };
}

Result<ExitCode> TraceVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.empty()) {
    return Error(ErrorKind::Config,
                 "no capture given; 'profline trace FILE...' takes Kineto and "
                 "Chrome traces and SQLite exports of nsys")
        .with_reason("usage");
  }
  if (arguments.has("--to") && !arguments.has("--export")) {
    return Error(ErrorKind::Config, "--to says where an export goes: --export is missing");
  }
  const std::size_t top = PL_TRY(top_of(arguments));
  const auto own_classes = arguments.value("--kernel-classes");
  const kernels::Classifier classes = PL_TRY(load_kernel_classes(own_classes));
  TraceReportOptions options;
  options.range = arguments.value("--range");
  options.operator_order = operator_order(arguments.value("--operators-by").value_or("self"));
  std::deque<Timeline> timelines;  // never moved: reports look into them
  std::vector<TraceReport> reports;
  for (const std::string& word : arguments.words) {
    if (services.interrupt.requested()) return Error(ErrorKind::Cancelled, "interrupted");
    timelines.push_back(PL_TRY(read_capture(word)));
    reports.push_back(PL_TRY(trace_report(timelines.back(), classes, options)));
  }
  if (arguments.has("--export")) {
    PL_TRY(export_all(reports, arguments, invocation.output));
  } else if (invocation.output.format == OutputFormat::Json) {
    PL_TRY(print_result(PL_TRY(write_json(trace_document(reports, top)))));
  } else {
    const Palette palette(wants_color(arguments.value("--color"), STDOUT_FILENO));
    const std::size_t width = output_width();
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (i > 0) PL_TRY(print_result("\n\n"));
      PL_TRY(print_result(for_terminal(trace_text(reports[i], top, width, palette))));
    }
  }
  return ExitCode::Done;
}

}  // namespace profline
