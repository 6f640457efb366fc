
#include <algorithm>
#include <set>
#include <span>

#include <fmt/core.h>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/classify.h"
#include "analysis/timeline/accounting.h"
#include "analysis/timeline/attribution.h"
#include "analysis/timeline/device_metrics.h"
#include "analysis/timeline/group_kernels.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/markup.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "stages/nsys/internal/captures.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::stages::internal {
namespace {

using timeline::Attribution;

/// Names stay as nsys wrote them, because its other tables use them too.
constexpr timeline::KernelKeys kRows{
    .spelling = true, .shape = timeline::KernelKeys::Shape::Whole, .ranges = true, .device = true};

void add_kernels(const ReadCapture& capture, const Attribution& attribution,
                 const kernels::Classifier& classifier, NsysKernels& table) {
  timeline::KernelUses uses = group_kernels(*capture.timeline, kRows,
                                            {.attribution = &attribution, .classes = &classifier});
  for (KernelUse& row : uses.rows) {
    row.capture = capture.about.name;
    table.kernels.push_back(std::move(row));
  }
}

LaunchAccount launch_account(const timeline::LaunchFigures& figures) {
  return {.launches = figures.launches,
          .copy_calls = figures.copy_calls,
          .gaps = figures.gap.count,
          .gap_sum_ns = figures.gap.sum_ns,
          .delays = figures.delay_from_start.count,
          .delay_sum_ns = figures.delay_from_start.sum_ns};
}

/// The ranges that enclose the first instance of a name, outermost first.
std::vector<std::string> around(const Timeline& timeline, const Attribution& attribution,
                                const timeline::RangeAccount& account) {
  for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
    const Range& range = timeline.ranges[row];
    if (range.name != account.name || range.domain != account.domain) continue;
    std::vector<std::string> labels;
    attribution.each(attribution.around(row), [&](RowIndex outer) {
      labels.push_back(timeline::range_label(timeline, timeline.ranges[outer]));
    });
    std::reverse(labels.begin(), labels.end());
    return labels;
  }
  return {};
}

/// Tokens are counted by the ranges of steps; without those, by the requests.
void count_tokens(const timeline::RangeAccount& account, std::span<const Request> requests,
                  RangeUse& range) {
  if (account.tokens > 0) {
    range.tokens = account.tokens;
    range.tokens_from = kTokenRange;
    return;
  }
  if (requests.size() < account.instances) return;
  std::uint64_t steps = 0;
  bool repeats = false;
  for (const Request& request : requests.first(account.instances)) {
    for (const Phase& phase : request.phases) {
      if (last_name(phase.path) != range.name || !phase.steps_ns) continue;
      steps += phase.steps_ns->size();
      repeats = true;
    }
  }
  if (!repeats) return;
  range.tokens = steps;
  range.tokens_from = run::files::kRequests;
}

void add_ranges(const ReadCapture& capture, const Attribution& attribution,
                const timeline::Accounting& accounts, const timeline::MetricIntegrals& sampled,
                NsysRanges& table) {
  const Timeline& timeline = *capture.timeline;
  const auto metrics = timeline::range_metrics(timeline, attribution, sampled);
  for (const timeline::RangeAccount& account : accounts.ranges) {
    RangeUse range;
    range.capture = capture.about.name;
    range.name = account.label;
    range.domain = timeline.names.text(account.domain);
    range.around = around(timeline, attribution, account);
    range.instances = account.instances;
    range.still_open = account.still_open;
    range.wall_ns = account.wall_ns;
    range.launch = launch_account(account.launch);
    for (std::size_t i = 0; i < accounts.devices.size(); ++i) {
      range.devices.push_back(timeline::device_account(accounts.devices[i], account.time[i],
                                                       account.wall_ns, account.own[i]));
      const auto of_range = metrics.find({account.label, account.domain, accounts.devices[i]});
      if (of_range != metrics.end()) range.devices.back().metrics = of_range->second;
    }
    range.work = account.work.count;
    range.work_sum_ns = account.work.sum_ns;
    count_tokens(account, capture.requests, range);
    table.ranges.push_back(std::move(range));
  }
}

