// Who wrote the file, on what machine, and what it says went wrong.

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

void read_tool(Import& import) {
  import.timeline.tool = "nsys";
  const auto table = import.table({"META_DATA_EXPORT", "EXPORT_META_DATA"});
  if (!table) return;
  import.scan(*table, {"name", "value"}, [&](const Rows& rows) {
    const auto name = rows.text(0);
  const auto value = rows.text(1);
  if (!name || !value || value->empty()) return;
  if (*name == "EXPORT_PRODUCT_VERSION") import.timeline.tool = "nsys " + std::string(*value);
});
}  // namespace

void read_gpus(Import& import) {
  if (const auto table = import.table({"TARGET_INFO_CUDA_DEVICE"})) {
    import.scan(*table, {"pid", "cudaId", "gpuId"}, [&](const Rows& rows) {
      const auto gpu = rows.maybe(2);
    if (!gpu || *gpu < 0 || *gpu > std::numeric_limits<std::int32_t>::max()) return;
    import.device_of[{rows.integer(0), rows.integer(1)}] = static_cast<std::int32_t>(*gpu);
  });
}
const auto table = import.table({"TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU"});
if (!table) return;
  import.scan(*table,
              {"id", "name", "uuid", "totalMemory", "smCount", "computeMajor", "computeMinor"},
              [&](const Rows& rows) {
                Gpu gpu;
  gpu.device = static_cast<std::int32_t>(rows.integer(0));
  gpu.name =
      import.timeline.names.text(import.strings.intern(rows.text(1).value_or(std::string_view())));
  gpu.uuid =
      import.timeline.names.text(import.strings.intern(rows.text(2).value_or(std::string_view())));
  gpu.memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(3), 0));
  gpu.multiprocessors = static_cast<std::uint32_t>(std::max<std::int64_t>(rows.integer(4), 0));
  if (const auto major = rows.maybe(5)) {
    gpu.compute_capability = std::to_string(*major) + "." + std::to_string(rows.integer(6));
  }
  import.timeline.gpus.push_back(std::move(gpu));
  }  // namespace profline::nsys::internal
);
}

void read_clock(Import& import) {
  Timeline& timeline = import.timeline;
  if (const auto table = import.table({"TARGET_INFO_SESSION_START_TIME"})) {
    import.scan(*table, {"utcEpochNs"},
                [&](const Rows& rows) { timeline.unix_origin_ns = rows.integer(0);
  });
}
// Times of events count from the beginning of the session, those of this table do not.
if (const auto table = import.table({"ANALYSIS_DETAILS"})) {
    import.scan(*table, {"duration"}, [&](const Rows& rows) {
      const std::int64_t duration_ns = std::min(rows.integer(0), kFarthestTime);
    timeline.end_ns = std::max(timeline.end_ns, duration_ns);
});
}
}

