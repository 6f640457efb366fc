#include <algorithm>
#include <map>

#include "workload/profiler/tables.h"

namespace profline::workload {
namespace {

struct Account {
  std::int64_t allocations = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t frees = 0;
  std::int64_t freed_bytes = 0;
  std::int64_t peak_bytes = 0;

  std::int64_t held() const { return allocated_bytes - freed_bytes; }
  void add(std::int64_t bytes) {
    if (bytes >= 0) {
      ++allocations;
      allocated_bytes += bytes;
    } else {
      ++frees;
      freed_bytes -= bytes;
    }
    peak_bytes = std::max(peak_bytes, held());
  }
};

std::string device_text(int device) {
  return device == TraceEvent::kHost ? "cpu" : "cuda:" + std::to_string(device);
}

NodeMap account_map(const Account& account) {
  NodeMap map;
  map.set("allocations", Node::integer(account.allocations));
  map.set("allocated_bytes", Node::integer(account.allocated_bytes));
  map.set("frees", Node::integer(account.frees));
  map.set("freed_bytes", Node::integer(account.freed_bytes));
  return map;
}

std::vector<const TraceEvent*> memory_events(const Recording& recording) {
  std::vector<const TraceEvent*> events;
  for (const TraceEvent& event : recording.events) {
    if (event.kind == TraceEvent::Kind::Memory) events.push_back(&event);
  }
  std::stable_sort(events.begin(), events.end(), [](const TraceEvent* a, const TraceEvent* b) {
    return a->start_ns < b->start_ns;
  });
  return events;
}

Node change_node(const TraceEvent& event, std::int64_t begin_ns, std::int64_t held) {
  NodeMap map;
  map.set("at_ns", Node::integer(event.start_ns - begin_ns));
  map.set("device", Node::string(device_text(event.device)));
  map.set("bytes", Node::integer(event.bytes));
  map.set("held_bytes", Node::integer(held));
  return Node::map(std::move(map));
}

}  // namespace

Node memory_document(const Recording& recording, const CallTree& tree) {
  std::map<int, Account> by_device;
  std::map<std::pair<std::string, int>, Account> by_operator;
  Node changes = Node::list();
  for (const TraceEvent* event : memory_events(recording)) {
    Account& account = by_device[event->device];
    account.add(event->bytes);
    const auto call = tree.innermost(event->thread, event->start_ns);
    const std::string who =
        call ? recording.events[tree.calls[*call].event].name : "outside of operators";
    by_operator[{who, event->device}].add(event->bytes);
    changes.as_list().push_back(change_node(*event, recording.begin_ns, account.held()));
  }
  Node devices = Node::list();
  for (const auto& [device, account] : by_device) {
    NodeMap map;
    map.set("device", Node::string(device_text(device)));
    for (auto& entry : account_map(account)) map.set(entry.key, entry.value);
    map.set("peak_bytes", Node::integer(account.peak_bytes));
    map.set("held_at_end_bytes", Node::integer(account.held()));
    devices.as_list().push_back(Node::map(std::move(map)));
  }
  Node operators = Node::list();
  for (const auto& [key, account] : by_operator) {
    NodeMap map;
    map.set("name", Node::string(key.first));
    map.set("device", Node::string(device_text(key.second)));
    for (auto& entry : account_map(account)) map.set(entry.key, entry.value);
    operators.as_list().push_back(Node::map(std::move(map)));
  }
  NodeMap document;
  document.set("schema", Node::string("profline.memory/1"));
  document.set("devices", std::move(devices));
  document.set("operators", std::move(operators));
  document.set("changes", std::move(changes));
  return Node::map(std::move(document));
}

}  // namespace profline::workload
