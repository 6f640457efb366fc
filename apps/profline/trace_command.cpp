

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <span>

#include <fmt/core.h>

#include "analysis/kernels/classify.h"
#include "analysis/ranks/analysis.h"
#include "analysis/timeline/accounting.h"
#include "analysis/timeline/transfers.h"
#include "base/figures.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "ranks_text.h"
#include "session/configuration.h"
#include "standard_streams.h"
#include "trace_report/ranks.h"
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

/// Whether the captures may be compared as ranks: with options that concern each of them, only on
/// request, which is then an Error.
Result<bool> may_be_ranks(const Arguments& arguments) {
  const std::string when = arguments.value("--ranks").value_or("auto");
  if (when == "no") return false;
  for (const char* option : {"--range", "--export", "--operators-by"}) {
    if (!arguments.has(option)) continue;
    if (when == "auto") return false;
    return Error(ErrorKind::Config, std::string("--ranks yes and ") + option +
                                        " cannot be combined: " + option +
                                        " applies to each capture on its own");
  }
  if (when == "yes") return true;
  // A pipe can be read only once, and it may turn out that each capture is reported on its own.
  const auto is_file = [](const std::string& word) {
    std::error_code unknown;
    return std::filesystem::is_regular_file(word, unknown);
  };
  return arguments.words.size() > 1 &&
         std::all_of(arguments.words.begin(), arguments.words.end(), is_file);
}

RankAnalysis analysis_of(ranks::Job job) {
  const std::string ranks_from = ranks::number_ranks(job.captures);
  RankAnalysis analysis = ranks::analyse(job.captures);
  analysis.ranks_from = ranks_from;
  for (std::string& note : job.notes) analysis.notes.push_back(std::move(note));
  return analysis;
}

/// The comparison of the captures; nothing if they are not ranks of one program.
Result<std::optional<RankAnalysis>> compare_as_ranks(const Arguments& arguments,
                                                     const kernels::Classifier& classes) {
  if (!PL_TRY(may_be_ranks(arguments))) return std::optional<RankAnalysis>();
  auto job = trace_report::read_ranks(arguments.words, classes);
  const bool is_requested = arguments.value("--ranks") == "yes";
  // What is wrong with a capture is reported as it is without ranks.
  if (!job && !is_requested) return std::optional<RankAnalysis>();
  if (!job) return job.error();
  if (job->captures.size() < 2 && is_requested) {
    return Error(
        ErrorKind::Config,
        "--ranks yes needs captures of two ranks or more, but there is one, of one process");
  }
  if (!is_requested && !trace_report::are_ranks(job->captures)) {
    return std::optional<RankAnalysis>();
  }
  return std::optional(analysis_of(*std::move(job)));
}

/// The processes of a single capture that communicated, compared; nothing for other captures.
std::optional<RankAnalysis> compare_processes(const Timeline& timeline, const Arguments& arguments,
                                              const kernels::Classifier& classes) {
  if (arguments.words.size() != 1 || arguments.has("--range") ||
      arguments.value("--ranks") == "no") {
    return std::nullopt;
  }
  ranks::Job job = ranks::processes_as_ranks(timeline, classes);
  if (job.captures.empty()) return std::nullopt;
  return analysis_of(std::move(job));
}

