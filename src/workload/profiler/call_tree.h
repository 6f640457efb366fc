#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace profline::workload {

/// Something that libtorch's profiler recorded, whichever libtorch it was.
struct TraceEvent {
  enum class Kind {
    Operator,  ///< of ATen, on the host
    Range,     ///< a scope that somebody opened (`prefill`)
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
  std::uint64_t thread = 0;  ///< of a Kernel or Copy: the stream
  int device = kHost;        ///< else the number of the GPU
  std::uint64_t id = 0;      ///< of an operator; 0: none
  std::uint64_t caller = 0;  ///< of Runtime, Kernel and Copy: the operator they belong to; 0: none
  bool has_shapes = false;
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the inputs; empty ones: no tensor
  std::vector<std::string> stack;
  std::int64_t bytes = 0;  ///< of Memory

  bool is_on_host() const {
    return kind == Kind::Operator || kind == Kind::Range || kind == Kind::Runtime;
  }
  bool is_on_device() const { return kind == Kind::Kernel || kind == Kind::Copy; }
};

/// All that was recorded of one stretch of work.
struct Recording {
  std::vector<TraceEvent> events;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  /// What times are multiples of: libtorch 1.13 tells whole microseconds.
  std::int64_t resolution_ns = 1;
};

/// `[[64, 256], [256, 256]]`, as PyTorch writes it.
std::string shapes_text(const std::vector<std::vector<std::int64_t>>& shapes);

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
