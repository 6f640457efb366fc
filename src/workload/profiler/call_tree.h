#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workload/profiler/trace_event.h"

namespace profline::workload {

/// A host event among the others of its thread.
struct Call {
  std::size_t event = 0;                ///< in Recording::events
  std::optional<std::size_t> parent{};  ///< in CallTree::calls
  std::uint64_t thread = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;           ///< never after the parent's
  std::int64_t self_ns = 0;          ///< without its children
  std::int64_t self_device_ns = 0;   ///< of the kernels that it started itself
  std::int64_t total_device_ns = 0;  ///< those of its children too
};

/// Which call was made inside which, by their times: a call that begins inside another one of its
/// thread belongs to it. Times in whole microseconds can let a child seem to end after its parent;
/// such a child is cut, so that no time counts twice.
struct CallTree {
  std::vector<Call> calls;  ///< parents before their children

  /// The innermost call of the thread at that time; nothing when there is none.
  std::optional<std::size_t> innermost(std::uint64_t thread, std::int64_t at_ns) const;
};

CallTree build_call_tree(const Recording& recording);

}  // namespace profline::workload
