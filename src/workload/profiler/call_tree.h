#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace profline::workload
