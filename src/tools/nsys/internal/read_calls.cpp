// Calls of the CUDA runtime and driver, and the waits that CUPTI records separately.

#include <algorithm>

#include "records/timeline.h"
#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

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
void read_synchronization(Import& file) {
  constexpr std::int64_t kStreamWaitsForEvent = 2;
  const auto table = file.table({"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"});
  if (!table) return;
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

}  // namespace

void read_calls(Import& file) {
  bool any = false;
  // Since 2019 one table contains the calls of both runtime and driver; some converters split it.
  for (const std::string_view name :
       {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
    const auto table = file.table({name});
    if (!table) continue;
    any = true;
    read_in_slices(file, *table, [&](Import& part) { read_call_table(part, *table); });
  }
  if (!any) {
    file.note(
        "no table CUPTI_ACTIVITY_KIND_RUNTIME: calls of CUDA were not traced, so no work "
        "has a launch record");
  }
  index_calls(file);
  read_synchronization(file);
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

}  // namespace profline::nsys::internal
