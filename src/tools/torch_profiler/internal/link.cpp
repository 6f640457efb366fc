#include <algorithm>
#include <span>

#include "base/figures.h"
#include "tools/torch_profiler/internal/timeline_builder.h"

namespace profline::torch_profiler::internal {
namespace {

/// Sorts rows by start; if several start together, the longer ones first (they enclose the others),
/// else in the order of the file.
template <typename Rows, typename RowOf>
void order(Rows& rows, RowOf row_of) {
  const auto before = [&](const auto& a, const auto& b) {
    if (row_of(a).start_ns != row_of(b).start_ns) return row_of(a).start_ns < row_of(b).start_ns;
    return row_of(a).end_ns > row_of(b).end_ns;
  };
  if (!std::is_sorted(rows.begin(), rows.end(), before)) {
    std::stable_sort(rows.begin(), rows.end(), before);
  }
}

/// Rows by a number; fastest for ascending lookups.
class NumberIndex {
 public:
  struct Entry {
    std::uint64_t number;
    RowIndex row;

    bool operator<(const Entry& other) const {
      return number != other.number ? number < other.number : row < other.row;
    }
  };

  void reserve(std::size_t size) { entries_.reserve(size); }
  void add(std::uint64_t number, RowIndex row) { entries_.push_back({number, row}); }
  void sort() {
    if (!std::is_sorted(entries_.begin(), entries_.end())) {
      std::sort(entries_.begin(), entries_.end());
    }
  }

  /// The rows with this number, in order. Starts where it left off, in doubling steps.
  std::span<const Entry> find(std::uint64_t number) {
    const std::size_t size = entries_.size();
    std::size_t low = last_ < size && entries_[last_].number <= number ? last_ : 0;
    std::size_t step = 1;
    std::size_t high = low;
    while (high < size && entries_[high].number < number) {
      low = high;
      high = std::min(size, high + step);
      step *= 2;
    }
    const auto first = std::lower_bound(
        entries_.begin() + static_cast<std::ptrdiff_t>(low),
        entries_.begin() + static_cast<std::ptrdiff_t>(std::min(size, high + 1)), number,
        [](const Entry& entry, std::uint64_t wanted) { return entry.number < wanted; });
    auto end = first;
    while (end != entries_.end() && end->number == number) ++end;
    last_ = static_cast<std::size_t>(first - entries_.begin());
    return {first, end};
  }

 private:
  std::vector<Entry> entries_;
  std::size_t last_ = 0;
};

bool puts_work(CallKind kind) {
  return kind == CallKind::Launch || kind == CallKind::GraphLaunch || kind == CallKind::Copy ||
         kind == CallKind::Fill;
}

class Linker {
 public:
  Linker(Timeline& timeline, std::vector<PendingWork> work, std::vector<PendingCall> calls)
      : timeline_(timeline), work_(std::move(work)), calls_(std::move(calls)) {}

  void run();

 private:
  void link_work();
  RowIndex launch_of(const PendingWork& work);
  RowIndex by_correlation(const PendingWork& work);
  RowIndex by_external_id(const PendingWork& work);
  void take_from_launch(PendingWork& work) const;
  void link_operators();
  void close_before(std::vector<RowIndex>& stack, std::int64_t time_ns) const;
  void push(std::vector<RowIndex>& stack, RowIndex op);
  bool is_scope(RowIndex op, const std::vector<RowIndex>& around) const;
  void link_by_external_id();
  void add_notes() const;

