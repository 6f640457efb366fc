// Who wrote the file, on what machine, and which problems it reports.

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

void read_tool(Import& file) {
  file.timeline.tool = "nsys";
  const auto table = file.table({"META_DATA_EXPORT", "EXPORT_META_DATA"});
  if (!table) return;
  file.scan(*table, {"name", "value"}, [&](const Rows& rows) {
    const auto name = rows.text(0);
    const auto value = rows.text(1);
    if (!name || !value || value->empty()) return;
    if (*name == "EXPORT_PRODUCT_VERSION") file.timeline.tool = "nsys " + std::string(*value);
  });
}

void read_gpus(Import& file) {
  if (const auto table = file.table({"TARGET_INFO_CUDA_DEVICE"})) {
    file.scan(*table, {"pid", "cudaId", "gpuId"}, [&](const Rows& rows) {
      const auto gpu = rows.maybe(2);
      if (!gpu || *gpu < 0 || *gpu > std::numeric_limits<std::int32_t>::max()) return;
      const auto device = static_cast<std::int32_t>(*gpu);
      const auto [entry, is_new] =
          file.device_of.try_emplace({rows.integer(0), rows.integer(1)}, device);
      if (!is_new) entry->second = std::min(entry->second, device);
    });
  }
  const auto table = file.table({"TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU"});
  if (!table) return;
  file.scan(
      *table,
      {"id", "name", "uuid", "totalMemory", "smCount", "computeMajor", "computeMinor",
       "memoryBandwidth"},
      [&](const Rows& rows) {
        Gpu gpu;
        gpu.device = static_cast<std::int32_t>(rows.integer(0));
        gpu.name = file.timeline.names.text(
            file.strings.intern(rows.text(1).value_or(std::string_view())));
        gpu.uuid = file.timeline.names.text(
            file.strings.intern(rows.text(2).value_or(std::string_view())));
        gpu.memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(3), 0));
        gpu.multiprocessors =
            static_cast<std::uint32_t>(std::max<std::int64_t>(rows.integer(4), 0));
        if (const auto major = rows.maybe(5)) {
          gpu.compute_capability = std::to_string(*major) + "." + std::to_string(rows.integer(6));
        }
        gpu.memory_bytes_per_second =
            static_cast<double>(std::max<std::int64_t>(rows.integer(7), 0));
        file.timeline.gpus.push_back(std::move(gpu));
      });
  std::sort(file.timeline.gpus.begin(), file.timeline.gpus.end(), [](const Gpu& a, const Gpu& b) {
    return std::tie(a.device, a.name, a.uuid) < std::tie(b.device, b.name, b.uuid);
  });
}

void read_clock(Import& file) {
  Timeline& timeline = file.timeline;
  if (const auto table = file.table({"TARGET_INFO_SESSION_START_TIME"})) {
    file.scan(*table, {"utcEpochNs"}, [&](const Rows& rows) {
      timeline.unix_origin_ns = std::max(timeline.unix_origin_ns, rows.integer(0));
    });
  }
  // Times of events count from the beginning of the session, those of this table do not. Its
  // duration is that of the session, which may begin long before and end long after the trace.
  if (const auto table = file.table({"ANALYSIS_DETAILS"})) {
    file.scan(*table, {"duration"}, [&](const Rows& rows) {
      file.session_ns = std::max(file.session_ns, std::min(rows.integer(0), kFarthestTime));
    });
  }
}