bool tells_of_loss(std::string_view text) {
  constexpr std::array<std::string_view, 7> kWords = {
      "lost", "dropped", "Not all", "not collected", "incomplete", "truncated", "overflow"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

/// `Some events (123) were lost`: 123. Nothing where there is more than one number.
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

void name_threads(Import& import) {
  Timeline& timeline = import.timeline;
  std::map<std::int64_t, Names::Id> process_names;
  if (const auto table = import.table({"PROCESSES"})) {
    import.scan(*table, {"globalPid", "name"}, [&](const Rows& rows) {
      const auto name = rows.text(1);
    if (!name || import.processes.count(process_key(rows.integer(0))) == 0) return;
    process_names[process_key(rows.integer(0))] = import.strings.intern(*name);
  });
}
for (const auto& [global_tid, row] : import.thread_rows) {
  const auto name = process_names.find(process_key(global_tid));
  if (name != process_names.end()) timeline.threads[row].name = name->second;
}
if (const auto table = import.table({"ThreadNames"})) {
    import.scan(*table, {"globalTid", "nameId"}, [&](const Rows& rows) {
      const auto thread = import.thread_rows.find(rows.integer(0));
    if (thread == import.thread_rows.end()) return;
    const auto name = import.strings.find(rows.integer(1, -1));
    if (name) timeline.threads[thread->second].name = *name;
});
}
}

/// The hull of all rows.
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

/// nsys says how long it captured; rows that lie outside are kept, and told.
void set_window(Import& import) {
  Timeline& timeline = import.timeline;
  Hull hull;
  hull.hold(timeline.work);
  hull.hold(timeline.calls);
  hull.hold(timeline.ranges);
  const std::int64_t duration_ns = timeline.end_ns;
  if (hull.empty()) return;
  const bool overlaps = duration_ns > 0 && hull.begin_ns < duration_ns && hull.end_ns > 0;
  if (!overlaps) {
    // Exported with shifted times, or no word about the session at all.
    timeline.begin_ns = hull.begin_ns;
    timeline.end_ns = hull.end_ns;
    return;
  }
  const std::uint64_t early = beginning_before(timeline.work, 0) +
                              beginning_before(timeline.calls, 0) +
                              beginning_before(timeline.ranges, 0);
  const std::uint64_t late = timeline.work.size() + timeline.calls.size() + timeline.ranges.size() -
                             beginning_before(timeline.work, duration_ns) -
                             beginning_before(timeline.calls, duration_ns) -
                             beginning_before(timeline.ranges, duration_ns);
  if (early > 0) {
    import.note(std::to_string(early) + " events begin before the capture did, the first at " +
                std::to_string(hull.begin_ns) + " ns");
  }
  if (late > 0) {
    import.note(std::to_string(late) + " events begin after the capture's end at " +
                std::to_string(duration_ns) + " ns, the last ends at " +
                std::to_string(hull.end_ns) + " ns (a jump of the clock?)");
  }
  timeline.begin_ns = std::min<std::int64_t>(0, hull.begin_ns);
  timeline.end_ns = std::max(duration_ns, hull.end_ns);
}

void close_ranges(Import& import) {
  Timeline& timeline = import.timeline;
  std::uint64_t open = 0;
  for (Range& range : timeline.ranges) {
    if (range.closed) continue;
    ++open;
    range.end_ns = std::max(range.start_ns, timeline.end_ns);
  }
  if (open > 0) {
    import.note(std::to_string(open) +
                " ranges were still open when the capture ended; they are taken to end with it");
  }
}

}  // namespace

void read_metadata(Import& import) {
  read_tool(import);
  read_gpus(import);
  read_clock(import);
}

void read_diagnostics(Import& import) {
  const auto table = import.table({"DIAGNOSTIC_EVENT"});
  if (!table) return;
  std::map<std::int64_t, std::string> severities = {{2, "Warning"}, {3, "Error"}};
  if (const auto names = import.table({"ENUM_DIAGNOSTIC_SEVERITY_LEVEL"})) {
    import.scan(*names, {"id", "name"}, [&](const Rows& rows) {
      if (const auto name = rows.text(1)) severities[rows.integer(0)] = std::string(*name);
  });
}
Reading& reading = import.timeline.reading;
  import.scan(*table, {"severity", "text"}, [&](const Rows& rows) {
    import.use();
  const std::string& severity = severities[rows.integer(0, -1)];
  const auto text = rows.text(1);
  if (!text || (severity != "Warning" && severity != "Error")) return;
  const std::string& told = import.timeline.names.text(import.strings.intern(*text));
  if (!tells_of_loss(told)) return import.note("nsys: " + told);
  reading.losses.push_back(told);
  reading.lost += only_number(told).value_or(0);
  });
  }

  void count_other_tables(Import& import) {
    for (const auto& [name, columns] : import.schema) {
      const bool read = std::find(import.tables_read.begin(), import.tables_read.end(), name) !=
                        import.tables_read.end();
      // Diagnostics are read last, for their place among the messages.
      if (read || name == "DIAGNOSTIC_EVENT" || !is_event_table(name, columns)) continue;
      const auto count =
          import.database.query_value<std::int64_t>("SELECT count(*) FROM " + sql_name(name));
      if (!count) {
        import.lose_rest(name, 0, count.error());
      } else if (*count > 0) {
        import.skip(name, "not one of the tables that are read", 1,
                    static_cast<std::uint64_t>(*count));
      }
    }
  }

  void finish(Import& import) {
    Timeline& timeline = import.timeline;
    std::sort(timeline.ranges.begin(), timeline.ranges.end(), [](const Range& a, const Range& b) {
      return std::tie(a.start_ns, b.end_ns, a.thread, a.name) <
             std::tie(b.start_ns, a.end_ns, b.thread, b.name);
    });
    set_window(import);
    close_ranges(import);
    name_threads(import);
    if (import.unnamed > 0) {
      import.note(std::to_string(import.unnamed) +
                  " events have no name in StringIds; they are called (unnamed)");
    }
    if (import.strings.repaired() > 0) {
      import.note(std::to_string(import.strings.repaired()) +
                  " names are not UTF-8; their bad bytes are shown as U+FFFD");
    }
    if (const std::uint64_t count = works_before_launch(timeline)) {
      import.note(
          std::to_string(count) +
          " pieces of work begin before the call that launched them: the clocks of host and "
          "device disagree");
    }
  }

  }  // namespace profline::nsys::internal