/// What a reader of the samples must know.
void note_samples(const Timeline& timeline, const timeline::MetricIntegrals& sampled,
                  NsysCapture& about) {
  constexpr double kNotable = 0.01;
  for (const GpuSamples& samples : timeline.gpu_samples) {
    const auto used =
        std::find_if(about.devices.begin(), about.devices.end(),
                     [&](const DeviceAccount& device) { return device.device == samples.device; });
    const std::string gpu = fmt::format("GPU {}", samples.device);
    const auto without_work = active_without_work(timeline, samples.device, sampled);
    if (used == about.devices.end()) {
      if (without_work.value_or(0) < kNotable) continue;
      about.notes.push_back(fmt::format(
          "{}, on which nothing of this capture ran, was active for {} of the time: another "
          "program uses it",
          gpu, percent(*without_work)));
      continue;
    }
    if (without_work.value_or(0) >= kNotable) {
      about.notes.push_back(fmt::format(
          "the counters of {} include other programs: its SMs were active for {} of the time in "
          "which nothing of this capture ran",
          gpu, percent(*without_work)));
    }
    const auto& metrics = used->metrics;
    if (!metrics || metrics->gap_ns == 0) continue;
    const double gap = static_cast<double>(metrics->gap_ns) /
                       static_cast<double>(metrics->gap_ns + metrics->covered_ns);
    if (gap < kNotable) continue;
    about.notes.push_back(
        fmt::format("samples of {} are missing for {} of the time in which it "
                    "worked",
                    gpu, percent(gap)));
  }
}

NsysCapture about(const ReadCapture& capture, const timeline::Accounting& accounts,
                  const timeline::MetricIntegrals& sampled) {
  const Timeline& timeline = *capture.timeline;
  NsysCapture about = capture.about;
  about.wall_ns = accounts.wall_ns();
  about.kernels = accounts.kernels.count;
  about.calls = timeline.calls.size();
  about.ranges = timeline.ranges.size();
  about.launch = launch_account(accounts.launch);
  for (std::size_t i = 0; i < accounts.devices.size(); ++i) {
    about.devices.push_back(
        timeline::device_account(accounts.devices[i], accounts.time[i], accounts.wall_ns()));
    // All work of a capture counts as its own.
    about.devices.back().own_busy_ns = about.devices.back().busy_ns;
    about.devices.back().own_inside_ns = about.devices.back().busy_ns;
    about.devices.back().metrics = sampled.over(
        accounts.devices[i], {{accounts.active[i].begin_ns, accounts.active[i].end_ns}});
    about.gpu_spans.push_back({.device = accounts.devices[i],
                               .begin_ns = accounts.active[i].begin_ns - accounts.begin_ns,
                               .end_ns = accounts.active[i].end_ns - accounts.begin_ns,
                               .busy_ns = accounts.time[i].busy_ns()});
  }
  for (const Gpu& gpu : timeline.gpus) about.gpus.push_back(gpu.name);
  about.unplaced = {.outside_ranges = accounts.outside_ranges.count,
                    .outside_ranges_ns = accounts.outside_ranges.sum_ns,
                    .without_launch = accounts.without_launch.count,
                    .without_launch_ns = accounts.without_launch.sum_ns,
                    .without_device = accounts.without_device.count,
                    .without_device_ns = accounts.without_device.sum_ns,
                    .launches_without_work = accounts.launches_without_work};
  about.losses = timeline.reading.losses;
  about.notes = timeline.reading.notes;
  note_samples(timeline, sampled, about);
  about.events_used = timeline.reading.used;
  about.events_skipped = timeline.reading.events() - timeline.reading.used;
  return about;
}

namespace fs = std::filesystem;

/// The requests that the workload reported; nothing for a user's command, or if the workload ended
/// early.
std::span<const Request> requests_of(const NsysSession& session, const run::Run& files) {
  const fs::path below = session.workload().lexically_relative(files.folder());
  const run::Artifact<run::Requests>& requests = files.requests(below.string());
  return requests ? std::span<const Request>(*requests) : std::span<const Request>();
}

/// How many requests ran in a capture: instances of the phase whose steps are counted.
std::size_t requests_in(const Timeline& timeline, std::span<const Request> requests) {
  for (const Request& request : requests) {
    for (const Phase& phase : request.phases) {
      if (!phase.steps_ns) continue;
      const auto name = timeline.names.find(last_name(phase.path));
      if (!name) return 0;
      return static_cast<std::size_t>(std::count_if(
          timeline.ranges.begin(), timeline.ranges.end(),
          [&](const Range& range) { return range.name == *name && range.domain == 0; }));
    }
  }
  return 0;
}

