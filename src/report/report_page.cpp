

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/files.h"
#include "formats/markup.h"
#include "report/write_reports.h"
#include "run/names/artifact_names.h"
#include "summary/load.h"
#include "summary/steadiness.h"
#include "summary/verdict.h"

namespace profline::report {
namespace {

using markdown::code;
using markdown::plain;
using markdown::Table;
using Align = Table::Align;

constexpr std::size_t kRowsOfReport = 5;

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

std::string token_words(const SummaryRequest& request) {
  if (!request.prompt_tokens || !request.new_tokens) return "";
  if (request.unit == "batch") {
    return fmt::format(
        ", of which the longest sequences have {:.0f} prompt and {:.0f} new tokens on average",
        *request.prompt_tokens, *request.new_tokens);
  }
  return fmt::format(", {:.0f} prompt and {:.0f} new tokens each on average",
                     *request.prompt_tokens, *request.new_tokens);
}

std::string heading(const ReportModel& model) {
  const RunSummary& summary = model.summary;
  std::string text =
      "# Run " + plain(summary.run) + "\n\n**Verdict: " + plain(summary.verdict) + ".**";
  const PhaseSummary* const phase = summary::phase_to_improve(summary);
  if (phase != nullptr && summary::has_one_limit(*phase)) {
    text += " Next: " + plain(phase->next_step) + ".";
  }
  text += "\n\n";
  std::vector<std::string> facts;
  if (!summary.experiment.empty()) facts.push_back("experiment " + plain(summary.experiment));
  if (const auto& load = summary.load) {
    facts.push_back("server " + plain(load->url) +
                    (load->model.empty() ? "" : ", model " + plain(load->model)) +
                    (load->server.empty() ? "" : ", " + plain(load->server)));
  }
  if (!summary::is_only_load(summary)) {
    facts.push_back(summary.device_name.empty()
                        ? plain(summary.device)
                        : plain(summary.device_name) + " (" + plain(summary.device) + ")");
  }
  if (!summary.dtype.empty()) {
    facts.push_back(plain(summary.dtype) +
                    (summary.engine.empty() ? "" : ", engine " + plain(summary.engine)));
  }
  if (const auto& request = summary.request) {
    facts.push_back(counted(request->requests, request->unit) + token_words(*request));
    facts.push_back(duration(request->mean_ns) + " per request on average");
    const PhaseSummary* const leading = summary::leading_phase(summary);
    if (request->ttft && summary.program) {
      facts.push_back("time to first token " + duration(request->ttft->median_ns) + " (median)");
    }
    if (request->tokens_per_second && leading != nullptr) {
      facts.push_back(human_rate(*request->tokens_per_second, "tokens") + " in " +
                      plain(leading->name));
    }
    if (request->mfu) facts.push_back("model-level MFU " + percent(*request->mfu));
    const std::string doubt = summary::doubt_words(summary);
    if (!doubt.empty()) facts.push_back(doubt);
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

std::string spread(const PhaseSummary& phase) {
  if (!phase.time) return "";
  const SummaryTimes& time = *phase.time;
  if (duration(time.median_low_ns) == duration(time.median_high_ns)) {
    return duration(time.median_ns);
  }
  return fmt::format("{} [{}, {}]", duration(time.median_ns), duration(time.median_low_ns),
                     duration(time.median_high_ns));
}

std::vector<std::string> plain_row(const std::string& name, double share) {
  return {name, "", "", "", percent(share), "", "", "", "", "", "", ""};
}

std::string phase_table(const RunSummary& summary) {
  Table table({{"phase", Align::Left},
               {"unit", Align::Left},
               {"mean"},
               {"median [95 %]"},
               {"share"},
               {"floor"},
               {"of floor"},
               {"MFU"},
               {"bandwidth"},
               {"GPU busy"},
               {"launches per unit"},
               {"class", Align::Left}});
  for (const summary::PhaseLine& line : summary::phase_lines(summary)) {
    if (line.phase == nullptr) {
      table.add(plain_row(line.name, line.share));
      continue;
    }
    const PhaseSummary& phase = *line.phase;
    const auto& cost = phase.cost;
    const auto& device = phase.device;
    using Figure = std::optional<double>;
    table.add({code(phase.name), plain(phase.unit), duration(phase.mean_ns), spread(phase),
               percent(phase.share), duration(cost ? cost->floor_ns : Figure()),
               percent(cost ? cost->of_floor : Figure()), percent(cost ? cost->mfu : Figure()),
               percent(cost ? cost->bandwidth : Figure()),
               percent(device ? device->busy_share : Figure()),
               count(device ? device->launches_per_unit : Figure()), plain(phase.kind)});
  }
  return table.text();
}

std::string phase_section(const RunSummary& summary) {
  if (summary.phases.empty()) {
    return "\n## Where the time goes\n\nNothing was measured phase by phase; see what is missing "
           "below.\n";
  }
  std::string text = "\n## Where the time goes\n\n" + phase_table(summary) + '\n';
  const auto [times, costs, devices, ceilings, shapes] = summary::phase_sources(summary);
  text +=
      summary.request
          ? "- mean: per unit without a profiler, over the steady part; share (of the mean time of "
            "a "
            "request), of floor, MFU, bandwidth and the times in the text follow from it; median: "
            "of everything measured, with its 95 % interval; from " +
                sources(times) + '\n'
          : "- mean: per unit under the profiler, which lengthens it; share: of the captured time, "
            "ranges inside one another counted in each; from " +
                sources(times) + '\n';
  if (!costs.empty()) {
    text +=
        "- floor: the theoretical minimum given the FLOPs and the bytes of weights and KV cache; "
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

/// What nsys sampled while the phases ran; empty without samples.
std::string live_section(const RunSummary& summary) {
  Table table({{"phase", Align::Left},
               {"SM active"},
               {"tensor active"},
               {"DRAM read"},
               {"DRAM write"},
               {"DRAM per unit"},
               {"weights and KV cache"},
               {"ratio"},
               {"samples"}});
  std::vector<std::string> files;
  for (const PhaseSummary& phase : summary.phases) {
    if (!phase.live) continue;
    const SummaryLive& live = *phase.live;
    files.push_back(live.source);
    table.add({code(phase.name), percent(live.sm_active), percent(live.tensor_active),
               percent(live.dram_read), percent(live.dram_write),
               live.dram_bytes ? amount(*live.dram_bytes, "B") : "–",
               phase.cost ? amount(phase.cost->bytes, "B") : "–",
               live.of_model ? fmt::format("{:.2f}", *live.of_model) : "–",
               std::to_string(live.samples)});
  }
  if (table.empty()) return "";
  return "\n## Counters while it ran\n\n" + table.text() +
         "\nSampled by nsys without replaying anything, from the first to the last work of each "
         "phase; everything on the GPU is included. From " +
         sources(files) + ".\n";
}

std::string evidence_of(const RunSummary& summary, const PhaseSummary& phase) {
  std::string text = fmt::format("\n### {}: {}", code(phase.name), plain(phase.kind));
  if (phase.share)
    text += fmt::format(", {} of {}", percent(*phase.share), summary::whole_of(summary));
  text += "\n\n";
  for (const SummaryReason& reason : phase.reasons) {
    text += "- " + plain(reason.text);
    if (!reason.source.empty()) text += " (" + sources({reason.source}) + ")";
    text += '\n';
  }
  const std::string changes = summary::class_changes(phase);
  if (!changes.empty()) text += "- how the class came about: " + plain(changes) + '\n';
  for (const SummaryGain& gain : phase.gains) {
    text += "- " + plain(summary::gain_words(phase, gain)) + '\n';
  }
  for (const std::string& lack : phase.lacks) text += "- not known: " + plain(lack) + '\n';
  return text + "\nNext: " + plain(phase.next_step) + ".\n";
}

/// Phases that no tool observed, together: they all lack the same data.
std::string not_judged(const RunSummary& summary, const std::vector<const PhaseSummary*>& phases) {
  std::string text = "\n### Not judged\n\n";
  for (const PhaseSummary* phase : phases) {
    text += "- " + code(phase->name);
    if (phase->share)
      text += fmt::format(", {} of {}", percent(*phase->share), summary::whole_of(summary));
    if (!phase->reasons.empty()) text += ": " + plain(phase->reasons.front().text);
    text += '\n';
    for (const std::string& lack : phase->lacks) text += "  - not known: " + plain(lack) + '\n';
  }
  return text + "\nNext: " + plain(phases.front()->next_step) + ".\n";
}

/// One line; summary.json has all of its evidence.
std::string small_phase(const RunSummary& summary, const PhaseSummary& phase) {
  std::string text = fmt::format("- {}: {}, {} of {}", code(phase.name), plain(phase.kind),
                                 percent(phase.share), summary::whole_of(summary));
  if (!phase.reasons.empty()) text += "; " + plain(phase.reasons.front().text);
  return text + '\n';
}

std::string kernel_section(const RunSummary& summary) {
  std::string text = "\n## Kernels\n\n";
  if (summary.kernels.empty()) return text + "None; [kernels.md](kernels.md) says why.\n";
  const KernelRanking ranking = summary.join.ranking();
  Table table({{"kernel", Align::Left},
               {"class", Align::Left},
               {ranking.by_exclusive ? "exclusive time" : "time"},
               {"share"},
               {"launches"},
               {"operator", Align::Left},
               {"bound", Align::Left}});
  for (std::size_t i = 0; i < std::min(kRowsOfReport, summary.kernels.size()); ++i) {
    const SummaryKernel& kernel = summary.kernels[i];
    table.add({code(kernel.short_name, 60),
               kernel.kernel_class.empty() ? "–" : plain(kernel.kernel_class),
               kernel.time ? duration(ranking.ns(*kernel.time)) : "–",
               kernel.time ? percent(kernel.time->share) : "–",
               kernel.time ? std::to_string(kernel.time->launches) : "–",
               kernel.operators.empty() ? "–" : code(kernel.operators.front().name),
               kernel.counters ? plain(kernel.counters->bound) : "–"});
  }
  text +=
      table.text() + fmt::format(
                         "\nThe first {} of {}; [kernels.md](kernels.md) has more. "
                         "Times from {}.\n",
                         std::min(kRowsOfReport, summary.kernels.size()),
                         counted(summary.kernels.size(), "row"), code(summary.join.time_source));
  return text;
}

std::string operator_section(const ReportModel& model) {
  const auto& operators = model.run.get(run::kTorchOperators);
  if (!operators || operators->operators.empty()) return "";
  Table table({{"operator", Align::Left}, {"calls"}, {"self CPU"}, {"self device"}});
  for (std::size_t i = 0; i < std::min(kRowsOfReport, operators->operators.size()); ++i) {
    const TorchOperator& row = operators->operators[i];
    table.add({code(row.name), std::to_string(row.calls),
               duration(static_cast<double>(row.self_cpu_ns)),
               row.self_device_ns > 0 ? duration(static_cast<double>(row.self_device_ns)) : "–"});
  }
  const std::vector<TorchOperator>& rows = operators->operators;
  const bool by_device =
      rows.front().self_device_ns > 0 &&
      std::is_sorted(rows.begin(), rows.end(), [](const TorchOperator& a, const TorchOperator& b) {
        return a.self_device_ns > b.self_device_ns;
      });
  return "\n## Operators\n\n" + table.text() +
         fmt::format(
             "\nThe first {} of {} by self time on the {}, under the torch profiler; "
             "[operators.md](operators.md) has more. From {}.\n",
             std::min(kRowsOfReport, rows.size()), rows.size(), by_device ? "device" : "CPU",
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
               duration(row.profiled_ns), factor(row.slowdown), code(row.source)});
  }
  return "\n## What each profiler cost\n\n" + table.text() +
         (summary.program
              ? "\nWall times of the program's process.\n"
              : "\nThe workload's own times for the same requests, with the profiler and in "
                "`baseline/`.\n");
}

/// What the means, shares and verdicts leave out.
std::string one_time_section(const RunSummary& summary) {
  if (summary.one_time.empty() || !summary.request) return "";
  Table table({{"phase", Align::Left},
               {"why", Align::Left},
               {"how often"},
               {"each"},
               {"usual"},
               {"from", Align::Left}});
  for (const SummaryOneTime& row : summary.one_time) {
    const auto times = static_cast<double>(row.count);
    table.add({row.phase.empty() ? "whole request" : code(row.phase),
               std::string(summary::reason_words(row)), counted(row.count, row.unit),
               duration(row.total_ns / times), duration(row.typical_ns / times), code(row.source)});
  }
  return "\n## One-time costs\n\n" + table.text() +
         fmt::format(
             "\nThey do not recur, so means, shares, rates and classes leave them out. "
             "Requests without any: {} of {}.\n",
             summary.request->steady.units, summary.request->requests);
}

/// What the device could reach, by each source that is known.
std::string ceilings_section(const RunSummary& summary) {
  if (!summary.ceilings || summary.ceilings->roofs.empty()) return "";
  Table table({{"ceilings", Align::Left},
               {"memory"},
               {"arithmetic", Align::Left},
               {"source", Align::Left}});
  for (const Roof& roof : summary.ceilings->roofs) {
    std::string rates;
    for (const RoofRate& rate : roof.rates) {
      rates += fmt::format("{}{} {} {}", rates.empty() ? "" : ", ", rate.precision, rate.cores,
                           amount(rate.operations_per_second, "FLOP/s"));
    }
    table.add({plain(roof.kind) + (roof.is_used ? ", used here" : ""),
               amount(roof.bytes_per_second, "B/s"), plain(rates), plain(roof.source)});
  }
  return "\n## Ceilings\n\n" + table.text() +
         "\nShares refer to the one that is used: " + plain(summary.ceilings->why) + "; from " +
         sources({run::files::kCeilings}) + ".\n";
}

/// The energy of the measured run, and why a figure is withheld.
std::string energy_section(const RunSummary& summary) {
  if (summary.energy.empty()) return "";
  Table table({{"what", Align::Left},
               {"time"},
               {"energy"},
               {"power"},
               {"per token"},
               {"tokens per joule"},
               {"sources differ by"}});
  std::string remarks;
  constexpr double kNsPerS = 1e9;
  for (const SummaryEnergy& energy : summary.energy) {
    const std::string what = energy.phase.empty() ? "steady requests" : code(energy.phase);
    table.add({what + " (" + std::to_string(energy.requests) + ")",
               duration(energy.seconds * kNsPerS), amount(energy.joules, "J"),
               amount(energy.watts, "W"), amount(energy.joules_per_token, "J"),
               plain_number(energy.tokens_per_joule), percent(energy.difference)});
    if (!energy.withheld.empty()) {
      remarks += "- " + what + ": withheld: " + plain(energy.withheld) + '\n';
    }
    for (const std::string& note : energy.notes) {
      remarks += "- " + what + ": " + plain(note) + '\n';
    }
  }
  return "\n## Energy\n\n" + table.text() + (remarks.empty() ? "" : "\n" + remarks) +
         "\nOf the whole GPU without a profiler, by its total-energy counter, which its "
         "instantaneous power over time checks; from " +
         sources({summary.energy.front().source}) + ".\n";
}

std::string spread_section(const RunSummary& summary) {
  if (!summary.request) return "";
  Table table({{"what", Align::Left},
               {"n"},
               {"mean"},
               {"std"},
               {"median"},
               {"p90"},
               {"p99"},
               {"min"},
               {"max"}});
  for (const SummaryPart& part : summary.request->parts) {
    if (!part.time) continue;
    const SummaryTimes& times = *part.time;
    table.add({part.repeats ? plain(part.name + ", per " + part.unit) : plain(part.name),
               std::to_string(times.n), duration(times.mean_ns), duration(times.std_ns),
               duration(times.median_ns), duration(times.p90_ns), duration(times.p99_ns),
               duration(times.min_ns), duration(times.max_ns)});
  }
  return "\n## Spread of the unprofiled times\n\n" + table.text() +
         (summary.one_time.empty() ? "\nFrom " : "\nIncluding one-time costs; from ") +
         sources({summary.request->source}) + ".\n";
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
  std::string text =
      run.stages.empty() ? "\n## The run\n" : "\n## Stages of the run\n\n" + table.text();
  if (!findings.empty()) text += "\nFindings:\n\n" + findings;
  return text + "\nFrom `run.json`, which also has the commands, environments and checksums.\n";
}

std::string missing_section(const RunSummary& summary) {
  std::string text;
  for (const SummaryAbsent& absent : summary.absent) {
    text += "- " + code(absent.file) + ": " + plain(absent.why) + '\n';
  }
  for (const std::string& note : summary.notes) text += "- " + plain(note) + '\n';
  if (!summary.join.apart.empty()) {
    text += fmt::format("- {} could not be matched between tools: [kernels.md](kernels.md)\n",
                        counted(summary.join.apart.size(), "kernel"));
  }
  if (text.empty()) return "";
  return "\n## What is missing\n\n" + text;
}

}  // namespace

std::string report_page(const ReportModel& model) {
  const RunSummary& summary = model.summary;
  if (summary::is_only_load(summary)) {
    return heading(model) + load_section(summary) + run_section(model.run.record()) +
           missing_section(summary);
  }
  std::string text = heading(model) + server_section(summary) + load_section(summary) +
                     ranks_section(summary) + phase_section(summary) + live_section(summary) +
                     one_time_section(summary);
  if (!summary.phases.empty()) text += "\n## Evidence\n";
  std::string small;
  std::vector<const PhaseSummary*> unknown;
  for (const PhaseSummary* phase : summary::by_share(summary)) {
    if (phase->kind == "unknown" && summary::is_worth_a_step(*phase)) {
      unknown.push_back(phase);
    } else if (summary::is_small(*phase)) {
      small += small_phase(summary, *phase);
    } else {
      text += evidence_of(summary, *phase);
    }
  }
  if (!small.empty()) text += "\n### Smaller phases\n\n" + small;
  if (!unknown.empty()) text += not_judged(summary, unknown);
  text += kernel_section(summary) + operator_section(model) + overhead_section(summary);
  text += energy_section(summary) + ceilings_section(summary);
  text += spread_section(summary) + run_section(model.run.record()) + missing_section(summary);
  return text;
}

Result<Written> write_reports(const run::Run& run, const RunSummary& summary) {
  const ReportModel model{run, summary};
  std::vector<std::pair<const char*, std::string>> files = {
      {run::files::kSummary, PL_TRY(to_document(summary))},
      {run::files::kReport, report_page(model)}};
  if (!summary::is_only_load(summary)) {
    files.emplace_back(run::files::kOperatorsPage, operators_page(model));
    files.emplace_back(run::files::kKernelsPage, kernels_page(model));
    files.emplace_back(run::files::kStakeholderSummary, stakeholder_page(model));
  }
  if (summary.ranks) {
    files.emplace_back(run::files::kRankAnalysis, PL_TRY(to_document(*summary.ranks)));
  }
  Written written;
  written.verdict = summary.verdict;
  for (const auto& [name, text] : files) {
    PL_TRY(write_file_atomic(run.folder() / name, text));
    written.files.emplace_back(name);
  }
  return written;
}

}  // namespace profline::report
