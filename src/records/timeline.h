#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "records/document.h"

/// What happened when in a capture, whichever tool took it: shared by the readers of nsys' SQLite
/// and of Kineto's traces, and all that the analysis of time works on.
///
/// A capture of ten million kernels must fit in memory, so the rows are small and refer to tables
/// by index. Times are nanoseconds since the beginning of the capture, half open: a row covers
/// [start_ns, end_ns).
namespace profline {

/// A table that keeps each text once, however often it occurs: a capture of ten million kernels has
/// a few hundred names. Ids count from 0 in the order of first occurrence; 0 is always the empty
/// text.
class Names {
 public:
  using Id = std::uint32_t;

  Names() { id_of(""); }
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;
  // The index points into the texts, so a copy would be invalid.
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;
  ~Names() = default;

  /// The text's id; a new one at its first occurrence.
  Id id_of(std::string_view text);
  /// The text's id, if it has one.
  std::optional<Id> find(std::string_view text) const;
  /// The id must come from this table. The reference is valid as long as the table lives.
  const std::string& text(Id id) const;
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // never moved, so the index may point into them
  std::unordered_map<std::string_view, Id> index_;
};

/// Index of a row in one of Timeline's tables.
using RowIndex = std::uint32_t;
inline constexpr RowIndex kNoRow = std::numeric_limits<RowIndex>::max();

/// Grid and block of a launch, and its other parameters.
struct LaunchShape {
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint32_t registers_per_thread = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;

  bool operator==(const LaunchShape&) const = default;
};

struct Stream {
  std::int32_t device = 0;
  std::uint64_t context = 0;
  std::int64_t stream = 0;

  bool operator==(const Stream&) const = default;
};

struct Thread {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  Names::Id name = 0;

  bool operator==(const Thread&) const = default;
};

enum class WorkKind : std::uint8_t { Kernel, Copy, Fill, Graph };
enum class CopyKind : std::uint8_t {
  None,
  HostToDevice,
  DeviceToHost,
  DeviceToDevice,
  PeerToPeer,
  HostToHost,
  Other
};
/// The memory on one side of a copy, or that a fill writes.
enum class MemoryKind : std::uint8_t { Unknown, Pageable, Pinned, Device, Array, Managed };

/// Work of a device: a kernel, a copy, a fill, or a CUDA graph whose nodes were not recorded.
struct DeviceWork {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Names::Id name = 0;            ///< as the tool wrote it
  RowIndex shape = kNoRow;       ///< in Timeline::shapes; only for kernels
  RowIndex stream = kNoRow;      ///< in Timeline::streams
  RowIndex launch = kNoRow;      ///< in Timeline::calls: the call that launched it, if recorded
  std::uint64_t bytes = 0;       ///< of copies and fills
  std::uint64_t graph_node = 0;  ///< 0: not launched by a graph
  WorkKind kind = WorkKind::Kernel;
  CopyKind copy = CopyKind::None;
  MemoryKind from = MemoryKind::Unknown;  ///< of copies
  MemoryKind to = MemoryKind::Unknown;    ///< of copies and fills
  RowIndex collective = kNoRow;           ///< in Timeline::collectives: the one it belongs to

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  bool operator==(const DeviceWork&) const = default;
};

enum class CallKind : std::uint8_t { Launch, GraphLaunch, Copy, Fill, Synchronize, Memory, Other };

/// A call of the CUDA runtime or driver by the program.
struct HostCall {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t correlation = 0;  ///< as the tool wrote it; unique within a process
  Names::Id name = 0;
  RowIndex thread = kNoRow;  ///< in Timeline::threads
  RowIndex op = kNoRow;      ///< in Timeline::operators: the innermost enclosing one
  CallKind kind = CallKind::Other;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  bool operator==(const HostCall&) const = default;
};

enum class RangeKind : std::uint8_t { PushPop, StartEnd };

/// A stretch of time that the program named: NVTX, or a user's scope in a Kineto trace.
struct Range {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< the capture's end if the range was still open, see `closed`
  Names::Id name = 0;
  Names::Id domain = 0;      ///< empty: the default domain
  RowIndex thread = kNoRow;  ///< in Timeline::threads: where it was opened
  RowIndex end_thread = kNoRow;
  RowIndex collective = kNoRow;  ///< in Timeline::collectives: the one that the host carried out
  RangeKind kind = RangeKind::PushPop;
  bool closed = true;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  bool operator==(const Range&) const = default;
};

/// An operator of a framework on the host: `aten::mm`.
struct Operator {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Names::Id name = 0;
  Names::Id input_shapes = 0;    ///< as written, "[[1, 64], [64, 64]]"; empty: not recorded
  RowIndex thread = kNoRow;      ///< in Timeline::threads
  RowIndex collective = kNoRow;  ///< in Timeline::collectives: the one that it describes
  std::uint64_t external_id = 0;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  bool operator==(const Operator&) const = default;
};

/// A collective or a send or receive, as the framework or NCCL described it. The kernels that
/// carried it out refer to it (DeviceWork::collective), or the range of a back end on the host
/// (Range::collective).
struct Collective {
  Names::Id name = 0;           ///< as written: `allreduce`, `ncclAllReduce`
  Names::Id dtype = 0;          ///< `BFloat16`; empty: not recorded
  Names::Id group = 0;          ///< of the participating ranks; empty: not recorded
  std::uint32_t ranks = 0;      ///< their number; 0: not recorded
  bool has_bytes = false;       ///< false: the sizes below are not known
  std::uint64_t in_bytes = 0;   ///< contributed by this rank
  std::uint64_t out_bytes = 0;  ///< received by this rank
  Names::Id members = 0;        ///< the ranks of the group, `[0, 1, 2, 3]`; empty: not recorded
  std::int64_t sequence = -1;   ///< its number within the group; -1: not recorded

