#include "trace_report/report.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

#include "analysis/kernels/canonical_name.h"
#include "analysis/timeline/group_kernels.h"
#include "base/figures.h"
#include "base/strings.h"
#include "formats/chunks.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace.h"

namespace profline::trace_report {
namespace {

Result<std::string> beginning_of(const std::filesystem::path& file) {
  const ChunkSource source = PL_TRY(chunks_of_file(file));
  std::string bytes(512, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const std::size_t more = PL_TRY(source(std::span(bytes).subspan(filled)));
    if (more == 0) break;
    filled += more;
  }
  bytes.resize(filled);
  return bytes;
}

bool begins_like_json(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[');
}

bool is_pipe(const std::filesystem::path& file) {
  std::error_code unknown;
  return !std::filesystem::is_regular_file(file, unknown) &&
         std::filesystem::exists(file, unknown) && !std::filesystem::is_directory(file, unknown);
}

bool begins_like_trace(std::string_view bytes) {
  return is_gzip(bytes) || begins_like_json(bytes);
}

/// Why nothing in a file was usable: `2 events were skipped (2: category 'FEE', which is not
/// read)`.
std::string why_nothing(const Reading& reading) {
  constexpr std::size_t kMostReasons = 3;
  std::vector<Reading::Skipped> reasons = reading.skipped;
  if (reasons.empty()) return reading.losses.empty() ? "it has no events" : reading.losses.front();
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  const std::uint64_t skipped = reading.events() - reading.used;
  std::string text = counted(skipped, "event was", "events were") + " skipped (";
  for (std::size_t i = 0; i < std::min(kMostReasons, reasons.size()); ++i) {
    text += (i > 0 ? "; " : "") + std::to_string(reasons[i].count) + ": " + reasons[i].reason;
  }
  if (reasons.size() > kMostReasons) text += "; and others";
  return text + ')';
}

/// The timeline, if it has any rows.
Result<Timeline> with_rows(Timeline timeline) {
  const bool has_rows = !timeline.work.empty() || !timeline.calls.empty() ||
                        !timeline.ranges.empty() || !timeline.operators.empty();
  if (has_rows) return timeline;
  return Error(ErrorKind::Parse, timeline.source + " holds nothing that profline can use: " +
                                     why_nothing(timeline.reading));
}

/// Most time first; ties by name.
template <typename Row, typename NameOf>
void order(std::vector<Row>& rows, KernelRanking ranking, NameOf name_of) {
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return ranking.ns(a) != ranking.ns(b) ? ranking.ns(a) > ranking.ns(b) : name_of(a) < name_of(b);
  });
}

/// The rows of one kernel, split by one key.
std::vector<KernelUse> parts_of(const std::vector<KernelUse>& rows,
                                const timeline::KernelKeys& keys) {
  std::vector<KernelUse> parts;
  for (timeline::KernelGroup& group : timeline::group_kernels(rows, keys)) {
    parts.push_back(std::move(group.all));
  }
  return parts;
}

Kernel kernel_of(timeline::KernelGroup group, const std::vector<KernelUse>& all,
                 KernelRanking ranking) {
  std::vector<KernelUse> rows;
  for (const std::size_t member : group.members) rows.push_back(all[member]);
  Kernel kernel;
  kernel.use = std::move(group.all);
  kernel.shapes = parts_of(rows, {.shape = timeline::KernelKeys::Shape::Whole});
  std::stable_sort(kernel.shapes.begin(), kernel.shapes.end(),
                   [&](const auto& a, const auto& b) { return ranking.ns(a) > ranking.ns(b); });
  kernel.launchers = parts_of(rows, {.op = true});
  order(kernel.launchers, ranking,
        [](const KernelUse& row) -> const std::string& { return row.op; });
  return kernel;
}

void add_kernels(const timeline::KernelUses& uses, Report& report) {
  report.total_ns = uses.total_ns;
  report.exclusive_ns = uses.exclusive_ns;
  const KernelRanking ranking = report.ranking();
  report.kernel_instances = uses.launches;
  std::map<std::string, KernelClass> classes;
  for (timeline::KernelGroup& group : timeline::group_kernels(uses.rows, {})) {
    report.kernels.push_back(kernel_of(std::move(group), uses.rows, ranking));
    const KernelUse& kernel = report.kernels.back().use;
    KernelClass& found = classes[kernel.kernel_class];
    found.name = kernel.kernel_class;
    found.instances += kernel.launches;
    found.total_ns += kernel.total_ns;
    found.exclusive_ns += kernel.exclusive_ns;
  }
  for (auto& [name, found] : classes) report.classes.push_back(std::move(found));
  order(report.classes, ranking,
        [](const KernelClass& row) -> const std::string& { return row.name; });
  std::sort(report.kernels.begin(), report.kernels.end(), [&](const Kernel& a, const Kernel& b) {
    return std::pair(ranking.ns(b.use), std::string_view(a.use.name)) <
           std::pair(ranking.ns(a.use), std::string_view(b.use.name));
  });
}

Launches launches_of(const Timeline& timeline) {
  Launches launches;
  for (const HostCall& call : timeline.calls) {
    const bool is_graph = call.kind == CallKind::GraphLaunch;
    if (is_graph || call.kind == CallKind::Launch) ++launches.calls;
    if (is_graph) ++launches.graph_calls;
  }
  for (const DeviceWork& work : timeline.work) {
    if (work.kind != WorkKind::Kernel) continue;
    ++launches.kernels;
    const bool by_graph =
        work.graph_node != 0 ||
        (work.launch != kNoRow && timeline.calls[work.launch].kind == CallKind::GraphLaunch);
    if (by_graph) ++launches.graph_kernels;
  }
  return launches;
}

constexpr std::size_t kMostListed = 10;

/// Longest wall time first, each name once regardless of its domain.
std::vector<std::string> labels_of(const timeline::Accounting& accounting) {
  std::vector<std::string> labels;
  std::set<std::string_view> known;
  for (const timeline::RangeAccount& range : accounting.ranges) {
    if (known.insert(range.label).second) labels.push_back(range.label);
  }
  return labels;
}

std::vector<std::string> nearest_first(const std::string& pattern,
                                       const std::vector<std::string>& labels) {
  std::vector<std::string> order = nearest(pattern, labels, kMostListed);
  for (const std::string& label : labels) {
    if (order.size() == kMostListed) break;
    if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
  }
  return order;
}

/// The Error that a capture has no range matching `pattern`, with at most ten ranges that it has:
/// the most similar first, then by time.
Error no_such_range(const std::string& source, const timeline::Accounting& accounting,
                    const std::string& pattern) {
  const std::vector<std::string> labels = labels_of(accounting);
  if (labels.empty()) {
    return {ErrorKind::NotFound,
            fmt::format("{} has no ranges, so --range '{}' matches nothing", source, pattern)};
  }
  std::vector<std::string> listed = nearest_first(pattern, labels);
  for (std::string& label : listed) label = '\'' + label + '\'';
  std::string names = join(listed, ", ");
  if (labels.size() > listed.size()) {
    names += fmt::format(" and {} more", labels.size() - listed.size());
  }
  return {ErrorKind::NotFound,
          fmt::format("{} has no range that matches '{}'; it has {}", source, pattern, names)};
}

}  // namespace