bool reports_loss(std::string_view text) {
  constexpr std::array<std::string_view, 7> kWords = {
      "lost", "dropped", "Not all", "not collected", "incomplete", "truncated", "overflow"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

/// `Some events (123) were lost`: 123. Nothing if there is more than one number.
std::optional<std::uint64_t> only_number(std::string_view text) {
  std::optional<std::uint64_t> found;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint64_t number = 0;
    const auto [rest, code] = std::from_chars(at, end, number);
    if (rest == at) {
      ++at;
      continue;
    }
    if (found || code != std::errc()) return std::nullopt;
    found = number;
    at = rest;
  }
  return found;
}

bool is_event_table(const std::string& name, const std::vector<std::string>& columns) {
  constexpr std::array<std::string_view, 3> kTimes = {"start", "timestamp", "rawTimestamp"};
  return name.starts_with("CUPTI_ACTIVITY_KIND_") ||
         std::any_of(columns.begin(), columns.end(), [&](const std::string& column) {
           return std::find(kTimes.begin(), kTimes.end(), column) != kTimes.end();
         });
}

/// The name of a process or thread, chosen among several rows independently of their order: by
/// rank, then alphabetically.
class ChosenNames {
 public:
  explicit ChosenNames(const Names& names) : names_(names) {}

  void offer(std::int64_t key, std::int64_t rank, Names::Id name) {
    const auto [entry, is_new] = chosen_.try_emplace(key, rank, name);
    auto& [best_rank, best] = entry->second;
    if (is_new || rank < best_rank) return;
    if (rank > best_rank || names_.text(name) < names_.text(best)) entry->second = {rank, name};
  }
  /// 0, the empty name, if it has none.
  Names::Id of(std::int64_t key) const {
    const auto found = chosen_.find(key);
    return found != chosen_.end() ? found->second.second : 0;
  }

 private:
  const Names& names_;
  std::map<std::int64_t, std::pair<std::int64_t, Names::Id>> chosen_;
};

void name_threads(Import& file) {
  Timeline& timeline = file.timeline;
  ChosenNames processes(timeline.names);
  ChosenNames threads(timeline.names);
  if (const auto table = file.table({"PROCESSES"})) {
    file.scan(*table, {"globalPid", "name"}, [&](const Rows& rows) {
      const std::int64_t process = process_key(rows.integer(0));
      const auto name = rows.text(1);
      if (!name || file.processes.count(process) == 0) return;
      processes.offer(process, 0, file.strings.intern(*name));
    });
  }
  if (const auto table = file.table({"ThreadNames"})) {
    file.scan(*table, {"globalTid", "nameId", "priority"}, [&](const Rows& rows) {
      if (file.thread_rows.count(rows.integer(0)) == 0) return;
      const auto name = file.strings.find(rows.integer(1, -1));
      if (name) threads.offer(rows.integer(0), rows.integer(2), *name);
    });
  }
  for (const auto& [global_tid, row] : file.thread_rows) {
    const Names::Id own = threads.of(global_tid);
    timeline.threads[row].name = own != 0 ? own : processes.of(process_key(global_tid));
  }
}

/// The time range of all rows.
struct Hull {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();

  template <typename Row>
  void hold(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      begin_ns = std::min(begin_ns, row.start_ns);
      end_ns = std::max(end_ns, row.end_ns);
    }
  }
  bool empty() const { return begin_ns > end_ns; }
};

std::uint64_t works_before_launch(const Timeline& timeline) {
  std::uint64_t count = 0;
  for (const DeviceWork& work : timeline.work) {
    if (work.launch != kNoRow && work.start_ns < timeline.calls[work.launch].start_ns) ++count;
  }
  return count;
}

template <typename Row>
std::uint64_t beginning_before(const std::vector<Row>& rows, std::int64_t when_ns) {
  const auto first = std::partition_point(rows.begin(), rows.end(),
                                          [&](const Row& row) { return row.start_ns < when_ns; });
  return static_cast<std::uint64_t>(first - rows.begin());
}

/// nsys reports the length of its session; rows outside it are kept, and reported.
void note_rows_outside_session(Import& file, const Hull& hull) {
  const Timeline& timeline = file.timeline;
  const std::int64_t session_ns = file.session_ns;
  const bool overlaps = session_ns > 0 && hull.begin_ns < session_ns && hull.end_ns > 0;
  if (!overlaps) return;  // exported with shifted times, or without session data
  const std::uint64_t early = beginning_before(timeline.work, 0) +
                              beginning_before(timeline.calls, 0) +
                              beginning_before(timeline.ranges, 0);
  const std::uint64_t late = timeline.work.size() + timeline.calls.size() + timeline.ranges.size() -
                             beginning_before(timeline.work, session_ns) -
                             beginning_before(timeline.calls, session_ns) -
                             beginning_before(timeline.ranges, session_ns);
  if (early > 0) {
    file.note(counted(early, "event begins", "events begin") +
              " before the session of nsys did, the first at " + std::to_string(hull.begin_ns) +
              " ns");
  }
  if (late > 0) {
    file.note(counted(late, "event begins", "events begin") +
              " after the session of nsys ended at " + std::to_string(session_ns) +
              " ns, the last ends at " + std::to_string(hull.end_ns) +
              " ns (a jump of the clock?)");
  }
}

