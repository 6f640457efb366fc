#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "records/timeline.h"
#include "tools/torch_profiler/internal/event_tables.h"
#include "tools/torch_profiler/internal/trace_event.h"

namespace profline::torch_profiler::internal {

/// What events say of collectives. PyTorch describes one twice: with the operator that starts it
/// (`record_param_comms`) and, since 2.2, with each of its kernels.
class CollectiveTable {
 public:
  CollectiveTable(Timeline& timeline, NameTable& names) : timeline_(timeline), names_(names) {}

  /// The row that a kernel's own words make; kNoRow when it has none.
  RowIndex add_kernel(const RawEvent& event);
  /// Keeps what an operator says, if it says anything.
  void add_operator(const RawEvent& event);
  /// When rows are linked and in order: one row a collective, and each of its kernels names it.
  void finish();

 private:
  RowIndex add(const RawEvent& event);
  Names::Id group_of(const RawEvent& event);
  RowIndex row_of(const DeviceWork& work) const;
  void keep_only(const std::vector<bool>& used);

  Timeline& timeline_;
  NameTable& names_;
  std::unordered_map<std::uint64_t, RowIndex> of_operator_;  // by External id
  std::vector<std::uint64_t> external_ids_;                  // by row
  std::vector<bool> is_operator_;                            // by row
};

}  // namespace profline::torch_profiler::internal
