#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/figures.h"
#include "formats/markdown.h"
#include "report/pages.h"
#include "summary/stage_sources.h"
#include "summary/stage_times.h"
#include "summary/verdict.h"

namespace profline::report {
namespace {

using markdown::code;
using markdown::plain;
using markdown::Table;
using Align = Table::Align;

constexpr std::size_t kShown = 5;
/// Of all the time: stages below it get a line each.
constexpr double kSmall = 0.02;

/// Files as code, each once, in the order of first mention.
std::string sources(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& list : given) {
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(", ", at), list.size());
      const std::string file = list.substr(at, end - at);
      if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) {
        files.push_back(file);
      }
      at = end + 2;
    }
  }
  std::string text;
  for (const std::string& file : files) text += (text.empty() ? "" : ", ") + code(file);
  return text;
}

std::vector<const SummaryStage*> by_share(const RunSummary& summary) {
  std::vector<const SummaryStage*> stages;
  stages.reserve(summary.stages.size());
  for (const SummaryStage& stage : summary.stages) stages.push_back(&stage);
  std::stable_sort(stages.begin(), stages.end(), [](const auto* a, const auto* b) {
    return a->share.value_or(0) > b->share.value_or(0);
  });
  return stages;
}

std::string heading(const ReportModel& model) {
  const RunSummary& summary = model.summary;
  std::string text =
      "# Run " + plain(summary.run) + "\n\n**Verdict: " + plain(summary.verdict) + ".**";
  const SummaryStage* const largest = summary::largest_stage(summary);
  if (largest != nullptr && largest->kind != "unknown") {
    text += " Next: " + plain(largest->next_step) + ".";
  }
  text += "\n\n";
  std::vector<std::string> facts;
  if (!summary.experiment.empty()) facts.push_back("experiment " + plain(summary.experiment));
  facts.push_back(summary.device_name.empty()
                      ? plain(summary.device)
                      : plain(summary.device_name) + " (" + plain(summary.device) + ")");
  if (!summary.dtype.empty()) facts.push_back(plain(summary.dtype + ", engine " + summary.engine));
  if (const auto& request = summary.request) {
    facts.push_back(fmt::format("{}, {:.0f} prompt and {:.0f} new tokens each on average",
                                counted(request->images, "image"), request->prompt_tokens,
                                request->new_tokens));
    facts.push_back(duration(request->mean_ns) + " per request on average");
    if (request->tokens_per_second) {
      facts.push_back(human_rate(*request->tokens_per_second, "tokens") + " in decode");
    }
    if (request->mfu) facts.push_back("MFU of the model " + percent(*request->mfu));
  }
  if (const auto& program = summary.program) {
    facts.push_back(fmt::format(
        "one run without a profiler: {} wall time, {} of CPU time in user and {} in system mode, "
        "at most {} of memory, {}, {}; from {}",
        duration(program->wall_ns), duration(program->cpu_user_ns),
        duration(program->cpu_system_ns), human_bytes(program->max_rss_bytes),
        counted(program->processes, "process"), plain(program->end), code(program->source)));
  }
  for (const std::string& fact : facts) text += "- " + fact + '\n';
  return text;
}

std::string spread(const SummaryStage& stage) {
  if (!stage.time) return duration(stage.mean_ns);
  const SummaryTimes& time = *stage.time;
  if (duration(time.median_low_ns) == duration(time.median_high_ns)) {
    return duration(time.median_ns);
  }
  return fmt::format("{} [{}, {}]", duration(time.median_ns), duration(time.median_low_ns),
                     duration(time.median_high_ns));
}

std::vector<std::string> plain_row(const std::string& name, double share) {
  return {name, "", "", percent(share), "", "", "", "", "", "", ""};
}

