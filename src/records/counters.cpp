#include "records/counters.h"

namespace profline {
namespace {

/// Translates a kernel of one report to the name table of another.
class Renaming {
 public:
  Renaming(const Names& from, Names& to) : from_(from), to_(to) {}

  ProfiledKernel operator()(ProfiledKernel kernel) {
    take(kernel.process_name, kernel.name, kernel.device_name, kernel.compute_capability);
    for (OpenRange& range : kernel.ranges) take(range.domain, range.name);
    for (Counter& counter : kernel.counters) take(counter.name, counter.section, counter.unit);
    for (CounterText& text : kernel.texts) take(text.name, text.section, text.text);
    for (CounterAdvice& advice : kernel.advice) {
      take(advice.section, advice.rule, advice.kind, advice.text);
    }
    return kernel;
  }

 private:
  template <typename... Ids>
  void take(Ids&... ids) {
    ((ids = to_.id_of(from_.text(ids))), ...);
  }

  const Names& from_;
  Names& to_;
};

}  // namespace

const Counter* CounterReport::find(const ProfiledKernel& kernel, std::string_view name,
                                   std::string_view section) const {
  const auto name_id = names.find(name);
  if (!name_id) return nullptr;
  for (const Counter& counter : kernel.counters) {
    if (counter.name != *name_id) continue;
    if (section.empty() || names.text(counter.section) == section) return &counter;
  }
  return nullptr;
}

void CounterReport::append(const CounterReport& other) {
  Renaming renamed(other.names, names);
  for (const ProfiledKernel& kernel : other.kernels) kernels.push_back(renamed(kernel));
  cells.numbers += other.cells.numbers;
  cells.texts += other.cells.texts;
  cells.absent += other.cells.absent;
  cells.left_out += other.cells.left_out;
  reading.append(other.reading);
}

}  // namespace profline