/// A file that is given twice would be compared with itself, or exported twice to one place.
Result<void> check_given_once(std::span<const std::string> files) {
  std::set<std::filesystem::path> known;
  for (const std::string& file : files) {
    std::error_code failure;
    const auto path = std::filesystem::absolute(file, failure).lexically_normal();
    if (!failure && !known.insert(path).second) {
      return Error(ErrorKind::Config, "'" + file + "' is given twice: name each capture once");
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
        {"profline trace rank*.json.gz", "one table across the ranks of a program"},
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
      {"--ranks",
       "",
       Takes::Value,
       "WHEN",
       "compare several captures as the ranks of one program: yes, no (each on its own), or auto: "
       "if "
       "they took part in the same collectives [auto]",
       {"auto", "yes", "no"}},
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
  PL_TRY(check_given_once(arguments.words));
  const std::size_t top = PL_TRY(rows_asked_for(arguments)).value_or(kDefaultTop);
  const config::SearchPath search_path =
      PL_TRY(session::config_search_path(session::ConfigChoice(), std::filesystem::current_path()));
  const kernels::Classifier classes = PL_TRY(kernels::classifier_with(PL_TRY(kernels::own_classes(
      search_path, std::filesystem::current_path(), arguments.value("--kernel-classes")))));
  const Palette palette(wants_color(arguments.value("--color"), STDOUT_FILENO));
  const std::size_t width = output_width();
  const bool as_json = invocation.output.format == OutputFormat::Json;
  if (const auto ranks = PL_TRY(compare_as_ranks(arguments, classes))) {
    PL_TRY(print_result(as_json ? PL_TRY(to_document(*ranks))
                                : ranks_text(*ranks, top, width, palette)));
    return ExitCode::Done;
  }
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
    return ExitCode::Done;
  }
  const auto processes = compare_processes(timelines.front(), arguments, classes);
  if (as_json) {
    Node document = trace_report::trace_document(reports, top);
    if (processes) document.as_map().set("ranks", schema::write(*processes));
    PL_TRY(print_result(PL_TRY(write_json(document))));
    return ExitCode::Done;
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (i > 0) PL_TRY(print_result("\n\n"));
    PL_TRY(print_result(for_terminal(trace_text(reports[i], top, width, palette))));
  }
  if (processes) PL_TRY(print_result("\n\n" + ranks_text(*processes, top, width, palette)));
  return ExitCode::Done;
}

std::unique_ptr<Verb> trace_verb() {
  return std::make_unique<TraceVerb>();
}

namespace {

using timeline::ActiveSpan;
using timeline::CollectiveRow;
using timeline::TransferRow;
using trace_report::Report;
using Align = TextTable::Align;

std::string bytes_text(std::uint64_t bytes, std::uint64_t sized) {
  return sized > 0 ? human_bytes(bytes) : "–";
}

/// `pinned -> device`; for a fill `device`; nothing if neither side is known.
std::string memory_of(const TransferRow& row) {
  const std::string from(timeline::to_text(row.from));
  const std::string to(timeline::to_text(row.to));
  if (from.empty()) return to;
  return from + " -> " + (to.empty() ? "?" : to);
}

std::string heading(std::string_view title, std::string_view more, const Palette& palette) {
  std::string line = '\n' + palette.heading(title);
  if (!more.empty()) line += "  " + palette.faint(more);
  return line + '\n';
}

/// For a table that is restricted to the ranges of the report.
std::string heading_in(const Report& report, std::string_view title, std::string more,
                       const Palette& palette) {
  if (report.range) more = "in '" + printable(*report.range) + "'; " + more;
  return heading(title, more, palette);
}

std::string rest(std::size_t all, std::size_t top, const Palette& palette) {
  return all > top ? palette.faint(fmt::format("  and {} more\n", all - top)) : "";
}

std::string range_name(const Report& report, const timeline::RangeAccount& range) {
  std::string name = range.label;
  const std::string& domain = report.timeline->names.text(range.domain);
  if (!domain.empty()) name += " @" + domain;
  if (range.still_open > 0) name += fmt::format(" ({} not closed)", range.still_open);
  return name;
}

std::string ranges_legend(std::size_t devices) {
  if (devices < 2) return "GPU busy: while the range was open; own: GPU time launched in it";
  return fmt::format(
      "GPU busy: while the range was open, mean of {0} GPUs; own: GPU time launched in it, sum of "
      "{0} GPUs",
      devices);
}

}  // namespace

std::string gpu_spans_text(const Report& report, std::size_t width, const Palette& palette) {
  const timeline::Accounting& all = report.accounting;
  if (all.devices.empty() || report.range) return "";
  TextTable table({{"device", Align::Left}, {"from"}, {"to"}, {"span"}, {"busy"}, {"of span"}});
  const auto add = [&](const std::string& device, const ActiveSpan& span, std::int64_t busy_ns,
                       std::int64_t of_ns) {
    table.add({device, duration(span.begin_ns - all.begin_ns), duration(span.end_ns - all.begin_ns),
               duration(span.length_ns()), duration(busy_ns), percent_of(busy_ns, of_ns)});
  };
  std::int64_t busy_ns = 0;
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    const std::int64_t own_ns = all.time[i].busy_ns();
    busy_ns += own_ns;
    add(fmt::format("GPU {}", all.devices[i]), all.active[i], own_ns, all.active[i].length_ns());
  }
  if (all.devices.size() > 1) {
    const auto devices = static_cast<std::int64_t>(all.devices.size());
    const ActiveSpan span = all.active_of_all();
    add(fmt::format("mean of {}", devices), span, busy_ns / devices, span.length_ns());
  }
  return heading("GPU span", "from the first to the last activity of the device", palette) +
         table.render(width, palette);
}