Result<void> add_session(const pipeline::RunSetup& setup, const NsysSession& session,
                         const kernels::Classifier& classifier, const run::Run& files,
                         const pipeline::StageRun& run, NsysTables& tables) {
  const std::span<const Request> requests = requests_of(session, files);
  std::size_t ran = 0;  // requests in the captures so far
  for (const NsysReport& report : nsys_reports(session)) {
    ReadCapture capture;
    capture.about.name = report.name;
    capture.about.range = session.range;
    capture.about.report = within_stage(setup, report.report);
    capture.about.sqlite = within_stage(setup, report.sqlite);
    capture.timeline = run.kept_capture(capture.about.sqlite);
    Timeline large;  // too large to be kept
    if (capture.timeline == nullptr) {
      large = PL_TRY(nsys::read_sqlite(report.sqlite));
      capture.timeline = &large;
    }
    capture.requests = requests.subspan(std::min(ran, requests.size()));
    ran += requests_in(*capture.timeline, requests);
    add_capture(capture, classifier, tables);
  }
  return {};
}

using markdown::Table;

constexpr std::size_t kShownKernels = 20;

/// One row per kernel over all launch shapes and places, which readers ask for first; most time
/// first.
std::vector<timeline::KernelGroup> by_name(const std::vector<KernelUse>& kernels,
                                           KernelRanking ranking) {
  std::vector<timeline::KernelGroup> groups = timeline::group_kernels(kernels, {});
  std::stable_sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
    return ranking.ns(a.all) > ranking.ns(b.all);
  });
  return groups;
}

/// The outermost range that encloses the launches of a row.
std::string place_of(const KernelUse& kernel) {
  if (!kernel.launch_recorded) return "(launch not recorded)";
  return kernel.ranges.empty() ? "(no range)" : kernel.ranges.front();
}

/// The values in the columns of a range, over all devices.
DeviceAccount sum_of(const std::vector<DeviceAccount>& devices) {
  DeviceAccount sum;
  for (const DeviceAccount& device : devices) {
    sum.busy_ns += device.busy_ns;
    sum.idle.queued_ns += device.idle.queued_ns;
    sum.idle.launching_ns += device.idle.launching_ns;
    sum.idle.copy_wait_ns += device.idle.copy_wait_ns;
    sum.idle.synchronizing_ns += device.idle.synchronizing_ns;
    sum.idle.allocating_ns += device.idle.allocating_ns;
    sum.idle.host_between_ns += device.idle.host_between_ns;
    sum.idle.nothing_queued_ns += device.idle.nothing_queued_ns;
  }
  return sum;
}

std::string captures_section(const NsysRanges& table) {
  Table rows({{"capture", Table::Align::Left},
              {"wall"},
              {"device", Table::Align::Left},
              {"GPU span"},
              {"GPU busy"},
              {"of span"},
              {"of wall"}});
  for (const NsysCapture& capture : table.captures) {
    for (const GpuSpan& span : capture.gpu_spans) {
      rows.add({markdown::code(capture.name), duration(capture.wall_ns),
                fmt::format("GPU {}", span.device), duration(span.length_ns()),
                duration(span.busy_ns), percent_of(span.busy_ns, span.length_ns()),
                percent_of(span.busy_ns, capture.wall_ns)});
    }
  }
  if (rows.empty()) return "No device work was recorded.\n";
  return rows.text();
}

