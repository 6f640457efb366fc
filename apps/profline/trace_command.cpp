#include <unistd.h>

#include <deque>

#include "analysis/kernels/classify.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "session/configuration.h"
#include "standard_streams.h"
#include "trace_report/report.h"
#include "trace_text.h"
#include "verb.h"

namespace profline {
namespace {

operators::OperatorOrder operator_order(const std::string& column) {
  using operators::OperatorOrder;
  if (column == "total") return OperatorOrder::Total;
  if (column == "gpu_self") return OperatorOrder::SelfDevice;
  if (column == "gpu_total") return OperatorOrder::Device;
  return column == "calls" ? OperatorOrder::Calls : OperatorOrder::Self;
}

trace_report::Export export_kind(const std::string& given) {
  if (given == "perfetto") return trace_report::Export::Perfetto;
  return given == "csv" ? trace_report::Export::Csv : trace_report::Export::Json;
}

/// With several captures, each goes into the named folder.
std::filesystem::path export_path(const Arguments& arguments, const Timeline& timeline,
                                  trace_report::Export what) {
  const auto to = arguments.value("--to");
  std::filesystem::path usual = trace_report::default_export_path(timeline, what);
  if (!to) return usual;
  return arguments.words.size() > 1 ? std::filesystem::path(*to) / usual
                                    : std::filesystem::path(*to);
}

/// A viewer shows more of a trace than profline reads, especially Python frames.
void report_what_is_left_out(const Timeline& timeline, const std::filesystem::path& written) {
  const std::string left_out = trace_report::left_out_of_perfetto(timeline);
  if (left_out.empty()) return;
  print_remark("profline: " + printable(written.string()) +
               " leaves out what profline does not read: " + printable(left_out));
}

Result<void> export_all(const std::vector<trace_report::Report>& reports,
                        const Arguments& arguments, const OutputOptions& output) {
  const trace_report::Export what = export_kind(*arguments.value("--export"));
  if (reports.size() > 1 && arguments.has("--to")) {
    std::error_code failure;
    std::filesystem::create_directories(*arguments.value("--to"), failure);
    if (failure) {
      return Error(ErrorKind::Io,
                   "cannot create " + *arguments.value("--to") + ": " + failure.message());
    }
  }
  for (const trace_report::Report& report : reports) {
    const auto path = export_path(arguments, *report.timeline, what);
    for (const auto& written : PL_TRY(trace_report::export_trace(report, what, path))) {
      PL_TRY(print_result(printable(written.string()) + "\n"));
    }
    if (what == trace_report::Export::Perfetto && output.verbosity >= 0) {
      report_what_is_left_out(*report.timeline, path);
    }
  }
  return {};
}

/// `profline trace FILE...`: summarises captures of any origin.
class TraceVerb final : public Verb {
 public:
  std::string_view name() const override { return "trace"; }
  std::string_view summary() const override {
    return "summarise a Kineto or Chrome trace or an nsys report";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline trace trace.json.gz",
         "kernels, operators and idle time of a torch.profiler trace"},
        {"profline trace run.sqlite --range decode", "only events in one NVTX range"},
    };
  }
  std::string_view words() const override { return "FILE..."; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> TraceVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--top", "", Takes::Value, "N", "rows per table, or 'all' [20]"},
      {"--range", "", Takes::Value, "NAME",
       "only events in ranges with this name or glob, such as 'decode*'"},
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
       "write all rows to a file instead",
       {"perfetto", "csv", "json"}},
      {"--to", "", Takes::Value, "PATH",
       "where to write the export: a file; for csv and for several captures a folder"},
      {"--kernel-classes", "", Takes::Value, "FILE",
       "kernel class rules, tried before the shipped ones"},
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
  const std::size_t top = PL_TRY(rows_asked_for(arguments)).value_or(kDefaultTop);
  const config::SearchPath search_path =
      PL_TRY(session::config_search_path(session::ConfigChoice(), std::filesystem::current_path()));
  const kernels::Classifier classes = PL_TRY(kernels::classifier_with(PL_TRY(kernels::own_classes(
      search_path, std::filesystem::current_path(), arguments.value("--kernel-classes")))));
  trace_report::Options options;
  options.range = arguments.value("--range");
  options.operator_order = operator_order(arguments.value("--operators-by").value_or("self"));
  std::deque<Timeline> timelines;  // a deque never moves them: reports refer to them
  std::vector<trace_report::Report> reports;
  for (const std::string& word : arguments.words) {
    if (services.interrupt.requested()) return Error(ErrorKind::Cancelled, "interrupted");
    timelines.push_back(PL_TRY(trace_report::read_capture(word)));
    reports.push_back(PL_TRY(trace_report::make_report(timelines.back(), classes, options)));
  }
  if (arguments.has("--export")) {
    PL_TRY(export_all(reports, arguments, invocation.output));
  } else if (invocation.output.format == OutputFormat::Json) {
    PL_TRY(print_result(PL_TRY(write_json(trace_report::trace_document(reports, top)))));
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

std::unique_ptr<Verb> trace_verb() {
  return std::make_unique<TraceVerb>();
}

}  // namespace profline