std::string ranges_text(const Report& report, std::size_t top, std::size_t width,
                        const Palette& palette) {
  const timeline::Accounting& all = report.accounting;
  if (all.ranges.empty()) return "";
  TextTable table({{"range", Align::Left, true},
                   {"count"},
                   {"host time"},
                   {"GPU busy"},
                   {"own"},
                   {"launches", Align::Right, false, 1},
                   {"kernels", Align::Right, false, 2}});
  std::size_t shown = 0;
  for (const timeline::RangeAccount& range : all.ranges) {
    if (shown++ == top) break;
    std::int64_t own_ns = 0;
    for (const timeline::OwnTime& own : range.own) own_ns += own.busy_ns;
    const std::optional<double> busy = range.busy_share();
    table.add({range_name(report, range), std::to_string(range.instances), duration(range.wall_ns),
               percent(busy), duration(own_ns), std::to_string(range.launch.launches),
               std::to_string(range.work.count)});
  }
  std::string out = heading("ranges", ranges_legend(all.devices.size()), palette);
  out += table.render(width, palette);
  out += rest(all.ranges.size(), top, palette);
  if (all.outside_ranges.count > 0) {
    out += "  " + counted(all.outside_ranges.count, "piece", "pieces") + " of work (" +
           duration(all.outside_ranges.sum_ns) + ") in no range\n";
  }
  return out;
}

std::string copies_text(const Report& report, std::size_t top, std::size_t width,
                        const Palette& palette) {
  if (report.copies.empty()) return "";
  TextTable table({{"time"},
                   {"count"},
                   {"mean", Align::Right, false, 1},
                   {"bytes"},
                   {"GB/s"},
                   {"direction", Align::Left},
                   {"memory", Align::Left, false, 2},
                   {"what", Align::Left, true}});
  for (std::size_t i = 0; i < std::min(top, report.copies.size()); ++i) {
    const TransferRow& row = report.copies[i];
    table.add({duration(row.total_ns), std::to_string(row.instances), duration(row.mean_ns()),
               bytes_text(row.bytes, row.sized), plain_number(row.gigabytes_per_second()),
               std::string(row.direction), or_dash(memory_of(row)),
               report.timeline->names.text(row.name)});
  }
  return heading_in(report, "copies and fills", "GB/s: while they ran", palette) +
         table.render(width, palette) + rest(report.copies.size(), top, palette);
}

std::string collectives_text(const Report& report, std::size_t top, std::size_t width,
                             const Palette& palette) {
  if (report.collectives.empty()) return "";
  TextTable table({{"time"},
                   {"count"},
                   {"bytes"},
                   {"GB/s"},
                   {"bus GB/s"},
                   {"ranks", Align::Right, false, 1},
                   {"type", Align::Left, false, 2},
                   {"group", Align::Left, false, 3},
                   {"collective", Align::Left, true}});
  for (std::size_t i = 0; i < std::min(top, report.collectives.size()); ++i) {
    const CollectiveRow& row = report.collectives[i];
    table.add({row.kernels > 0 ? duration(row.total_ns) : "–", std::to_string(row.instances),
               bytes_text(row.bytes, row.sized), plain_number(row.algorithm_gigabytes_per_second()),
               plain_number(row.bus_gigabytes_per_second()),
               row.ranks > 0 ? std::to_string(row.ranks) : "–", or_dash(row.dtype),
               or_dash(row.group), row.name});
  }
  return heading_in(report, "collectives", "kernel time includes waiting for other ranks",
                    palette) +
         table.render(width, palette) + rest(report.collectives.size(), top, palette);
}

}  // namespace profline
