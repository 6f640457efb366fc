#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "records/torch_tables.h"

namespace profline::workload {

/// An event recorded by libtorch's profiler, independent of the libtorch version.
struct TraceEvent {
  enum class Kind {
    Operator,  ///< of ATen, on the host
    Range,     ///< a user scope (`prefill`)
    Runtime,   ///< a call of the CUDA runtime on behalf of an operator
    Kernel,    ///< on a GPU
    Copy,      ///< a copy or fill by a GPU
    Memory,    ///< an allocation (bytes above 0) or its end (below)
  };
  static constexpr int kHost = -1;

  Kind kind = Kind::Operator;
  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint64_t thread = 0;  ///< for a Kernel or Copy: the stream
  int device = kHost;        ///< else the number of the GPU
  std::uint64_t id = 0;      ///< of an operator; 0: none
  std::uint64_t caller = 0;  ///< of Runtime, Kernel and Copy: their operator; 0: none
  bool has_shapes = false;
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the inputs; empty: not a tensor
  std::vector<std::string> stack;
  std::int64_t bytes = 0;  ///< of Memory

  bool is_on_host() const {
    return kind == Kind::Operator || kind == Kind::Range || kind == Kind::Runtime;
  }
  bool is_on_device() const { return kind == Kind::Kernel || kind == Kind::Copy; }
};

/// Everything that was recorded of one piece of work.
struct Recording {
  std::vector<TraceEvent> events;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  /// The resolution of times: libtorch 1.13 reports whole microseconds.
  std::int64_t resolution_ns = 1;
};

/// `[[64, 256], [256, 256]]`, as PyTorch writes it.
std::string shapes_text(const std::vector<std::vector<std::int64_t>>& shapes);

/// A host event within its thread.
struct Call {
  std::size_t event = 0;                ///< in Recording::events
  std::optional<std::size_t> parent{};  ///< in CallTree::calls
  std::uint64_t thread = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;           ///< at most the parent's
  std::int64_t self_ns = 0;          ///< without its children
  std::int64_t self_device_ns = 0;   ///< of the kernels that it launched itself
  std::int64_t total_device_ns = 0;  ///< including its children
};

/// The nesting of calls, derived from their times: a call that begins inside another one of its
/// thread belongs to it. With times in whole microseconds, a child can appear to end after its
/// parent; such a child is cut, so that no time counts twice.
struct CallTree {
  std::vector<Call> calls;  ///< parents before their children

  /// The innermost call of the thread at that time; nothing if there is no such call.
  std::optional<std::size_t> innermost(std::uint64_t thread, std::int64_t at_ns) const;
};

CallTree build_call_tree(const Recording& recording);

/// Writes the recording in Chrome's trace format, which Perfetto and chrome://tracing open: one
/// track per thread and stream, nested calls, arrows from operators to their kernels, and a counter
/// of allocated memory per device. For libtorch builds that cannot write it themselves.
Result<void> write_chrome_trace(const std::filesystem::path& path, const Recording& recording,
                                const CallTree& tree);

// A recording as tables for people and programs.

/// Its operators, calls of the CUDA runtime and driver, and ranges, the latter in the order in
/// which they first began.
TorchOperators operator_table(const Recording& recording, const CallTree& tree, bool by_shape);

/// Most total time first.
std::vector<TorchKernel> kernel_table(const Recording& recording);

/// memory.json, `profline.memory/1`: for each device what was allocated and freed, the peak (beyond
/// what was allocated at the start), the operators that allocated it, and every change in order.
Node memory_document(const Recording& recording, const CallTree& tree);

}  // namespace profline::workload
