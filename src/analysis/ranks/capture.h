#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernels/classify.h"
#include "base/result.h"
#include "records/rank_analysis.h"
#include "records/request.h"
#include "records/timeline.h"

/// One program on many ranks: what each rank did (this file), which collectives of different ranks
/// are the same (matching.h), how their clocks relate (clocks.h), and who waited for whom
/// (analysis.h).
namespace profline::ranks {

/// The ranks that take part in a collective.
struct Communicator {
  std::string group;        ///< `0 (default_pg)`, `0xabc`; empty: not recorded
  std::string members;      ///< `[0, 1, 2, 3]`; empty: not recorded
  std::uint32_t ranks = 0;  ///< 0: not recorded

  bool operator==(const Communicator&) const = default;
};

/// A collective as one rank executed it: from the rank's arrival to the end.
struct Visit {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t bytes = 0;         ///< timeline::message_bytes(); 0: not recorded
  std::int64_t sequence = -1;      ///< within the communicator; -1: not recorded
  std::uint32_t communicator = 0;  ///< in Capture::communicators
  Names::Id name = 0;              ///< in Capture::names
  Names::Id dtype = 0;
  Names::Id phase = 0;
  CollectiveKind kind = CollectiveKind::Unknown;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

/// What is kept of one rank's capture: small, because there may be many of them.
struct Capture {
  std::string source;
  std::string tool;
  std::int64_t rank = -1;  ///< -1: the file does not say
  std::int64_t world_size = 0;
  std::int64_t process = -1;
  /// What ns 0 is by the rank's own clock; nothing: not recorded.
  std::optional<std::int64_t> origin_ns;
  bool has_device_work = false;  ///< false: `time` is that of the host
  RankTime time;
  std::vector<RankPhase> phases;  ///< longest first
  std::vector<Communicator> communicators;
  std::vector<Visit> visits;   ///< in order of start_ns
  std::uint64_t pairwise = 0;  ///< sends and receives, which are not among `visits`
  std::vector<std::string> losses;
  Names names;
};

/// What a timeline shows of its rank. Communication is kernels of class `collective`; on a host
/// without device work, the ranges that c10d writes for Gloo, MPI and UCC (`gloo:all_reduce`).
/// Computation is the other kernels; on such a host operators or, where none were recorded, the
/// innermost ranges of the program.
///
/// The phase of a collective is the innermost range of the program around its launch, or else the
/// outermost one open at that time on another thread.
Capture capture_of(const Timeline& timeline, const kernels::Classifier& classes);

/// The same from the requests of a rank that ran without a profiler: phases named like a collective
/// are communication, other phases computation.
Capture capture_of(std::span<const Request> requests, std::string source);

/// A timeline for each process of a capture that launched work, in the order of their devices; none
/// if only one did. Work without a recorded launch belongs to the only process that used its
/// device; what cannot be assigned is reported in the losses of the first.
std::vector<Timeline> by_process(const Timeline& timeline);

/// Reads captures and keeps of each what is above: at most `threads` timelines are in memory. The
/// first Error, in order, is returned.
Result<std::vector<Capture>> read_captures(
    std::size_t count, const std::function<Result<std::vector<Timeline>>(std::size_t)>& read,
    const kernels::Classifier& classes, unsigned threads = 2);

/// The kind of a collective, from the name of its kernel in any library: `ncclDevKernel_AllReduce_
/// Sum_bf16_RING_LL`, `deep_ep::intranode::dispatch`, `vllm::cross_device_reduce_1stage`.
CollectiveKind kind_of_kernel(std::string_view name);

/// Whether a range is the mark of a collective on the host: `gloo:all_reduce`, `nccl:all_gather`.
bool marks_collective(std::string_view range);

}  // namespace profline::ranks
