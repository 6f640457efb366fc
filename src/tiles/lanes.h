#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The lanes of a capture, as a viewer shows them from top to bottom.
namespace profline::tiles {

enum class LaneKind : std::uint8_t {
  Work,          ///< kernels, and CUDA graphs recorded as a whole, of one stream
  Copies,        ///< copies and fills of one stream
  Ranges,        ///< NVTX ranges that a thread pushed and popped, or a program's scopes
  SharedRanges,  ///< NVTX ranges that may begin and end on different threads
  Operators,     ///< of a framework, by thread
  Calls,         ///< of the CUDA runtime and driver, by thread
};
/// `work`, `copies`, `ranges`, `shared ranges`, `operators`, `calls`.
std::string_view to_text(LaneKind kind);

/// What ran one after the other or nested. A lane has a row for each depth.
struct Lane {
  LaneKind kind = LaneKind::Work;
  std::string group;  ///< `GPU 0 NVIDIA H200`, `thread 4711 decoder`
  std::string name;   ///< `stream 7`, `calls`
  std::uint64_t events = 0;
  std::uint32_t first_row = 0;  ///< in the index
  std::uint32_t rows = 0;       ///< one per depth

  bool operator==(const Lane&) const = default;
};

/// What an index says about its capture. Times of lanes and events count from `origin_ns`.
struct CaptureFacts {
  std::string source;  ///< the file
  std::string tool;
  std::int64_t origin_ns = 0;
  std::int64_t length_ns = 0;
  std::int64_t unix_origin_ns = 0;  ///< wall-clock time of the beginning; 0: unknown
  std::uint64_t events = 0;
  std::vector<std::string> notes;
  std::vector<std::string> losses;

  bool operator==(const CaptureFacts&) const = default;
};

/// What kind of event it is, and what is known besides its name and times. Without padding: it is
/// written to files as it is.
struct Detail {
  std::uint32_t kind = 0;  ///< an EventKind
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t registers_per_thread = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t from = 0;  ///< MemoryKind
  std::uint32_t to = 0;    ///< MemoryKind
  std::uint64_t bytes = 0;
  std::uint32_t text = 0;  ///< a name: the domain of a range, the input shapes of an operator
  std::uint32_t unused = 0;

  bool operator==(const Detail&) const = default;
};
enum class EventKind : std::uint32_t { Kernel, Copy, Fill, Graph, Range, Operator, Call };
/// `kernel`, `copy`, `fill`, `graph`, `range`, `operator`, `call`.
std::string_view to_text(EventKind kind);

}  // namespace profline::tiles