/// The capture lasts from its first row to its last. nsys' session may have waited minutes for a
/// capture range to open.
void set_window(Import& file) {
  Timeline& timeline = file.timeline;
  Hull hull;
  hull.hold(timeline.work);
  hull.hold(timeline.calls);
  hull.hold(timeline.ranges);
  if (hull.empty()) return;
  note_rows_outside_session(file, hull);
  timeline.begin_ns = hull.begin_ns;
  timeline.end_ns = hull.end_ns;
}

void close_ranges(Import& file) {
  Timeline& timeline = file.timeline;
  std::uint64_t open = 0;
  for (Range& range : timeline.ranges) {
    if (range.closed) continue;
    ++open;
    range.end_ns = std::max(range.start_ns, timeline.end_ns);
  }
  if (open > 0) {
    file.note(counted(open, "range was", "ranges were") +
              " still open when the capture ended: counted up to its last event");
  }
}

}  // namespace

void read_metadata(Import& file) {
  read_tool(file);
  read_gpus(file);
  read_clock(file);
}

void read_diagnostics(Import& file) {
  const auto table = file.table({"DIAGNOSTIC_EVENT"});
  if (!table) return;
  std::map<std::int64_t, std::string> severities = {{2, "Warning"}, {3, "Error"}};
  if (const auto names = file.table({"ENUM_DIAGNOSTIC_SEVERITY_LEVEL"})) {
    file.scan(*names, {"id", "name"}, [&](const Rows& rows) {
      if (const auto name = rows.text(1)) severities[rows.integer(0)] = std::string(*name);
    });
  }
  struct Message {
    std::int64_t when_ns;
    std::string text;
    auto operator<=>(const Message&) const = default;
  };
  std::vector<Message> messages;
  file.scan(*table, {"timestamp", "severity", "text"}, [&](const Rows& rows) {
    file.use();
    const std::string& severity = severities[rows.integer(1, -1)];
    const auto text = rows.text(2);
    if (!text || (severity != "Warning" && severity != "Error")) return;
    messages.push_back({rows.integer(0), file.timeline.names.text(file.strings.intern(*text))});
  });
  std::sort(messages.begin(), messages.end());
  Reading& reading = file.timeline.reading;
  for (const Message& message : messages) {
    if (!reports_loss(message.text)) {
      file.note("nsys: " + message.text);
      continue;
    }
    reading.losses.push_back(message.text);
    reading.lost += only_number(message.text).value_or(0);
  }
}

void count_other_tables(Import& file) {
  for (const auto& [name, columns] : file.schema) {
    const bool read =
        std::find(file.tables_read.begin(), file.tables_read.end(), name) != file.tables_read.end();
    // Diagnostics are read last, because of their place among the messages.
    if (read || name == "DIAGNOSTIC_EVENT" || !is_event_table(name, columns)) continue;
    const auto count =
        file.database.query_value<std::int64_t>("SELECT count(*) FROM " + sql_name(name));
    if (!count) {
      file.lose_rest(name, 0, count.error());
    } else if (*count > 0) {
      SkippedRows& skipped = file.skipped_rows[name + ": not one of the tables that are read"];
      skipped.count = static_cast<std::uint64_t>(*count);
      skipped.whole_table = true;
    }
  }
}

namespace {

void report_skipped(Import& file) {
  for (const auto& [reason, rows] : file.skipped_rows) {
    std::string position = rows.whole_table ? "all rows" : "a row without a start";
    if (rows.first_start_ns) position = "start " + std::to_string(*rows.first_start_ns);
    file.timeline.reading.skip(reason, position, rows.count);
  }
}

}  // namespace

void finish(Import& file) {
  order_ranges(file);
  set_window(file);
  close_ranges(file);
  renumber(file);
  finish_pieces(file);
  if (const std::uint64_t count = works_before_launch(file.timeline)) {
    file.note(counted(count, "piece of work begins before the call that launched it",
                      "pieces of work begin before the calls that launched them") +
              ": the clocks of host and device disagree");
  }
}

void finish_pieces(Import& file) {
  name_threads(file);
  report_skipped(file);
  if (file.unnamed > 0) {
    file.note(counted(file.unnamed, "event has", "events have") +
              " no name in StringIds: shown as (unnamed)");
  }
  if (const std::size_t count = file.strings.repaired().size()) {
    file.note(counted(count, "name is", "names are") + " not UTF-8: bad bytes are shown as U+FFFD");
  }
}

}  // namespace profline::nsys::internal