  bool operator==(const Collective&) const = default;
};

/// What a GPU samples while it runs, for everything that uses it.
enum class GpuMetric : std::uint8_t {
  SmActive,      ///< share of SMs with a warp
  SmIssue,       ///< share of cycles in which an SM issued an instruction
  TensorActive,  ///< share of cycles in which the matrix units worked
  DramRead,      ///< share of the peak bandwidth
  DramWrite,
  PcieReceive,
  PcieSend,
  NvlinkReceive,
  NvlinkSend,
};
inline constexpr std::size_t kGpuMetrics = 9;
/// `SM active`, for display; `sm_active`, for programs.
std::string_view to_text(GpuMetric metric);
std::string_view to_key(GpuMetric metric);

/// The samples of one GPU, in time order. A sample is the mean since the one before it.
struct GpuSamples {
  std::int32_t device = 0;  ///< as CUDA counts them
  std::vector<std::int64_t> when_ns;
  /// By metric, 0 to 1, one per entry of `when_ns`; empty: not sampled.
  std::array<std::vector<float>, kGpuMetrics> values;

  const std::vector<float>& of(GpuMetric metric) const {
    return values[static_cast<std::size_t>(metric)];
  }
  bool operator==(const GpuSamples&) const = default;
};

struct Gpu {
  std::int32_t device = 0;
  std::string name;
  std::string uuid;
  std::uint64_t memory_bytes = 0;
  std::uint32_t multiprocessors = 0;
  std::string compute_capability;      ///< "9.0"
  double memory_bytes_per_second = 0;  ///< at the highest memory clock; 0: not recorded

  bool operator==(const Gpu&) const = default;
};

/// One capture. Rows of each table are in order of start_ns.
struct Timeline {
  std::string source;         ///< the file
  std::string tool;           ///< "nsys 2025.3.1", "Kineto"; according to the file
  std::int64_t begin_ns = 0;  ///< the captured time: [begin_ns, end_ns) contains every row
  std::int64_t end_ns = 0;
  /// Wall-clock time of ns 0, since 1970; 0: the file does not say.
  std::int64_t unix_origin_ns = 0;
  /// This process among those of a distributed job; -1 and 0: the file does not say.
  std::int64_t rank = -1;
  std::int64_t world_size = 0;

  Names names;
  std::vector<LaunchShape> shapes;
  std::vector<Stream> streams;
  std::vector<Thread> threads;
  std::vector<Gpu> gpus;
  std::vector<DeviceWork> work;
  std::vector<HostCall> calls;
  std::vector<Range> ranges;
  std::vector<Operator> operators;
  std::vector<Collective> collectives;  ///< in no particular order
  std::vector<GpuSamples> gpu_samples;  ///< by device

  Reading reading;
};

/// What a function of the CUDA runtime or driver (or HIP's) does, from its name as profilers write
/// it: `cudaLaunchKernel_v7000`, `cuLaunchKernelEx`, `hipMemcpyAsync`. Other if it is unknown.
///
/// Synchronize makes the calling thread wait for a device; `cudaStreamWaitEvent` does not, nor does
/// `cudaEventQuery`. Copies that wait, like `cudaMemcpy`, are Copy.
CallKind call_kind(std::string_view function);

/// Whether a name is that of a function of the CUDA runtime or driver (or HIP's). `INVALID` is one:
/// Kineto writes it for functions that are newer than its list.
bool is_call_name(std::string_view name);

enum class CollectiveKind : std::uint8_t {
  AllReduce,
  ReduceScatter,
  AllGather,
  AllToAll,
  Gather,
  Scatter,
  Broadcast,
  Reduce,
  Send,
  Receive,
  Unknown,
};

/// The kind of a collective, from its name in any spelling: `ncclAllReduce`, `_all_reduce_base` and
/// `allreduce` are one kind.
CollectiveKind collective_kind(std::string_view name);

/// Whether a range is a collective of a back end that runs on the host, as c10d names them:
/// `gloo:all_reduce`, and the same of MPI and UCC.
bool is_host_collective(std::string_view range);

}  // namespace profline
