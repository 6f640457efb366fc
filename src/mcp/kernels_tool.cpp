#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "mcp/internal/answers.h"
#include "run/names/artifact_names.h"

namespace profline::mcp {
namespace {

bool is_launched_in(const Node& kernel, const std::string& phase) {
  const Node* phases = kernel.find("phases");
  if (phases == nullptr || !phases->is_list()) return false;
  return std::any_of(phases->as_list().begin(), phases->as_list().end(),
                     [&](const Node& part) { return text_of(part, "name") == phase; });
}

bool is_wanted(const Node& kernel, const KernelsArguments& asked) {
  if (asked.search && !contains_text(text_of(kernel, "name"), *asked.search) &&
      !contains_text(text_of(kernel, "short_name"), *asked.search)) {
    return false;
  }
  if (asked.kernel_class && text_of(kernel, "class") != *asked.kernel_class) return false;
  return !asked.phase || is_launched_in(kernel, *asked.phase);
}

std::string shape_text(const Node* sizes) {
  if (sizes == nullptr || !sizes->is_list() || sizes->as_list().empty()) return "";
  std::vector<std::string> texts;
  for (const Node& size : sizes->as_list()) {
    texts.push_back(size.is_int() ? std::to_string(size.as_int()) : "?");
  }
  return join(texts, "x");
}

/// Launches of one kernel with different shapes are different rows.
std::string label_of(const Node& kernel) {
  std::string label = text_of(kernel, "short_name");
  if (label.empty()) label = text_of(kernel, "name");
  const std::string grid = shape_text(kernel.find("grid"));
  if (!grid.empty()) label += " grid " + grid;
  const std::string block = shape_text(kernel.find("block"));
  if (!block.empty()) label += " block " + block;
  return label;
}

void add_gaps(const Node& kernel, const std::string& label, Answer& answer) {
  const auto is_null = [&](const char* key) {
    const Node* value = kernel.find(key);
    return value == nullptr || value->is_null();
  };
  const std::string lacks = text_of(kernel, "lacks");
  if (!lacks.empty()) answer.missing(label, lacks);
  if (is_null("time"))
    answer.missing(label + ": time", "neither nsys nor the torch profiler recorded it");
  if (is_null("counters"))
    answer.missing(label + ": hardware counters", "ncu did not profile it in this run");
  if (is_null("model_flops")) {
    answer.missing(label + ": model_flops", "the shapes of its operator are not known");
  }
}

std::string kernel_classes(const Node& kernels) {
  std::vector<std::string> names;
  for (const Node& kernel : kernels.as_list()) {
    const std::string name = text_of(kernel, "class");
    const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
    if (is_new && !name.empty()) names.push_back(name);
  }
  return names.empty() ? "none" : join(names, ", ");
}

}  // namespace

Result<Answer> answer_kernels(const Sources& sources, const KernelsArguments& asked) {
  const OpenRun run = PL_TRY(open_run(sources, asked.run));
  Answer answer;
  const auto summary = add_summary(run, answer);
  if (!summary) return answer;
  const Node* kernels = answer.tree(*summary).find("kernels");
  if (kernels == nullptr || kernels->as_list().empty()) {
    answer.say("No kernels were captured.");
    answer.missing("kernels", "no tool recorded a kernel in this run");
    add_absent_files(*summary, answer);
    return answer;
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kernels->as_list().size(); ++i) {
    if (is_wanted(kernels->as_list()[i], asked)) found.push_back(i);
  }
  if (found.empty()) {
    answer.say("No such kernel was captured.");
    answer.missing("kernels",
                   "no kernel of this run matches; its classes are: " + kernel_classes(*kernels) +
                       "; its phases are: " + phase_names(answer.tree(*summary)));
    return answer;
  }
  const bool in_detail = found.size() == 1;
  if (found.size() > asked.top) {
    answer.note("more kernels match: narrow the search, or raise top");
    found.resize(asked.top);
  }
  answer.say(in_detail ? "All that is known about the kernel."
                       : "Kernels, most time first; each shape of a launch is a row.");
  for (const std::size_t i : found) {
    const Node& kernel = kernels->as_list()[i];
    const std::string label = label_of(kernel);
    const std::string pointer = below("/kernels", i);
    if (in_detail) {
      answer.every_fact(*summary, pointer, label + ": ");
      add_gaps(kernel, label, answer);
      continue;
    }
    answer.fact(*summary, below(pointer, "name"), label + ": name");
    answer.fact(*summary, below(pointer, "class"), label + ": class");
    answer.facts(*summary, below(pointer, "time"), label, {"total_ns", "share", "launches"});
    answer.fact(*summary, below(below(pointer, "counters"), "bound"), label + ": bound");
    answer.fact(*summary, below(below(below(pointer, "operators"), 0), "name"),
                label + ": operator");
  }
  answer.facts(*summary, "/join", "all kernels",
               {"total_ns", "launches", "outside_ns", "with_counters", "time_source"});
  if (!in_detail) add_absent_files(*summary, answer);
  return answer;
}

}  // namespace profline::mcp
