#include "analysis/operators/operator_table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/timeline/attribution.h"

namespace profline::operators {
namespace {

/// The intervals in which a thread is inside ranges that match a pattern, sorted and disjoint.
class Inside {
 public:
  Inside(const Timeline& timeline, const std::string& pattern)
      : by_thread_(timeline.threads.size()) {
    const std::vector<bool> matching = timeline::matching_ranges(timeline, pattern);
    for (const Range& range : timeline.ranges) {
      if (range.thread == kNoRow || !matching[range.name]) continue;
      auto& intervals = by_thread_[range.thread];
      if (!intervals.empty() && range.start_ns <= intervals.back().second) {
        intervals.back().second = std::max(intervals.back().second, range.end_ns);
      } else {
        intervals.emplace_back(range.start_ns, range.end_ns);
      }
    }
  }

  bool holds(RowIndex thread, std::int64_t time_ns) const {
    if (thread == kNoRow) return false;
    const auto& intervals = by_thread_[thread];
    const auto after = std::upper_bound(
        intervals.begin(), intervals.end(), time_ns,
        [](std::int64_t time, const auto& interval) { return time < interval.first; });
    return after != intervals.begin() && time_ns < std::prev(after)->second;
  }

 private:
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> by_thread_;
};

class Sweep {
 public:
  Sweep(const Timeline& timeline, const OperatorTableOptions& options)
      : timeline_(timeline), options_(options) {
    if (options.inside) inside_.emplace(timeline, *options.inside);
  }

  OperatorTable run();

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// An open operator, and the time of those nested in it.
  struct Open {
    RowIndex op = kNoRow;
    std::int64_t inner_ns = 0;
  };
  struct ThreadState {
    std::vector<Open> stack;
    std::unordered_map<std::size_t, int> open_rows;  // how often a row is on the stack
  };

  std::size_t row_of(const Operator& op);
  void open(ThreadState& thread, RowIndex op);
  void close_before(ThreadState& thread, std::int64_t time_ns);
  void close_top(ThreadState& thread);
  void add_work();
  void order_rows();

