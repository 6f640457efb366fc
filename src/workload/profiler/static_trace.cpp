#include "workload/profiler/static_trace.h"

#include <algorithm>
#include <map>
#include <memory>

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include "workload/model/torch_errors.h"
#include "workload/profiler/internal/operator_flops.h"

namespace profline::workload {
namespace {

/// One thread's calls while they are open.
class Counter {
 public:
  void enter(const at::RecordFunction& function) {
    if (!open_.empty()) open_.back().is_leaf = false;
    Open call{function.name()};
    // What a counted operator is made of is counted with it.
    if (counted_depth_ == 0) call.flops = internal::operator_flops(call.name, function.inputs());
    if (call.flops) ++counted_depth_;
    open_.push_back(std::move(call));
  }
  void leave() {
    const Open call = std::move(open_.back());
    open_.pop_back();
    if (call.flops) --counted_depth_;
    if (!call.flops && !(call.is_leaf && counted_depth_ == 0)) return;
    TracedOperator& row = rows_[call.name];
    row.name = call.name;
    ++row.calls;
    row.flops += call.flops.value_or(0);
  }

  OperatorCounts counts() const {
    OperatorCounts counts;
    for (const auto& [name, row] : rows_) counts.operators.push_back(row);
    std::stable_sort(
        counts.operators.begin(), counts.operators.end(),
        [](const TracedOperator& a, const TracedOperator& b) { return a.flops > b.flops; });
    return counts;
  }

 private:
  struct Open {
    std::string name;
    bool is_leaf = true;
    std::optional<std::int64_t> flops{};
  };
  std::vector<Open> open_;
  int counted_depth_ = 0;
  std::map<std::string, TracedOperator> rows_;
};

/// A callback is a plain function and can only reach what lies here.
Counter*& current_counter() {
  static thread_local Counter* counter = nullptr;
  return counter;
}

/// Counts this thread's operators while it lives.
class Counting {
 public:
  explicit Counting(Counter& counter) {
    current_counter() = &counter;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(
            [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
              current_counter()->enter(function);
              return nullptr;
            },
            [](const at::RecordFunction&, at::ObserverContext*) { current_counter()->leave(); })
            .needsInputs(true)
            .scopes({at::RecordScope::FUNCTION}));
  }
  ~Counting() {
    at::removeCallback(handle_);
    current_counter() = nullptr;
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  at::CallbackHandle handle_;
};

}  // namespace

std::int64_t OperatorCounts::flops() const {
  std::int64_t sum = 0;
  for (const TracedOperator& row : operators) sum += row.flops;
  return sum;
}

Result<OperatorCounts> count_operators(const std::function<Result<void>()>& work) {
  Counter counter;
  const Counting counting(counter);
  try {
    PL_TRY(work());
  } catch (const c10::Error& thrown) {
    return torch_error(thrown).during("tracing operators");
  }
  return counter.counts();
}

Node to_node(const OperatorCounts& counts) {
  NodeMap map;
  map.set("flops", Node::integer(counts.flops()));
  Node rows = Node::list();
  for (const TracedOperator& row : counts.operators) {
    NodeMap entry;
    entry.set("name", Node::string(row.name));
    entry.set("calls", Node::integer(static_cast<std::int64_t>(row.calls)));
    entry.set("flops", Node::integer(row.flops));
    rows.as_list().push_back(Node::map(std::move(entry)));
  }
  map.set("operators", std::move(rows));
  return Node::map(std::move(map));
}

}  // namespace profline::workload