std::string ranges_section(const NsysRanges& table) {
  Table rows({{"capture", Table::Align::Left},
              {"range", Table::Align::Left},
              {"×"},
              {"wall"},
              {"GPU busy"},
              {"launches"},
              {"per token"},
              {"idle: host between launches"},
              {"idle: launching"},
              {"idle: waiting for the GPU"},
              {"idle: other"}});
  for (const RangeUse& range : table.ranges) {
    const DeviceAccount all = sum_of(range.devices);
    const std::int64_t known =
        all.idle.host_between_ns + all.idle.launching_ns + all.idle.synchronizing_ns;
    const auto per_token = range.launches_per_token();
    // Each device's times add up to the range's wall time, so this is the mean of their shares.
    const std::int64_t of_ns = range.wall_ns * static_cast<std::int64_t>(range.devices.size());
    const auto share = [&](std::int64_t ns) {
      return range.devices.empty() ? "–" : percent_of(ns, of_ns);
    };
    rows.add({markdown::code(range.capture), markdown::code(range.label()),
              std::to_string(range.instances), duration(range.wall_ns), share(all.busy_ns),
              range.devices.empty() ? "–" : std::to_string(range.launch.launches),
              per_token && !range.devices.empty() ? fmt::format("{:.0f}", *per_token) : "–",
              share(all.idle.host_between_ns), share(all.idle.launching_ns),
              share(all.idle.synchronizing_ns), share(all.idle.sum_ns() - known)});
  }
  if (rows.empty()) return "No NVTX ranges were recorded.\n";
  return rows.text();
}

/// Empty without samples.
std::string metrics_section(const NsysRanges& table) {
  Table rows({{"capture", Table::Align::Left},
              {"range", Table::Align::Left},
              {"GPU"},
              {"SM active"},
              {"tensor active"},
              {"DRAM read"},
              {"DRAM write"},
              {"DRAM bytes"},
              {"PCIe in"},
              {"PCIe out"},
              {"NVLink in"},
              {"NVLink out"}});
  for (const RangeUse& range : table.ranges) {
    for (const DeviceAccount& device : range.devices) {
      if (!device.metrics) continue;
      const DeviceMetrics& at = *device.metrics;
      rows.add({markdown::code(range.capture), markdown::code(range.label()),
                std::to_string(device.device), percent(at.sm_active), percent(at.tensor_active),
                percent(at.dram_read), percent(at.dram_write),
                at.dram_bytes ? amount(*at.dram_bytes, "B") : "–", percent(at.pcie_receive),
                percent(at.pcie_send), percent(at.nvlink_receive), percent(at.nvlink_send)});
    }
  }
  return rows.empty() ? "" : rows.text();
}

std::string kernels_section(const NsysKernels& table) {
  if (table.kernels.empty()) {
    return "No kernels: " + markdown::plain(table.why_none.value_or("none were recorded")) + ".\n";
  }
  const KernelRanking ranking = ranking_of(table);
  std::vector<Table::Column> columns = {{"kernel", Table::Align::Left},
                                        {"class", Table::Align::Left},
                                        {"in", Table::Align::Left},
                                        {"shapes"},
                                        {"calls"}};
  if (ranking.by_exclusive) columns.push_back({"exclusive"});
  columns.insert(
      columns.end(),
      {{ranking.by_exclusive ? "durations" : "total"}, {"share"}, {"mean"}, {"min"}, {"max"}});
  Table rows(std::move(columns));
  const std::vector<timeline::KernelGroup> sums = by_name(table.kernels, ranking);
  std::int64_t rest_ns = ranking.ns(table);
  const std::size_t shown = std::min(kShownKernels, sums.size());
  for (const timeline::KernelGroup& group : std::span(sums).first(shown)) {
    const KernelUse& sum = group.all;
    rest_ns -= ranking.ns(sum);
    std::set<std::string> ranges;
    std::set<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> shapes;
    for (const std::size_t member : group.members) {
      ranges.insert(place_of(table.kernels[member]));
      shapes.emplace(table.kernels[member].grid, table.kernels[member].block);
    }
    const std::vector<std::string> places(ranges.begin(), ranges.end());
    std::vector<std::string> cells = {markdown::code(sum.short_name),
                                      markdown::plain(sum.kernel_class),
                                      markdown::code(join(places, ", ")),
                                      std::to_string(shapes.size()), std::to_string(sum.launches)};
    if (ranking.by_exclusive) cells.push_back(duration(sum.exclusive_ns));
    cells.insert(cells.end(),
                 {duration(sum.total_ns), percent_of(ranking.ns(sum), ranking.ns(table)),
                  duration(sum.total_ns / static_cast<std::int64_t>(sum.launches)),
                  duration(sum.min_ns), duration(sum.max_ns)});
    rows.add(std::move(cells));
  }
  std::string text = rows.text();
  if (sums.size() > shown) {
    text += fmt::format("\n{} with {} of the time in `kernels.json`.\n",
                        counted(sums.size() - shown, "more kernel is", "more kernels are"),
                        percent_of(rest_ns, ranking.ns(table)));
  }
  return text;
}

}  // namespace

