#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/figures.h"
#include "formats/markup.h"
#include "report/write_reports.h"
#include "run/names/artifact_names.h"

namespace profline::report {
namespace {

using markdown::code;
using markdown::plain;
using Align = markdown::Table::Align;

constexpr std::size_t kTopKernels = 20;
constexpr std::size_t kNameWidth = 70;

std::string shape(const std::vector<std::uint32_t>& numbers) {
  if (numbers.size() != 3) return "–";
  return fmt::format("{}x{}x{}", numbers[0], numbers[1], numbers[2]);
}

/// Names of the parts, largest first, with their share where there are several.
std::string parts(const std::vector<SummaryKernelPart>& parts, KernelRanking ranking,
                  std::size_t at_most) {
  double total = 0;
  for (const SummaryKernelPart& part : parts) total += ranking.ns(part);
  std::string text;
  for (std::size_t i = 0; i < std::min(at_most, parts.size()); ++i) {
    if (i > 0) text += ", ";
    text += parts[i].name.empty() ? "(no range)" : code(parts[i].name, kNameWidth);
    if (parts.size() > 1 && total > 0) text += " " + percent(ranking.ns(parts[i]) / total);
  }
  if (parts.size() > at_most) text += fmt::format(", {} more", parts.size() - at_most);
  return text.empty() ? "–" : text;
}

/// The share of each ceiling that was reached and the resulting class, as one cell.
std::string bound(const SummaryKernel& kernel) {
  if (!kernel.counters) return "–";
  const SummaryKernelCounters& counters = *kernel.counters;
  std::string text = plain(counters.bound);
  if (counters.roofline.compute_share || counters.roofline.memory_share) {
    text += fmt::format(" ({} / {})", percent(counters.roofline.compute_share),
                        percent(counters.roofline.memory_share));
  }
  return text;
}

std::string join_words(const RunSummary& summary) {
  const SummaryJoin& join = summary.join;
  std::string text = fmt::format("{} and launch shape, {}, {} in total; times from {}.",
                                 counted(summary.kernels.size(), "row by kernel", "rows by kernel"),
                                 counted(join.launches, "launch"), duration(join.total_ns),
                                 join.time_source.empty() ? "no tool" : code(join.time_source));
  if (join.ranking().by_exclusive) {
    text += fmt::format(
        " Kernels overlap: they kept the GPU busy for only {}, so rows are ranked by exclusive "
        "time, each kernel's part of that.",
        duration(join.exclusive_ns));
  }
  if (join.outside_launches > 0) {
    text += fmt::format(" Not included: {} ({}) of loading and warm-up.",
                        counted(join.outside_launches, "launch"), duration(join.outside_ns));
  }
  const auto add = [&](const std::optional<double>& share, const char* what, const char* file) {
    if (share)
      text += fmt::format(" {} of the time has {} ({}).", percent(*share), what, code(file));
  };
  add(join.with_counters, "counters", run::paths::kNcuKernels);
  add(join.with_operators, "its operator", run::paths::kTorchTrace);
  if (join.with_flops.value_or(1) > 0) {
    add(join.with_flops, "model FLOPs from the operator's shapes", run::paths::kTorchTrace);
  } else {
    text +=
        " Model FLOPs are not known, because no shapes were recorded "
        "(pipeline.torch_profiler.record_shapes=true records them).";
  }
  return text + "\n";
}

/// Phases whose kernels ran concurrently, as the branches of a CUDA graph do.
std::string overlap_words(const RunSummary& summary) {
  constexpr double kWorthReporting = 1.02;
  std::string text;
  for (const PhaseSummary& phase : summary.phases) {
    if (!phase.device || phase.device->concurrency.value_or(1) < kWorthReporting) continue;
    text += fmt::format(
        "\nIn {}, {:.2f} kernels or copies ran at a time while the GPU was busy ({}): their times "
        "add up to more than the time they took together.\n",
        code(phase.name), *phase.device->concurrency, code(phase.device->source));
  }
  return text;
}

std::string class_table(const RunSummary& summary) {
  const KernelRanking ranking = summary.join.ranking();
  struct Sum {
    double ns = 0;
    double total_ns = 0;
    std::uint64_t launches = 0;
  };
  std::map<std::string, Sum> classes;
  for (const SummaryKernel& kernel : summary.kernels) {
    if (!kernel.time) continue;
    Sum& sum = classes[kernel.kernel_class];
    sum.ns += ranking.ns(*kernel.time);
    sum.total_ns += kernel.time->total_ns;
    sum.launches += kernel.time->launches;
  }
  std::vector<std::pair<std::string, Sum>> rows(classes.begin(), classes.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  markdown::Table table({{"class", Align::Left},
                         {ranking.by_exclusive ? "exclusive" : "time"},
                         {"share"},
                         {"launches"},
                         {"mean"}});
  for (const auto& [name, sum] : rows) {
    table.add({name.empty() ? "(no class)" : plain(name), duration(sum.ns),
               percent(sum.ns / ranking.ns(summary.join)), std::to_string(sum.launches),
               duration(sum.total_ns / static_cast<double>(sum.launches))});
  }
  return table.text();
}

std::string kernel_table(const RunSummary& summary) {
  const KernelRanking ranking = summary.join.ranking();
  std::vector<markdown::Table::Column> columns = {
      {"#"}, {"kernel", Align::Left}, {"class", Align::Left}, {"grid, block", Align::Left}};
  if (ranking.by_exclusive) columns.push_back({"exclusive"});
  columns.insert(columns.end(), {{ranking.by_exclusive ? "durations" : "time"},
                                 {"share"},
                                 {"launches"},
                                 {"mean"},
                                 {"phases", Align::Left},
                                 {"operators", Align::Left},
                                 {"model FLOP"},
                                 {"bound (compute / memory)", Align::Left}});
  markdown::Table table(std::move(columns));
  std::size_t number = 0;
  for (const SummaryKernel& kernel : summary.kernels) {
    if (++number > kTopKernels) break;
    const auto& time = kernel.time;
    std::vector<std::string> cells = {
        std::to_string(number), code(kernel.short_name, kNameWidth),
        kernel.kernel_class.empty() ? "–" : plain(kernel.kernel_class),
        shape(kernel.grid) + ", " + shape(kernel.block)};
    if (ranking.by_exclusive) cells.push_back(time ? duration(time->exclusive_ns) : "–");
    cells.insert(cells.end(),
                 {time ? duration(time->total_ns) : "–", time ? percent(time->share) : "–",
                  time ? std::to_string(time->launches) : "–",
                  time ? duration(time->total_ns / static_cast<double>(time->launches)) : "–",
                  parts(kernel.phases, ranking, 3), parts(kernel.operators, {}, 2),
                  count(kernel.model_flops), bound(kernel)});
    table.add(std::move(cells));
  }
  return table.text();
}

std::string rest_words(const RunSummary& summary) {
  if (summary.kernels.size() <= kTopKernels) return "";
  double ns = 0;
  std::uint64_t launches = 0;
  for (std::size_t i = kTopKernels; i < summary.kernels.size(); ++i) {
    if (!summary.kernels[i].time) continue;
    ns += summary.join.ranking().ns(*summary.kernels[i].time);
    launches += summary.kernels[i].time->launches;
  }
  return fmt::format("\n{}, {}, {}: all of them are in {}.\n",
                     counted(summary.kernels.size() - kTopKernels, "more row"),
                     counted(launches, "launch"), duration(ns), code(run::files::kSummary));
}

std::string counter_details(const RunSummary& summary) {
  std::string text;
  std::size_t number = 0;
  for (const SummaryKernel& kernel : summary.kernels) {
    if (++number > kTopKernels) break;
    if (!kernel.counters) continue;
    const SummaryKernelCounters& counters = *kernel.counters;
    text += fmt::format("- {}: {}", number, code(kernel.short_name, kNameWidth));
    text += fmt::format(", {} profiled, {} each under ncu", counted(counters.launches, "launch"),
                        duration(counters.duration_ns));
    if (counters.roofline.operations) {
      text += ", " + amount(*counters.roofline.operations, "FLOP");
    }
    if (counters.roofline.dram_bytes) {
      text += ", " + amount(*counters.roofline.dram_bytes, "B") + " of DRAM";
    }
    if (counters.roofline.floor_ns) {
      text += fmt::format(", roofline floor {}", duration(*counters.roofline.floor_ns));
    }
    text += fmt::format("; by the 5-point rule {}\n", plain(counters.margin_class));
    std::string evidence;
    for (const std::string& line : counters.evidence) {
      evidence += (evidence.empty() ? "" : "; ") + plain(line);
    }
    if (!evidence.empty()) text += "  - " + plain(counters.bound) + ": " + evidence + '\n';
  }
  return text.empty() ? ""
                      : "\n## Counters\n\nMeans per launch, from `ncu/kernels.json`.\n\n" + text;
}

std::string why_none(const ReportModel& model) {
  const auto& nsys_kernels = model.run.get(run::kNsysKernels);
  const auto& ncu_kernels = model.run.get(run::kNcuKernels);
  if (model.run.record().device == "cpu") return "the model ran on the CPU";
  if (nsys_kernels && nsys_kernels->why_none) return *nsys_kernels->why_none;
  if (ncu_kernels && ncu_kernels->why_none) return *ncu_kernels->why_none;
  std::string text;
  for (const SummaryAbsent& absent : model.summary.absent) {
    if (absent.file.find(run::files::kKernels) == std::string::npos &&
        absent.file.find(run::files::kTrace) == std::string::npos) {
      continue;
    }
    text += (text.empty() ? "" : "; ") + absent.file + ": " + absent.why;
  }
  return text.empty() ? "no capture has any" : text;
}

}  // namespace

std::string kernels_page(const ReportModel& model) {
  const RunSummary& summary = model.summary;
  std::string text = "# Kernels of " + plain(summary.run) + "\n\n";
  if (summary.kernels.empty()) return text + "No kernels: " + plain(why_none(model)) + ".\n";
  text += join_words(summary);
  text += overlap_words(summary);
  if (summary.join.total_ns > 0) text += "\n## Classes\n\n" + class_table(summary);
  text += "\n## Top " + counted(std::min(kTopKernels, summary.kernels.size()), "kernel") + "\n\n";
  text += kernel_table(summary) + rest_words(summary) + counter_details(summary);
  if (!summary.join.apart.empty()) {
    text += "\n## Kernels not matched between tools\n\n";
    for (const std::string& line : summary.join.apart) text += "- " + plain(line) + '\n';
  }
  return text;
}

}  // namespace profline::report