  const Timeline& timeline_;
  const OperatorTableOptions& options_;
  std::optional<Inside> inside_;
  OperatorTable table_;
  std::unordered_map<std::uint64_t, std::size_t> rows_;
  std::vector<std::size_t> row_of_op_;  // kNone: not requested
  std::vector<RowIndex> around_;        // the enclosing operator of each
};

std::size_t Sweep::row_of(const Operator& op) {
  if (inside_ && !inside_->holds(op.thread, op.start_ns)) return kNone;
  const Names::Id shapes = options_.by_shape ? op.input_shapes : 0;
  const std::uint64_t key = (std::uint64_t{op.name} << 32U) | shapes;
  const auto [entry, is_new] = rows_.try_emplace(key, table_.rows.size());
  if (is_new) {
    OperatorRow row;
    row.name = op.name;
    row.input_shapes = shapes;
    table_.rows.push_back(row);
  }
  return entry->second;
}

void Sweep::close_top(ThreadState& thread) {
  const Open top = thread.stack.back();
  thread.stack.pop_back();
  const Operator& op = timeline_.operators[top.op];
  std::int64_t counted_ns = op.duration_ns();
  if (!thread.stack.empty()) {
    Open& outer = thread.stack.back();
    const std::int64_t outer_end_ns = timeline_.operators[outer.op].end_ns;
    counted_ns = std::min(op.end_ns, outer_end_ns) - op.start_ns;
    outer.inner_ns += counted_ns;
  }
  const std::size_t row = row_of_op_[top.op];
  if (row == kNone) return;
  OperatorRow& found = table_.rows[row];
  ++found.calls;
  found.self_ns += std::max<std::int64_t>(0, counted_ns - top.inner_ns);
  if (--thread.open_rows[row] == 0) found.total_ns += op.duration_ns();
}

void Sweep::close_before(ThreadState& thread, std::int64_t time_ns) {
  while (!thread.stack.empty() && timeline_.operators[thread.stack.back().op].end_ns <= time_ns) {
    close_top(thread);
  }
}

void Sweep::open(ThreadState& thread, RowIndex op) {
  const Operator& row = timeline_.operators[op];
  close_before(thread, row.start_ns);
  if (!thread.stack.empty()) around_[op] = thread.stack.back().op;
  row_of_op_[op] = row_of(row);
  if (row_of_op_[op] != kNone) ++thread.open_rows[row_of_op_[op]];
  thread.stack.push_back({op, 0});
}

/// Work counts for the operator that launched it and, once per row, for the enclosing ones.
void Sweep::add_work() {
  std::vector<std::size_t> counted;
  for (const DeviceWork& work : timeline_.work) {
    if (work.launch == kNoRow) continue;
    RowIndex op = timeline_.calls[work.launch].op;
    if (op == kNoRow) continue;
    if (row_of_op_[op] != kNone) {
      table_.rows[row_of_op_[op]].self_device_ns += work.duration_ns();
      table_.self_device_ns += work.duration_ns();
    }
    counted.clear();
    for (; op != kNoRow; op = around_[op]) {
      const std::size_t row = row_of_op_[op];
      if (row == kNone || std::find(counted.begin(), counted.end(), row) != counted.end()) continue;
      counted.push_back(row);
      table_.rows[row].device_ns += work.duration_ns();
      ++table_.rows[row].launched;
    }
  }
}

std::int64_t value_in(const OperatorRow& row, OperatorOrder column) {
  switch (column) {
    case OperatorOrder::Total:
      return row.total_ns;
    case OperatorOrder::SelfDevice:
      return row.self_device_ns;
    case OperatorOrder::Device:
      return row.device_ns;
    case OperatorOrder::Calls:
      return static_cast<std::int64_t>(row.calls);
    case OperatorOrder::Self:
      break;
  }
  return row.self_ns;
}

void Sweep::order_rows() {
  const auto text = [&](Names::Id id) -> const std::string& { return timeline_.names.text(id); };
  std::sort(table_.rows.begin(), table_.rows.end(),
            [&](const OperatorRow& a, const OperatorRow& b) {
              const std::int64_t of_a = value_in(a, options_.order);
              const std::int64_t of_b = value_in(b, options_.order);
              if (of_a != of_b) return of_a > of_b;
              if (a.self_ns != b.self_ns) return a.self_ns > b.self_ns;
              if (a.name != b.name) return text(a.name) < text(b.name);
              return text(a.input_shapes) < text(b.input_shapes);
            });
}

OperatorTable Sweep::run() {
  row_of_op_.assign(timeline_.operators.size(), kNone);
  around_.assign(timeline_.operators.size(), kNoRow);
  std::vector<ThreadState> threads(timeline_.threads.size());
  for (RowIndex op = 0; op < timeline_.operators.size(); ++op) {
    const RowIndex thread = timeline_.operators[op].thread;
    if (thread != kNoRow) open(threads[thread], op);
  }
  for (ThreadState& thread : threads) {
    while (!thread.stack.empty()) close_top(thread);
  }
  add_work();
  for (const OperatorRow& row : table_.rows) {
    table_.self_ns += row.self_ns;
    table_.calls += row.calls;
  }
  order_rows();
  return std::move(table_);
}

enum class Kind : std::uint8_t { Range, Operator, Call };

/// A row of one of the trace's host tables.
struct HostRow {
  Kind kind = Kind::Operator;
  RowIndex index = 0;  ///< in its table
  Operator as_operator{};
};

/// Rows of different kinds with one name stay apart: the names of ranges and calls get a mark that
/// no profiler writes.
constexpr char kRangeMark = '\x01';
constexpr char kCallMark = '\x02';

Kind kind_of(std::string_view marked) {
  if (marked.starts_with(kRangeMark)) return Kind::Range;
  return marked.starts_with(kCallMark) ? Kind::Call : Kind::Operator;
}

/// The trace as one table of nested host rows, for the sweep that computes self times.
class Nested {
 public:
  explicit Nested(const Timeline& trace) : trace_(trace) {
    // In the order of their ids, so that they keep them.
    for (Names::Id id = 0; id < trace.names.size(); ++id) {
      timeline_.names.id_of(trace.names.text(id));
    }
    timeline_.threads = trace.threads;
    timeline_.work = trace.work;
    timeline_.calls = trace.calls;
    collect();
    for (HostRow& row : rows_) timeline_.operators.push_back(row.as_operator);
    find_launching_rows();
  }

  const Timeline& timeline() const { return timeline_; }

 private:
  void collect();
  void find_launching_rows();

