#include "records/counters.h"

namespace profline {

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

}  // namespace profline