std::string stage_table(const RunSummary& summary) {
  Table table({{"stage", Align::Left},
               {"unit", Align::Left},
               {summary.request ? "median [95 %]" : "mean"},
               {"share"},
               {"floor"},
               {"of floor"},
               {"MFU"},
               {"bandwidth"},
               {"GPU busy"},
               {"launches per unit"},
               {"class", Align::Left}});
  const auto& request = summary.request;
  if (request) table.add(plain_row("preprocess", request->preprocess_share));
  for (const SummaryStage& stage : summary.stages) {
    const auto& cost = stage.cost;
    const auto& device = stage.device;
    using Figure = std::optional<double>;
    table.add({code(stage.name), plain(stage.unit), spread(stage), percent(stage.share),
               duration(cost ? cost->floor_ns : Figure()),
               percent(cost ? cost->of_floor : Figure()), percent(cost ? cost->mfu : Figure()),
               percent(cost ? cost->bandwidth : Figure()),
               percent(device ? device->busy_share : Figure()),
               count(device ? device->launches_per_unit : Figure()), plain(stage.kind)});
    const bool ends_prefill = stage.name == "lm" && request;
    if (ends_prefill) table.add(plain_row("rest of prefill", request->unaccounted_share));
  }
  return table.text();
}

std::string stage_section(const RunSummary& summary) {
  if (summary.stages.empty()) {
    return "\n## Where the time goes\n\nNothing was measured stage by stage; see what is missing "
           "below.\n";
  }
  std::string text = "\n## Where the time goes\n\n" + stage_table(summary) + '\n';
  const auto [times, costs, devices, ceilings, shapes] = summary::stage_sources(summary);
  text +=
      summary.request
          ? "- median: per unit without a profiler, with the 95 % interval of the median; share: "
            "of the mean time of a request. Times in the text are means, from which shares and "
            "rates follow; from " +
                sources(times) + '\n'
          : "- mean: per unit under the profiler, which lengthens it; share: of the captured time, "
            "ranges inside one another counted in each; from " +
                sources(times) + '\n';
  if (!costs.empty()) {
    text +=
        "- floor: the theoretical minimum by FLOPs and by bytes of weights and KV cache; "
        "shapes: " +
        plain(shapes) + "; ceilings: " + (ceilings.empty() ? "not known" : plain(ceilings)) +
        "; from " + sources(costs) + '\n';
  }
  if (!devices.empty()) {
    text += summary.request ? "- GPU busy: of the time that the captured inputs take without a "
                              "profiler, where that is known; from "
                            : "- GPU busy: of the time under the profiler; from ";
    text += sources(devices) + '\n';
  }
  return text;
}

std::string evidence_of(const RunSummary& summary, const SummaryStage& stage) {
  std::string text = fmt::format("\n### {}: {}", code(stage.name), plain(stage.kind));
  if (stage.share)
    text += fmt::format(", {} of {}", percent(*stage.share), summary::whole_of(summary));
  text += "\n\n";
  for (const SummaryReason& reason : stage.reasons) {
    text += "- " + plain(reason.text);
    if (!reason.source.empty()) text += " (" + sources({reason.source}) + ")";
    text += '\n';
  }
  for (const SummaryGain& gain : stage.gains) {
    text += "- " + plain(summary::gain_words(stage, gain)) + '\n';
  }
  for (const std::string& lack : stage.lacks) text += "- not known: " + plain(lack) + '\n';
  return text + "\nNext: " + plain(stage.next_step) + ".\n";
}

/// Stages that nothing was there to see, together: they lack the same.
std::string not_judged(const RunSummary& summary, const std::vector<const SummaryStage*>& stages) {
  std::string text = "\n### Not judged\n\n";
  for (const SummaryStage* stage : stages) {
    text += "- " + code(stage->name);
    if (stage->share)
      text += fmt::format(", {} of {}", percent(*stage->share), summary::whole_of(summary));
    if (!stage->reasons.empty()) text += ": " + plain(stage->reasons.front().text);
    text += '\n';
    for (const std::string& lack : stage->lacks) text += "  - not known: " + plain(lack) + '\n';
  }
  return text + "\nNext: " + plain(stages.front()->next_step) + ".\n";
}