Result<bool> looks_like_trace(const std::filesystem::path& file) {
  return is_pipe(file) || begins_like_trace(PL_TRY(beginning_of(file)));
}

Result<Timeline> read_capture(const std::filesystem::path& file, unsigned threads) {
  // A pipe can be read only once, so assume the usual kind.
  if (is_pipe(file)) return with_rows(PL_TRY(torch_profiler::read_trace(file)));
  const std::string first = PL_TRY(beginning_of(file));
  if (first.starts_with(kSqliteStart)) return with_rows(PL_TRY(nsys::read_sqlite(file)));
  if (begins_like_trace(first)) {
    return with_rows(PL_TRY(torch_profiler::read_trace(file, {.threads = threads})));
  }
  std::string message = file.string();
  if (first.empty()) {
    message += " is empty";
  } else if (file.extension() == ".nsys-rep" || file.extension() == ".qdstrm") {
    message += " is a report of nsys: export it first with 'nsys export --type sqlite " +
               file.filename().string() + "'";
  } else {
    message +=
        " is neither a Kineto or Chrome trace (.json, .json.gz) nor an SQLite export of nsys";
  }
  return Error(ErrorKind::Parse, std::move(message));
}

Result<Report> make_report(const Timeline& timeline, const kernels::Classifier& classes,
                           const Options& options) {
  Report report;
  report.timeline = &timeline;
  report.range = options.range;
  const timeline::Attribution attribution = timeline::Attribution::of(timeline);
  timeline::AccountingOptions accounting;
  accounting.is_collective = [&](std::string_view name) {
    return classes.class_of(kernels::canonical_name(name)) == "collective";
  };
  accounting.focus = options.range;
  report.accounting = timeline::account(timeline, attribution, accounting);
  if (options.range && !report.accounting.focus) {
    return no_such_range(timeline.source, report.accounting, *options.range);
  }
  const timeline::KernelKeys keys{.shape = timeline::KernelKeys::Shape::Whole, .op = true};
  add_kernels(timeline::group_kernels(
                  timeline, keys,
                  {.inside = options.range, .attribution = &attribution, .classes = &classes}),
              report);
  report.copy_instances = static_cast<std::uint64_t>(
      std::count_if(timeline.work.begin(), timeline.work.end(), [](const DeviceWork& work) {
        return work.kind == WorkKind::Copy || work.kind == WorkKind::Fill;
      }));
  report.copies = timeline::transfer_table(timeline, {options.range, &attribution});
  report.collectives = timeline::collective_table(timeline, {options.range, &attribution});
  report.operator_order = options.operator_order;
  report.operators = operators::operator_table(
      timeline, {.order = options.operator_order, .inside = options.range});
  report.launches = launches_of(timeline);
  return report;
}

}  // namespace profline::trace_report
