// What threads of the host did: calls of the CUDA runtime and driver, with the waits that CUPTI
// records separately, and NVTX ranges with their domains.

#include <algorithm>
#include <array>
#include <tuple>

#include "records/timeline.h"
#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

/// Since 2019 the first contains the calls of both runtime and driver; some converters split it.
constexpr std::array<std::string_view, 2> kCallTables = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                                         "CUPTI_ACTIVITY_KIND_DRIVER"};

/// Kinds by name, looked up once per name.
class Kinds {
 public:
  explicit Kinds(const Names& names) : names_(names) {}

  CallKind of(Names::Id name) {
    if (name >= kinds_.size()) kinds_.resize(std::size_t{name} + 1);
    std::optional<CallKind>& kind = kinds_[name];
    if (!kind) kind = call_kind(names_.text(name));
    return *kind;
  }

 private:
  const Names& names_;
  std::vector<std::optional<CallKind>> kinds_;
};

void read_call_table(Import& file, const std::string& table) {
  Timeline& timeline = file.timeline;
  timeline.calls.reserve(timeline.calls.size() + file.rows_at_most(table));
  Kinds kinds(timeline.names);
  std::int64_t last_tid = 0;
  RowIndex last_thread = kNoRow;
  file.scan(table, {"start", "end", "globalTid", "correlationId", "nameId"}, [&](const Rows& rows) {
    const auto when = interval(file, table, rows);
    if (!when) return;
    const std::int64_t tid = rows.integer(2);
    if (last_thread == kNoRow || tid != last_tid) last_thread = file.thread(tid);
    last_tid = tid;
    HostCall call{.start_ns = when->start_ns, .end_ns = when->end_ns};
    call.correlation = static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(3), 0));
    call.name = file.name(rows.maybe(4));
    call.thread = last_thread;
    call.kind = kinds.of(call.name);
    timeline.calls.push_back(call);
    file.use();
  });
}

void index_calls(Import& file) {
  if (file.take_piece) {
    file.calls = std::make_shared<const CallIndex>();
    return;
  }
  order_calls(file);
  std::vector<std::uint32_t> process_of_thread(file.timeline.threads.size());
  for (const auto& [global_tid, row] : file.thread_rows) {
    process_of_thread[row] = file.process(global_tid);
  }
  file.calls =
      std::make_shared<const CallIndex>(CallIndex::of(file.timeline.calls, process_of_thread));
}

/// CUPTI's own record of a wait. It usually belongs to a call and then adds nothing; if calls were
/// not traced it is the only record, and replaces the call. It does not say which thread waited. A
/// wait of one stream for another is not a wait of the host.
void read_synchronization(Import& file, bool calls_traced) {
  constexpr std::int64_t kStreamWaitsForEvent = 2;
  const auto table = file.table({"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"});
  if (!table) return;
  // Piece by piece there is no index of calls, but where calls were traced, waits are among them.
  if (file.take_piece && calls_traced) return;
  std::vector<HostCall> alone;
  file.scan(*table, {"start", "end", "globalPid", "correlationId", "syncType"},
            [&](const Rows& rows) {
              const auto when = interval(file, *table, rows);
              if (!when) return;
              file.use();
              const std::int64_t global_pid = rows.integer(2);
              const auto correlation =
                  static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(3), 0));
              const bool host_waits = rows.integer(4) != kStreamWaitsForEvent;
              const RowIndex call = file.calls->find(file.process(global_pid), correlation);
              if (call != kNoRow || !host_waits) return;
              alone.push_back({.start_ns = when->start_ns,
                               .end_ns = when->end_ns,
                               .correlation = correlation,
                               .name = file.timeline.names.id_of("(synchronization)"),
                               .thread = file.thread(process_key(global_pid)),
                               .kind = CallKind::Synchronize});
            });
  if (alone.empty()) return;
  file.note(counted(alone.size(), "synchronization has", "synchronizations have") +
            " no call in the file: CUPTI's record of the wait is used instead");
  file.timeline.calls.insert(file.timeline.calls.end(), alone.begin(), alone.end());
  index_calls(file);
}

/// A dense table may have this many slots per call before a sorted list is smaller.
constexpr std::uint64_t kSlotsPerCall = 4;
constexpr std::uint64_t kFewSlots = 4096;

bool launches(const HostCall& call) {
  return call.kind == CallKind::Launch || call.kind == CallKind::GraphLaunch ||
         call.kind == CallKind::Copy || call.kind == CallKind::Fill;
}

enum class EventType { PushPop, StartEnd, DomainCreate, Other };

