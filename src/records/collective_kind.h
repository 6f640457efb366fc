#pragma once

#include <cstdint>
#include <string_view>

namespace profline {

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

}  // namespace profline