/// One line; all of its evidence is in summary.json.
std::string small_stage(const RunSummary& summary, const SummaryStage& stage) {
  std::string text = fmt::format("- {}: {}, {} of {}", code(stage.name), plain(stage.kind),
                                 percent(stage.share), summary::whole_of(summary));
  if (!stage.reasons.empty()) text += "; " + plain(stage.reasons.front().text);
  return text + '\n';
}

std::string kernel_section(const RunSummary& summary) {
  std::string text = "\n## Kernels\n\n";
  if (summary.kernels.empty()) return text + "None; [kernels.md](kernels.md) says why.\n";
  Table table({{"kernel", Align::Left},
               {"class", Align::Left},
               {"time"},
               {"share"},
               {"launches"},
               {"operator", Align::Left},
               {"bound", Align::Left}});
  for (std::size_t i = 0; i < std::min(kShown, summary.kernels.size()); ++i) {
    const SummaryKernel& kernel = summary.kernels[i];
    table.add({code(kernel.short_name, 60),
               kernel.kernel_class.empty() ? "–" : plain(kernel.kernel_class),
               kernel.time ? duration(kernel.time->total_ns) : "–",
               kernel.time ? percent(kernel.time->share) : "–",
               kernel.time ? std::to_string(kernel.time->launches) : "–",
               kernel.operators.empty() ? "–" : code(kernel.operators.front().name),
               kernel.counters ? plain(kernel.counters->bound) : "–"});
  }
  text +=
      table.text() + fmt::format(
                         "\nThe first {} of {}; [kernels.md](kernels.md) has more. "
                         "Times from {}.\n",
                         std::min(kShown, summary.kernels.size()),
                         counted(summary.kernels.size(), "row"), code(summary.join.time_source));
  return text;
}

std::string operator_section(const ReportModel& model) {
  const auto& operators = model.run.operators;
  if (!operators || operators->operators.empty()) return "";
  Table table({{"operator", Align::Left}, {"calls"}, {"self CPU"}, {"self device"}});
  for (std::size_t i = 0; i < std::min(kShown, operators->operators.size()); ++i) {
    const TorchOperator& row = operators->operators[i];
    table.add({code(row.name), std::to_string(row.calls),
               duration(static_cast<double>(row.self_cpu_ns)),
               row.self_device_ns > 0 ? duration(static_cast<double>(row.self_device_ns)) : "–"});
  }
  return "\n## Operators\n\n" + table.text() +
         fmt::format(
             "\nThe first {} of {} by self time on the CPU, under the torch profiler; "
             "[operators.md](operators.md) has more. From {}.\n",
             std::min(kShown, operators->operators.size()), operators->operators.size(),
             code(operators.file));
}

std::string overhead_section(const RunSummary& summary) {
  if (summary.overhead.empty()) return "";
  Table table({{"profiler", Align::Left},
               {"phase", Align::Left},
               {"units"},
               {"without"},
               {"with"},
               {"slow-down"},
               {"from", Align::Left}});
  for (const SummaryOverhead& row : summary.overhead) {
    table.add({code(row.stage), plain(row.phase),
               counted(static_cast<std::uint64_t>(row.units), row.unit), duration(row.baseline_ns),
               duration(row.profiled_ns), fmt::format("{:.2f}x", row.slowdown), code(row.source)});
  }
  return "\n## What each profiler cost\n\n" + table.text() +
         (summary.program
              ? "\nWall times of the program's process.\n"
              : "\nThe workload's own times for the same images, with the profiler and in "
                "`baseline/`.\n");
}