struct EventTypeName {
  std::int64_t id;  // if the file does not say
  std::string_view name;
  EventType type;
};
constexpr std::array kEventTypes = {
    EventTypeName{59, "NvtxPushPopRange", EventType::PushPop},
    EventTypeName{60, "NvtxStartEndRange", EventType::StartEnd},
    EventTypeName{70, "NvtxtPushPopRange", EventType::PushPop},
    EventTypeName{71, "NvtxtStartEndRange", EventType::StartEnd},
    EventTypeName{75, "NvtxDomainCreate", EventType::DomainCreate},
    EventTypeName{34, "NvtxMark", EventType::Other},
};

struct KnownType {
  EventType type = EventType::Other;
  std::string name;
};

std::map<std::int64_t, KnownType> event_types(Import& file) {
  std::map<std::int64_t, KnownType> types;
  const auto add = [&](std::int64_t id, std::string_view name) {
    const auto known = std::ranges::find(kEventTypes, name, &EventTypeName::name);
    types[id] = {known != kEventTypes.end() ? known->type : EventType::Other, std::string(name)};
  };
  for (const EventTypeName& type : kEventTypes) add(type.id, type.name);
  if (const auto table = file.table({"ENUM_NSYS_EVENT_TYPE"})) {
    file.scan(*table, {"id", "name"}, [&](const Rows& rows) {
      if (const auto name = rows.text(1)) add(rows.integer(0), *name);
    });
  }
  return types;
}

/// Each process numbers its domains; a range may precede the row that names its domain.
class Domains {
 public:
  /// A number for the domain until all names are known; 0 is the default domain.
  Names::Id number(std::int64_t process, std::int64_t id) {
    if (id == 0) return 0;
    const auto next = static_cast<Names::Id>(names_.size() + 1);
    const auto [entry, is_new] = numbers_.try_emplace({process, id}, next);
    if (is_new) names_.push_back({id, std::nullopt});
    return entry->second;
  }
  void set_name(std::int64_t process, std::int64_t id, Names::Id name, const Names& names) {
    const Names::Id domain = number(process, id);
    if (domain == 0) return;
    // A domain has one name; if the file has several, the alphabetically first.
    std::optional<Names::Id>& known = names_[domain - 1].name;
    if (!known || names.text(name) < names.text(*known)) known = name;
  }
  Names::Id name(Names::Id number, Names& names) const {
    if (number == 0) return 0;
    const Domain& domain = names_[number - 1];
    return domain.name ? *domain.name : names.id_of("domain " + std::to_string(domain.id));
  }

 private:
  struct Domain {
    std::int64_t id;
    std::optional<Names::Id> name;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Names::Id> numbers_;
  std::vector<Domain> names_;
};

class RangeReader {
 public:
  RangeReader(Import& file, std::string table)
      : import_(file), table_(std::move(table)), types_(event_types(file)), payloads_(file) {}

  void read() {
    const std::function<bool()> take = import_.take_piece;
    if (take) {
      import_.take_piece = [this, &take] {
        name_domains();
        return take();
      };
    }
    import_.scan(table_,
                 {"start", "end", "eventType", "text", "textId", "globalTid", "endGlobalTid",
                  "domainId", "binaryData"},
                 [&](const Rows& rows) { read_row(rows); });
    if (take) {
      name_domains();
      take();
      import_.take_piece = take;
      return;
    }
    name_domains();
    nccl_.finish(import_.timeline);
  }

 private:
  void read_row(const Rows& rows) {
    const auto known = types_.find(rows.integer(2, -1));
    const EventType type = known != types_.end() ? known->second.type : EventType::Other;
    if (type == EventType::Other) {
      const std::string what = known != types_.end() ? known->second.name : "event of unknown type";
      return import_.skip(table_, what + " is not a range", rows);
    }
    const std::int64_t global_tid = rows.integer(5);
    const std::int64_t domain = rows.integer(7);
    if (type == EventType::DomainCreate) {
      domains_.set_name(process_key(global_tid), domain, text(rows), import_.timeline.names);
      return import_.use();
    }
    add_range(rows, type == EventType::PushPop ? RangeKind::PushPop : RangeKind::StartEnd,
              global_tid, domain);
  }

  void add_range(const Rows& rows, RangeKind kind, std::int64_t global_tid, std::int64_t domain) {
    // For a range that is still open, finish() sets the end to that of the capture.
    const auto end = rows.maybe(1);
    const auto when = interval(import_, table_, rows, end ? end : rows.maybe(0));
    if (!when) return;
    Range range{.start_ns = when->start_ns, .end_ns = when->end_ns};
    range.name = text(rows);
    range.domain = domains_.number(process_key(global_tid), domain);
    range.thread = import_.thread(global_tid);
    range.end_thread = range.thread;
    if (const auto other = rows.maybe(6)) range.end_thread = import_.thread(*other);
    range.kind = kind;
    range.closed = end.has_value();
    import_.timeline.ranges.push_back(range);
    // NCCL's calls would stay in memory.
    if (!payloads_.empty() && !import_.take_piece) {
      const auto bytes = rows.bytes(8);
      nccl_.add(range, import_.timeline.names, bytes ? payloads_.decode(*bytes) : std::nullopt);
    }
    import_.use();
  }

