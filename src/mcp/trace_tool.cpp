#include <fmt/core.h>

#include "analysis/kernels/classify.h"
#include "mcp/internal/answers.h"
#include "session/configuration.h"
#include "trace_report/report.h"

namespace profline::mcp {
namespace {

void add_table(const Node& capture, std::size_t document, std::string_view table,
               const std::vector<std::string_view>& keys, Answer& answer) {
  const Node* rows = capture.find(table);
  if (rows == nullptr || !rows->is_list()) return;
  for (std::size_t i = 0; i < rows->as_list().size(); ++i) {
    const Node& row = rows->as_list()[i];
    std::string name = text_of(row, "short_name");
    if (name.empty()) name = text_of(row, "name");
    if (name.empty()) name = text_of(row, "class");
    answer.facts(document, below(below("/captures/0", table), i), std::string(table) + " " + name,
                 keys);
  }
}

void add_lacking(const trace_report::Report& report, std::size_t document, Answer& answer) {
  if (report.kernel_instances == 0) {
    answer.missing("kernels", "the capture has none: the device was not traced, or did no work");
  }
  if (report.collectives.empty()) {
    answer.missing("collectives", "the capture describes none");
  }
  if (report.operators.rows.empty()) {
    answer.missing("operators", "the capture has none: nsys does not record those of PyTorch");
  }
  const std::vector<std::string>& losses = report.timeline->reading.losses;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    answer.missing("part of the capture", losses[i]);
    answer.fact(document, below("/captures/0/reading/losses", i), "lost");
  }
}

}  // namespace

Result<Answer> answer_trace(const Sources& sources, const TraceArguments& asked) {
  const std::filesystem::path file = PL_TRY(sources.catalog.inside(asked.file));
  const Timeline timeline = PL_TRY(trace_report::read_capture(file));
  const std::filesystem::path& start = sources.catalog.roots().front();
  const config::SearchPath search_path =
      PL_TRY(session::config_search_path(session::ConfigChoice(), start));
  const kernels::Classifier classes =
      PL_TRY(kernels::classifier_with(PL_TRY(kernels::own_classes(search_path, start))));
  trace_report::Options options;
  options.range = asked.range;
  Answer answer;
  const auto report = trace_report::make_report(timeline, classes, options);
  if (!report && report.error().kind() == ErrorKind::NotFound) {
    answer.say("It was not captured.");
    answer.missing("range '" + asked.range.value_or("") + "'", report.error().to_string());
    return answer;
  }
  if (!report) return report.error();
  std::vector<std::string> words = {"trace", file.string(), "--top", std::to_string(asked.top)};
  if (asked.range) words.insert(words.end(), {"--range", *asked.range});
  const std::size_t document = answer.add(printed_by(
      words, trace_report::trace_document({&*report, 1}, static_cast<std::size_t>(asked.top)),
      start));
  const Node& capture = *at_pointer(answer.tree(document), "/captures/0");
  answer.say("A capture by " + text_of(capture, "tool") + ".");
  const std::string at = "/captures/0";
  answer.facts(document, at, "capture", {"tool", "wall_ns", "rank", "world_size"});
  answer.facts(document, at + "/launches", "launches",
               {"calls", "graph_calls", "kernels", "graph_kernels"});
  answer.facts(document, at + "/accounting/kernels", "all kernels", {"count", "sum_ns"});
  const Node* devices = at_pointer(capture, "/accounting/devices");
  for (std::size_t i = 0; devices != nullptr && i < devices->as_list().size(); ++i) {
    const std::string device = below(at + "/accounting/devices", i);
    const std::string name = fmt::format("GPU {}", i);
    answer.facts(document, device, name,
                 {"busy_ns", "compute_ns", "copy_ns", "communication_ns", "idle_ns",
                  "exposed_communication_ns"});
    answer.every_fact(document, below(device, "idle"), name + " idle: ");
  }
  answer.every_fact(document, at + "/in_range", "in range: ", [](std::string_view what) {
    return what.ends_with("wall_ns") || what.ends_with("instances") || what.ends_with("busy_share");
  });
  add_table(capture, document, "ranges", {"instances", "wall_ns", "mean_busy_share"}, answer);
  add_table(capture, document, "kernels", {"class", "total_ns", "instances"}, answer);
  add_table(capture, document, "kernel_classes", {"total_ns", "instances"}, answer);
  add_table(capture, document, "operators", {"self_ns", "calls", "device_ns"}, answer);
  add_table(capture, document, "collectives", {"total_ns", "instances", "bus_gb_per_s"}, answer);
  add_lacking(*report, document, answer);
  for (std::size_t i = 0; i < timeline.reading.notes.size(); ++i) {
    answer.fact(document, below(at + "/reading/notes", i), "note");
  }
  return answer;
}

}  // namespace profline::mcp
