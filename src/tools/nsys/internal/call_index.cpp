#include "tools/nsys/internal/call_index.h"

#include <algorithm>

namespace profline::nsys::internal {
namespace {

/// A dense table may have this many slots a call before a sorted list is the smaller one.
constexpr std::uint64_t kSlotsPerCall = 4;
constexpr std::uint64_t kFewSlots = 4096;

bool launches(const HostCall& call) {
  return call.kind == CallKind::Launch || call.kind == CallKind::GraphLaunch ||
         call.kind == CallKind::Copy || call.kind == CallKind::Fill;
}

}  // namespace

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
