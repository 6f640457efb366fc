#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "base/terminal_text.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "standard_streams.h"
#include "trace_report/report.h"
#include "verb.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using trace_report::TopKernel;
using trace_report::TopKernels;
using trace_report::TopKernelsQuery;

struct TopRequest {
  TopKernelsQuery query;
  std::optional<fs::path> output;
  std::optional<std::size_t> at_most;
  std::string sort_by;
};

Result<TopRequest> read_request(const Arguments& arguments) {
  if (arguments.words.size() != 1) {
    return Error(ErrorKind::Config,
                 "'kernels top' takes one report, as in 'profline kernels top run.sqlite'")
        .with_reason("usage");
  }
  TopRequest request;
  request.query.report = arguments.words.front();
  request.query.range = arguments.value("--range");
  request.query.nsys = arguments.value("--nsys").value_or("nsys");
  request.output = arguments.value("--output");
  request.sort_by = arguments.value("--sort-by").value_or("time_pct");
  if (request.sort_by == "time_ns") request.query.order = TopKernelsQuery::Order::Time;
  request.at_most = PL_TRY(whole_number(arguments, "--topk"));
  return request;
}

std::string description(const TopKernel& kernel, std::size_t rank) {
  return fmt::format("Kernel #{} - {} of GPU time, {}", rank,
                     percent(kernel.time_percent.value_or(0) / 100),
                     counted(kernel.instances, "call"));
}

Node kernel_node(const TopKernels& top, std::size_t rank) {
  const TopKernel& kernel = top.kernels[rank - 1];
  NodeMap entry;
  entry.set("name", Node::string(kernel.name));
  entry.set("regex", Node::string(regex_of(kernel, top)));
  entry.set("description", Node::string(description(kernel, rank)));
  return Node::map(std::move(entry));
}

std::string_view about_regexes(const TopKernels& top) {
  if (top.is_trace) {
    return "# Traces and ncu spell names differently. Each regex finds its kernel in either "
           "spelling,\n"
           "# by the function and what distinguishes its template arguments; close relatives may "
           "match\n"
           "# too.\n";
  }
  return "# Each regex matches one name exactly. To catch relatives of a kernel, replace what\n"
         "# differs between them, such as template arguments, by '.*'.\n";
}

std::string as_yaml(const TopKernels& top, const TopRequest& request, std::size_t all) {
  Node::List kernels;
  for (std::size_t rank = 1; rank <= top.kernels.size(); ++rank) {
    kernels.push_back(kernel_node(top, rank));
  }
  const std::string where =
      request.query.range ? ", in range " + printable(*request.query.range) : "";
  NodeMap document;
  document.set("kernels", Node::list(std::move(kernels)));
  return fmt::format("# Kernels of {} ({}), by {}{}: {} of {}.\n{}",
                     printable(request.query.report.filename().string()), printable(top.tool),
                     request.sort_by, where, top.kernels.size(), all, about_regexes(top)) +
         write_yaml(Node::map(std::move(document)));
}

Result<std::string> as_json(const TopKernels& top, const TopRequest& request, std::size_t all) {
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
  document.set("source", Node::string(request.query.report.string()));
  document.set("tool", Node::string(top.tool));
  document.set("sort_by", Node::string(request.sort_by));
  document.set("range", request.query.range ? Node::string(*request.query.range) : Node());
  document.set("kernels_in_report", Node::integer(static_cast<std::int64_t>(all)));
  document.set("kernels", Node::list(std::move(kernels)));
  return write_json(Node::map(std::move(document)));
}

/// Reports on stderr what the file lacked. Most events of a trace are irrelevant here, and only
/// `profline trace` lists them.
void report_gaps(const TopKernels& top, const OutputOptions& output) {
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

/// `profline kernels top REPORT`: the kernels of a report by time, as YAML with names and regular
/// expressions. The report is an SQLite export of nsys, a CSV kernel summary of `nsys stats`, a
/// .nsys-rep (which needs nsys), or a Kineto trace.
class KernelsTopVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels top"; }
  std::string_view summary() const override {
    return "list the kernels of an nsys report or a trace by time, for kernels profile";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline kernels top run.sqlite --topk 10",
         "the ten kernels that take the most time, as YAML"},
    };
  }
  std::string_view words() const override { return "REPORT"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> KernelsTopVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--output", "-o", Takes::Value, "FILE", "write to this file instead of stdout"},
      {"--topk", "", Takes::Value, "K", "only the first K [all]"},
      {"--sort-by",
       "",
       Takes::Value,
       "COLUMN",
       "sort by share of kernel time or by time [time_pct]",
       {"time_pct", "time_ns"}},
      {"--range", "", Takes::Value, "NAME", "only kernels launched in ranges with this name"},
      {"--nsys", "", Takes::Value, "PROGRAM", "the nsys that reads a .nsys-rep [nsys on PATH]"},
  };
}

Result<ExitCode> KernelsTopVerb::run(const Services& services, const Invocation& invocation) const {
  const TopRequest request = PL_TRY(read_request(invocation.arguments));
  TopKernels top = PL_TRY(trace_report::read_top_kernels(request.query, services.processes));
  report_gaps(top, invocation.output);
  if (top.kernels.empty()) {
    const std::string where =
        request.query.range ? " in ranges named '" + *request.query.range + "'" : "";
    return Error(ErrorKind::Parse, request.query.report.string() + ": no kernels" + where);
  }
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

std::unique_ptr<Verb> kernels_top_verb() {
  return std::make_unique<KernelsTopVerb>();
}

}  // namespace profline