  const Timeline& trace_;
  Timeline timeline_;
  std::vector<HostRow> rows_;
};

void Nested::collect() {
  rows_.reserve(trace_.operators.size() + trace_.ranges.size() + trace_.calls.size());
  for (RowIndex i = 0; i < trace_.operators.size(); ++i) {
    rows_.push_back({Kind::Operator, i, trace_.operators[i]});
  }
  const auto add = [&](Kind kind, RowIndex index, char mark, const auto& row) {
    Operator op;
    op.start_ns = row.start_ns;
    op.end_ns = row.end_ns;
    op.name = timeline_.names.id_of(mark + trace_.names.text(row.name));
    op.thread = row.thread;
    rows_.push_back({kind, index, op});
  };
  for (RowIndex i = 0; i < trace_.ranges.size(); ++i) {
    add(Kind::Range, i, kRangeMark, trace_.ranges[i]);
  }
  for (RowIndex i = 0; i < trace_.calls.size(); ++i) {
    add(Kind::Call, i, kCallMark, trace_.calls[i]);
  }
  // Of rows that begin together, the longer one is around the other; of equal ones, by kind.
  std::stable_sort(rows_.begin(), rows_.end(), [](const HostRow& a, const HostRow& b) {
    const Operator& x = a.as_operator;
    const Operator& y = b.as_operator;
    if (x.start_ns != y.start_ns) return x.start_ns < y.start_ns;
    if (x.end_ns != y.end_ns) return x.end_ns > y.end_ns;
    return a.kind < b.kind;
  });
}

/// Links each call to the innermost operator or range around it.
void Nested::find_launching_rows() {
  std::vector<std::vector<RowIndex>> open(timeline_.threads.size());
  for (RowIndex i = 0; i < rows_.size(); ++i) {
    const Operator& op = rows_[i].as_operator;
    const bool is_call = rows_[i].kind == Kind::Call;
    if (is_call) timeline_.calls[rows_[i].index].op = kNoRow;
    if (op.thread == kNoRow) continue;
    auto& stack = open[op.thread];
    while (!stack.empty() && rows_[stack.back()].as_operator.end_ns <= op.start_ns) {
      stack.pop_back();
    }
    if (!is_call) {
      stack.push_back(i);
    } else if (!stack.empty()) {
      timeline_.calls[rows_[i].index].op = stack.back();
    }
  }
}

std::vector<TorchOperator>& list_of(Kind kind, TorchOperators& table) {
  if (kind == Kind::Range) return table.ranges;
  return kind == Kind::Call ? table.runtime_calls : table.operators;
}

/// The position of each range among those of the trace, by its first instance.
std::map<std::string, std::size_t> first_places(const Timeline& trace) {
  std::map<std::string, std::size_t> places;
  for (const Range& range : trace.ranges) {
    places.try_emplace(trace.names.text(range.name), places.size());
  }
  return places;
}

}  // namespace

OperatorTable operator_table(const Timeline& timeline, const OperatorTableOptions& options) {
  return Sweep(timeline, options).run();
}

TorchOperators torch_operators(const Timeline& trace, bool by_shape) {
  const Nested nested(trace);
  const Names& names = nested.timeline().names;
  TorchOperators table;
  table.duration_ns = trace.end_ns - trace.begin_ns;
  for (const OperatorRow& row : operator_table(nested.timeline(), {.by_shape = by_shape}).rows) {
    const std::string& marked = names.text(row.name);
    const Kind kind = kind_of(marked);
    TorchOperator one;
    one.name = kind == Kind::Operator ? marked : marked.substr(1);
    one.shapes = names.text(row.input_shapes);
    one.calls = row.calls;
    one.self_cpu_ns = row.self_ns;
    one.total_cpu_ns = row.total_ns;
    one.self_device_ns = row.self_device_ns;
    one.total_device_ns = row.device_ns;
    list_of(kind, table).push_back(std::move(one));
  }
  sort_operators(table.operators);
  sort_operators(table.runtime_calls);
  const auto places = first_places(trace);
  std::stable_sort(table.ranges.begin(), table.ranges.end(),
                   [&](const TorchOperator& a, const TorchOperator& b) {
                     return places.at(a.name) < places.at(b.name);
                   });
  return table;
}

std::vector<TorchKernel> torch_kernels(const Timeline& trace) {
  std::map<std::pair<std::string, int>, TorchKernel> rows;
  for (const DeviceWork& work : trace.work) {
    const int device = work.stream == kNoRow ? 0 : trace.streams[work.stream].device;
    const std::string& name = trace.names.text(work.name);
    TorchKernel& row = rows[{name, device}];
    const std::int64_t ns = work.duration_ns();
    if (row.calls == 0) row = {.name = name, .device = device, .min_ns = ns};
    ++row.calls;
    row.total_ns += ns;
    row.min_ns = std::min(row.min_ns, ns);
    row.max_ns = std::max(row.max_ns, ns);
  }
  std::vector<TorchKernel> sorted;
  sorted.reserve(rows.size());
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(), [](const TorchKernel& a, const TorchKernel& b) {
    return a.total_ns > b.total_ns;
  });
  return sorted;
}

}  // namespace profline::operators