  /// A registered string is in StringIds, any other in the row.
  Names::Id text(const Rows& rows) {
    if (const auto id = rows.maybe(4)) {
      if (const auto name = import_.strings.find(*id)) return *name;
    }
    if (const auto own = rows.text(3)) return import_.strings.intern(*own);
    return import_.name(std::nullopt);
  }

  /// Domains that are created after the rows of a piece keep their number.
  void name_domains() {
    Timeline& timeline = import_.timeline;
    for (Range& range : timeline.ranges) range.domain = domains_.name(range.domain, timeline.names);
  }

  Import& import_;
  std::string table_;
  std::map<std::int64_t, KnownType> types_;
  NcclSchemas payloads_;
  NcclCalls nccl_;
  Domains domains_;
};

}  // namespace

void read_calls(Import& file) {
  // Once for all tables: growing would have every row in memory twice.
  file.timeline.calls.reserve(file.rows_at_most(kCallTables));
  bool any = false;
  for (const std::string_view name : kCallTables) {
    const auto table = file.table({name});
    if (!table) continue;
    any = true;
    read_in_slices(file, *table, [&](Import& part) { read_call_table(part, *table); });
  }
  if (!any) {
    file.note(
        "no table CUPTI_ACTIVITY_KIND_RUNTIME: calls to CUDA were not traced, so no work "
        "has a launch record");
  }
  index_calls(file);
  read_synchronization(file, any);
}

CallIndex CallIndex::of(const std::vector<HostCall>& calls,
                        const std::vector<std::uint32_t>& process_of_thread) {
  CallIndex index;
  for (const std::uint32_t process : process_of_thread) {
    if (process >= index.processes_.size()) index.processes_.resize(process + 1);
  }
  const auto process_of = [&](const HostCall& call) -> Process& {
    return index.processes_[process_of_thread[call.thread]];
  };
  for (const HostCall& call : calls) {
    if (call.correlation != 0) process_of(call).expect(call.correlation);
  }
  for (Process& process : index.processes_) process.choose_form();
  for (RowIndex row = 0; row < calls.size(); ++row) {
    if (calls[row].correlation != 0) process_of(calls[row]).add(row, calls);
  }
  for (Process& process : index.processes_) process.sort(calls);
  return index;
}

void CallIndex::Process::expect(std::uint64_t correlation) {
  const bool begun = count++ > 0;
  first = begun ? std::min(first, correlation) : correlation;
  last = begun ? std::max(last, correlation) : correlation;
}

void CallIndex::Process::choose_form() {
  if (count == 0) return;
  const std::uint64_t span = last - first;
  if (span < std::max(count * kSlotsPerCall, kFewSlots)) {
    dense.resize(span + 1, kNoRow);
  } else {
    sparse.reserve(count);
  }
}

void CallIndex::Process::add(RowIndex row, const std::vector<HostCall>& calls) {
  const HostCall& call = calls[row];
  if (dense.empty()) {
    sparse.emplace_back(call.correlation, row);
    return;
  }
  RowIndex& slot = dense[call.correlation - first];
  if (slot == kNoRow || (launches(call) && !launches(calls[slot]))) slot = row;
}

void CallIndex::Process::sort(const std::vector<HostCall>& calls) {
  std::sort(sparse.begin(), sparse.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const bool a_launches = launches(calls[a.second]);
    const bool b_launches = launches(calls[b.second]);
    return a_launches != b_launches ? a_launches : a.second < b.second;
  });
}

RowIndex CallIndex::find(const Process& process, std::uint64_t correlation) {
  if (process.count == 0 || correlation < process.first || correlation > process.last) {
    return kNoRow;
  }
  if (!process.dense.empty()) return process.dense[correlation - process.first];
  const auto found = std::lower_bound(
      process.sparse.begin(), process.sparse.end(), std::pair(correlation, RowIndex{0}),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  return found != process.sparse.end() && found->first == correlation ? found->second : kNoRow;
}

RowIndex CallIndex::find(std::uint32_t process, std::uint64_t correlation) const {
  if (correlation == 0 || process >= processes_.size()) return kNoRow;
  return find(processes_[process], correlation);
}

RowIndex CallIndex::find(std::uint64_t correlation) const {
  const Process* only = nullptr;
  for (const Process& process : processes_) {
    if (process.count == 0) continue;
    if (only != nullptr) return kNoRow;
    only = &process;
  }
  return only == nullptr || correlation == 0 ? kNoRow : find(*only, correlation);
}

void read_ranges(Import& file) {
  const auto table = file.table({"NVTX_EVENTS"});
  if (!table) return file.note("no table NVTX_EVENTS: the file contains no ranges");
  RangeReader(file, *table).read();
}

}  // namespace profline::nsys::internal
