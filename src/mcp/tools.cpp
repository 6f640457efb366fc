#include "mcp/tools.h"

#include <array>

#include "base/strings.h"
#include "mcp/internal/answers.h"
#include "mcp/internal/arguments.h"
#include "schema/read.h"

namespace profline::mcp {
namespace {

struct Tool {
  std::string_view name;
  std::string_view description;
  Node (*input_schema)();
  Result<Answer> (*call)(const Sources& sources, const Node& arguments);
  bool is_read_only = true;
};

/// A client does not know the line and column in its own message.
Error without_places(const Error& error) {
  std::vector<std::string> texts;
  for (const Error& each : error.each()) texts.push_back(each.message());
  return {ErrorKind::Config, join(texts, "; ")};
}

template <typename Arguments, Result<Answer> (*answer)(const Sources&, const Arguments&)>
constexpr Tool tool(std::string_view name, std::string_view description, bool is_read_only = true) {
  return {name, description, [] { return input_schema<Arguments>(); },
          [](const Sources& sources, const Node& given) -> Result<Answer> {
            const auto arguments = schema::read<Arguments>(given);
            if (!arguments) return without_places(arguments.error());
            return answer(sources, *arguments);
          },
          is_read_only};
}

constexpr std::array kTools = {
    tool<RunsArguments, answer_runs>("runs",
                                     "List and find runs, newest first, with their main metrics; "
                                     "or one run in detail. Start here."),
    tool<SummaryArguments, answer_summary>(
        "summary",
        "What a run measured: time per request, phases and tokens, or any figure of its JSON "
        "files by name. Times are from the run without a profiler unless the name says "
        "otherwise."),
    tool<VerdictArguments, answer_verdict>(
        "verdict",
        "What limits a run, phase by phase: class (launch-, host-, memory-, compute-bound), the "
        "evidence, the largest possible gain and the next step."),
    tool<KernelsArguments, answer_kernels>(
        "kernels",
        "GPU kernels of a run: the most expensive, by name, phase or class; time, launches, "
        "operators, hardware counters, roofline."),
    tool<CompareArguments, answer_compare>(
        "compare",
        "Whether b is faster or slower than a, with intervals. Only FASTER and SLOWER are "
        "changes; UNDECIDED is not a result."),
    tool<TraceArguments, answer_trace>(
        "trace",
        "Summarise a trace file: GPU busy and idle time by cause, kernels, operators, "
        "ranges."),
    tool<ExplainArguments, answer_explain>(
        "explain", "A configuration key: its meaning, type, value, and what set it."),
    tool<PlanArguments, answer_plan>(
        "plan",
        "What a run would do: stages and exact commands, and what would stop it. Runs "
        "nothing."),
};
constexpr Tool kRunTool = tool<PlanArguments, answer_run>(
    "run", "Start a run and wait for its end; plan shows what it will do.", false);

}  // namespace

std::string_view instructions() {
  return "Performance profiles of LLM inference. Every fact names a document and a JSON pointer: "
         "quote value, document and pointer. Do not compute or guess figures that are not facts; "
         "if something is under 'missing', say that it was not measured, and why. A difference "
         "between two runs is one only if compare says FASTER or SLOWER.";
}

std::vector<ToolDescription> Tools::list() const {
  std::vector<ToolDescription> listed;
  for (const Tool& tool : kTools) {
    listed.push_back({tool.name, tool.description, tool.input_schema(), tool.is_read_only});
  }
  if (allow_run_ == AllowRun::Yes) {
    listed.push_back({kRunTool.name, kRunTool.description, kRunTool.input_schema(), false});
  }
  return listed;
}

Result<Node> Tools::call(std::string_view name, const Node& arguments, const Follower& follower) {
  const Tool* chosen = allow_run_ == AllowRun::Yes && name == kRunTool.name ? &kRunTool : nullptr;
  for (const Tool& tool : kTools) {
    if (tool.name == name) chosen = &tool;
  }
  if (chosen == nullptr) {
    return Error(ErrorKind::Config, "unknown tool '" + std::string(name) + "'");
  }
  catalog_.refresh();
  const Answer answer = PL_TRY(chosen->call({catalog_, services_, follower}, arguments));
  return answer.to_node();
}

}  // namespace profline::mcp