std::string spread_section(const ReportModel& model) {
  const auto& baseline = model.run.baseline;
  if (!baseline || baseline->empty()) return "";
  const Node* const metrics = model.run.metrics ? &*model.run.metrics : nullptr;
  Table table({{"what", Align::Left},
               {"n"},
               {"mean"},
               {"std"},
               {"median"},
               {"p90"},
               {"p99"},
               {"min"},
               {"max"}});
  for (const char* stage : {"preprocess", "prefill", "sam", "clip", "projector", "lm", "decode"}) {
    const auto times = summary::stage_spread(*baseline, metrics, stage);
    if (!times || times->max_ns <= 0) continue;
    const bool is_decode = std::string_view(stage) == "decode";
    table.add({is_decode ? "decode, per token" : stage, std::to_string(times->n),
               duration(times->mean_ns), duration(times->std_ns), duration(times->median_ns),
               duration(times->p90_ns), duration(times->p99_ns), duration(times->min_ns),
               duration(times->max_ns)});
  }
  return "\n## Spread of the unprofiled times\n\n" + table.text() + "\nFrom " +
         sources({model.run.metrics ? model.run.metrics.file : baseline.file}) + ".\n";
}

std::string run_section(const RunRecord& run) {
  Table table({{"stage", Align::Left}, {"state", Align::Left}, {"time"}, {"limits", Align::Left}});
  std::string findings;
  for (const StageRecord& stage : run.stages) {
    std::string limits;
    for (const std::string& limit : stage.limits) {
      limits += (limits.empty() ? "" : "; ") + plain(limit);
    }
    const bool has_run = stage.timing.total_ns > 0;
    table.add(
        {plain(stage.name), std::string(to_text(stage.state)),
         has_run ? human_elapsed(FractionalNanoseconds(static_cast<double>(stage.timing.total_ns)))
                 : "–",
         limits});
    for (const Finding& finding : stage.findings) {
      findings += "- " + plain(stage.name) + ": " + plain(finding.text);
      if (!finding.fix.empty()) findings += "; " + plain(finding.fix);
      findings += '\n';
    }
  }
  for (const Finding& finding : run.findings) {
    findings +=
        "- " + plain(finding.text) + (finding.fix.empty() ? "" : "; " + plain(finding.fix)) + '\n';
  }
  std::string text = "\n## Stages of the run\n\n" + table.text();
  if (!findings.empty()) text += "\nFindings:\n\n" + findings;
  return text + "\nFrom `run.json`; commands, environments and checksums are there.\n";
}

std::string missing_section(const RunSummary& summary) {
  std::string text;
  for (const SummaryAbsent& absent : summary.absent) {
    text += "- " + code(absent.file) + ": " + plain(absent.why) + '\n';
  }
  for (const std::string& note : summary.notes) text += "- " + plain(note) + '\n';
  if (!summary.join.apart.empty()) {
    text += fmt::format("- {} did not join: [kernels.md](kernels.md)\n",
                        counted(summary.join.apart.size(), "kernel"));
  }
  if (text.empty()) return "";
  return "\n## What is missing\n\n" + text;
}

}  // namespace

std::string report_page(const ReportModel& model) {
  const RunSummary& summary = model.summary;
  std::string text = heading(model) + stage_section(summary);
  if (!summary.stages.empty()) text += "\n## Evidence\n";
  std::string small;
  std::vector<const SummaryStage*> unknown;
  for (const SummaryStage* stage : by_share(summary)) {
    if (stage->kind == "unknown" && summary::is_worth_a_step(*stage)) {
      unknown.push_back(stage);
    } else if (stage->share && *stage->share < kSmall) {
      small += small_stage(summary, *stage);
    } else {
      text += evidence_of(summary, *stage);
    }
  }
  if (!small.empty()) text += "\n### Smaller stages\n\n" + small;
  if (!unknown.empty()) text += not_judged(summary, unknown);
  text += kernel_section(summary) + operator_section(model) + overhead_section(summary);
  text += spread_section(model) + run_section(model.run.run) + missing_section(summary);
  return text;
}

}  // namespace profline::report