void add_capture(const ReadCapture& capture, const kernels::Classifier& classifier,
                 NsysTables& tables) {
  const Timeline& timeline = *capture.timeline;
  const Attribution attribution = Attribution::of(timeline);
  timeline::AccountingOptions options;
  options.is_collective = [&](std::string_view name) {
    return classifier.class_of(kernels::canonical_name(name)) == "collective";
  };
  const timeline::Accounting accounts = account(timeline, attribution, options);
  add_kernels(capture, attribution, classifier, tables.kernels);
  const timeline::MetricIntegrals sampled(timeline);
  add_ranges(capture, attribution, accounts, sampled, tables.ranges);
  tables.ranges.captures.push_back(about(capture, accounts, sampled));
}

void finish(NsysTables& tables) {
  for (const KernelUse& kernel : tables.kernels.kernels) {
    tables.kernels.launches += kernel.launches;
    tables.kernels.total_ns += kernel.total_ns;
    tables.kernels.exclusive_ns += kernel.exclusive_ns;
  }
  const KernelRanking ranking = ranking_of(tables.kernels);
  std::stable_sort(tables.kernels.kernels.begin(), tables.kernels.kernels.end(),
                   [&](const KernelUse& a, const KernelUse& b) {
                     if (ranking.ns(a) != ranking.ns(b)) return ranking.ns(a) > ranking.ns(b);
                     return std::tie(a.name, a.capture, a.ranges, a.grid, a.block, a.device) <
                            std::tie(b.name, b.capture, b.ranges, b.grid, b.block, b.device);
                   });
  tables.kernels.tool = tables.ranges.tool;
}

Result<NsysTables> make_tables(const pipeline::StageContext& context, const run::Run& files,
                               const pipeline::StageRun& run) {
  const pipeline::RunSetup& setup = context.setup;
  const kernels::Classifier classifier = PL_TRY(kernels::classifier_with(setup.kernel_classes));
  NsysTables tables;
  tables.ranges.tool = "nsys " + nsys_of(context.tools).version.to_string();
  for (const NsysSession& session : nsys_sessions(setup)) {
    PL_TRY(add_session(setup, session, classifier, files, run, tables));
  }
  finish(tables);
  if (tables.kernels.kernels.empty()) {
    const bool is_gpu = setup.settings.device.kind == settings::Device::Kind::Cuda;
    tables.kernels.why_none = is_gpu ? "the captures hold no kernels"
                                     : "the workload runs on the CPU, where there are no kernels";
  }
  return tables;
}

std::string kernels_page(const NsysTables& tables) {
  std::string text = "# Kernels and ranges by Nsight Systems\n\n";
  text += fmt::format(
      "{}; {}, {} together. Full names, shapes and ranges of each: `kernels.json`; all ranges: "
      "`ranges.json`.\n\n",
      markdown::plain(tables.kernels.tool), counted(tables.kernels.launches, "kernel launch"),
      duration(tables.kernels.total_ns));
  text += "## How busy the GPU was\n\n";
  text +=
      "Wall time is from the first to the last event of the capture, the GPU span from the first "
      "to "
      "the last activity of the device.\n\n";
  text += captures_section(tables.ranges);
  text += "\n## Where the time of each range went\n\n";
  text += "Shares are of the range's wall time; with several devices, the mean over them.\n\n";
  text += ranges_section(tables.ranges);
  const std::string metrics = metrics_section(tables.ranges);
  if (!metrics.empty()) {
    text +=
        "\n## What the GPU's counters showed\n\n"
        "Sampled from the first to the last work of each range, without replaying anything; "
        "everything on the GPU is included.\n\n" +
        metrics;
  }
  text += "\n## Kernels with most time\n\n";
  if (ranking_of(tables.kernels).by_exclusive) {
    text += fmt::format(
        "Kernels overlap: their durations add up to {}, but they kept the GPU busy for only {}. "
        "Rows are ranked by exclusive time, each kernel's part of that busy time.\n\n",
        duration(tables.kernels.total_ns), duration(tables.kernels.exclusive_ns));
  }
  text += kernels_section(tables.kernels);
  return text;
}

}  // namespace profline::stages::internal