  Timeline& timeline_;
  std::vector<PendingWork> work_;
  std::vector<PendingCall> calls_;
  NumberIndex by_correlation_;
  NumberIndex by_external_id_;
  std::vector<bool> scopes_;  // by operator
  std::uint64_t several_calls_ = 0;
  std::uint64_t without_launch_ = 0;
  std::uint64_t before_launch_ = 0;
  std::uint64_t not_nested_ = 0;
};

void Linker::run() {
  const auto itself = [](const auto& row) -> const auto& {
    return row;
  };
  const auto inside = [](const auto& pending) -> const auto& {
    return pending.row;
  };
  order(work_, inside);
  order(calls_, inside);
  order(timeline_.operators, itself);
  link_operators();
  link_by_external_id();
  link_work();
  order(timeline_.ranges, itself);
  timeline_.calls.reserve(calls_.size());
  for (const PendingCall& call : calls_) timeline_.calls.push_back(call.row);
  timeline_.work.reserve(work_.size());
  for (const PendingWork& work : work_) timeline_.work.push_back(work.row);
  add_notes();
}

void Linker::link_work() {
  by_correlation_.reserve(calls_.size());
  for (RowIndex row = 0; row < calls_.size(); ++row) {
    if (calls_[row].row.correlation != 0) by_correlation_.add(calls_[row].row.correlation, row);
    if (calls_[row].external_id != 0 && puts_work(calls_[row].row.kind)) {
      by_external_id_.add(calls_[row].external_id, row);
    }
  }
  by_correlation_.sort();
  by_external_id_.sort();
  for (PendingWork& work : work_) {
    work.row.launch = launch_of(work);
    if (work.row.launch == kNoRow) {
      ++without_launch_;
      continue;
    }
    take_from_launch(work);
    if (work.row.start_ns < calls_[work.row.launch].row.start_ns) ++before_launch_;
  }
}

RowIndex Linker::launch_of(const PendingWork& work) {
  const RowIndex call = work.correlation == 0 ? kNoRow : by_correlation(work);
  return call != kNoRow || work.external_id == 0 ? call : by_external_id(work);
}

/// Several calls have the same correlation if the runtime's call is recorded together with the
/// driver's, or if traces of several processes were merged. The call that can launch work counts;
/// of several such calls the one of the same operator, else the last before the work began.
RowIndex Linker::by_correlation(const PendingWork& work) {
  const auto found = by_correlation_.find(work.correlation);
  if (found.size() == 1) return found.front().row;
  RowIndex best = kNoRow;
  int best_rank = -1;
  for (const auto& entry : found) {
    const PendingCall& call = calls_[entry.row];
    const int rank = (puts_work(call.row.kind) ? 4 : 0) +
                     (call.row.start_ns <= work.row.start_ns ? 2 : 0) +
                     (work.external_id != 0 && call.external_id == work.external_id ? 1 : 0);
    if (rank >= best_rank) {
      best = entry.row;
      best_rank = rank;
    }
  }
  if (found.size() > 1) ++several_calls_;
  return best;
}

/// Only if exactly one call matches.
RowIndex Linker::by_external_id(const PendingWork& work) {
  const auto found = by_external_id_.find(work.external_id);
  return found.size() == 1 ? found.front().row : kNoRow;
}

/// HIP records shapes and sizes with the call.
void Linker::take_from_launch(PendingWork& work) const {
  const PendingCall& call = calls_[work.row.launch];
  if (work.row.kind == WorkKind::Kernel) {
    if (work.row.shape == kNoRow) work.row.shape = call.shape;
  } else if (work.row.bytes == 0) {
    work.row.bytes = call.bytes;
  }
}

void Linker::close_before(std::vector<RowIndex>& stack, std::int64_t time_ns) const {
  while (!stack.empty() && timeline_.operators[stack.back()].end_ns <= time_ns) stack.pop_back();
}

void Linker::push(std::vector<RowIndex>& stack, RowIndex op) {
  const Operator& row = timeline_.operators[op];
  close_before(stack, row.start_ns);
  if (!stack.empty() && timeline_.operators[stack.back()].end_ns < row.end_ns) ++not_nested_;
  scopes_[op] = is_scope(op, stack);
  stack.push_back(op);
}

/// RECORD_FUNCTION in a program makes an operator; unlike those of the framework it is not enclosed
/// by operators of the framework, and its name has no namespace. Whether shapes were recorded does
/// not matter: a trace has the same ranges with and without them.
bool Linker::is_scope(RowIndex op, const std::vector<RowIndex>& around) const {
  const Operator& row = timeline_.operators[op];
  if (!around.empty() && !scopes_[around.back()]) return false;
  const std::string& name = timeline_.names.text(row.name);
  return !name.empty() && name.find("::") == std::string::npos;
}

/// One sweep over operators and calls in order of time, with one stack per thread.
void Linker::link_operators() {
  scopes_.assign(timeline_.operators.size(), false);
  std::vector<std::vector<RowIndex>> stacks(timeline_.threads.size());
  RowIndex next = 0;
  const auto push_until = [&](std::int64_t time_ns) {
    for (; next < timeline_.operators.size(); ++next) {
      const Operator& op = timeline_.operators[next];
      if (op.start_ns > time_ns) return;
      push(stacks[op.thread], next);
    }
  };
  for (PendingCall& call : calls_) {
    push_until(call.row.start_ns);
    std::vector<RowIndex>& stack = stacks[call.row.thread];
    close_before(stack, call.row.start_ns);
    if (!stack.empty()) call.row.op = stack.back();
  }
  push_until(std::numeric_limits<std::int64_t>::max());
  for (RowIndex op = 0; op < timeline_.operators.size(); ++op) {
    if (!scopes_[op]) continue;
    const Operator& row = timeline_.operators[op];
    Range range;
    range.start_ns = row.start_ns;
    range.end_ns = row.end_ns;
    range.name = row.name;
    range.thread = row.thread;
    range.end_thread = row.thread;
    // Any other operator describes a collective, but does not carry it out.
    if (is_host_collective(timeline_.names.text(row.name))) range.collective = row.collective;
    timeline_.ranges.push_back(range);
  }
}

/// Calls that no operator of their own thread encloses: launches by a helper thread.
void Linker::link_by_external_id() {
  NumberIndex operators;
  operators.reserve(timeline_.operators.size());
  for (RowIndex op = 0; op < timeline_.operators.size(); ++op) {
    if (timeline_.operators[op].external_id != 0) {
      operators.add(timeline_.operators[op].external_id, op);
    }
  }
  operators.sort();
  for (PendingCall& call : calls_) {
    if (call.row.op != kNoRow || call.external_id == 0) continue;
    const auto found = operators.find(call.external_id);
    if (found.size() == 1) call.row.op = found.front().row;
  }
}

void Linker::add_notes() const {
  const auto note = [&](std::string text) { timeline_.reading.notes.push_back(std::move(text)); };
  if (without_launch_ > 0) {
    note(counted(without_launch_, "piece", "pieces") +
         " of device work without a record of the launch");
  }
  if (several_calls_ > 0) {
    note(counted(several_calls_, "piece", "pieces") +
         " of device work with a correlation that several calls have: the nearest call before it "
         "counts");
  }
  if (before_launch_ > 0) {
    note(counted(before_launch_, "piece", "pieces") +
         " of device work that began before its launch: the clocks of host and device disagree");
  }
  if (not_nested_ > 0) {
    note(counted(not_nested_, "operator that overlaps", "operators that overlap") +
         " the one around it");
  }
}

}  // namespace

void link(Timeline& timeline, std::vector<PendingWork> work, std::vector<PendingCall> calls) {
  Linker(timeline, std::move(work), std::move(calls)).run();
}

}  // namespace profline::torch_profiler::internal
