#include <gtest/gtest.h>

#include "records/timeline.h"

namespace profline {
namespace {

TEST(CollectiveKind, IsTheSameInEverySpelling) {
  struct Case {
    std::string_view name;
    CollectiveKind kind;
  };
  constexpr Case kCases[] = {
      {"ncclAllReduce", CollectiveKind::AllReduce},
      {"allreduce", CollectiveKind::AllReduce},
      {"_all_reduce_base", CollectiveKind::AllReduce},
      {"ncclReduceScatter", CollectiveKind::ReduceScatter},
      {"_reduce_scatter_base", CollectiveKind::ReduceScatter},
      {"ncclAllGather", CollectiveKind::AllGather},
      {"_allgather_base", CollectiveKind::AllGather},
      {"ncclAlltoAll", CollectiveKind::AllToAll},
      {"ncclAllToAll", CollectiveKind::AllToAll},
      {"all_to_allv", CollectiveKind::AllToAll},
      {"ncclGather", CollectiveKind::Gather},
      {"ncclScatter", CollectiveKind::Scatter},
      {"ncclBroadcast", CollectiveKind::Broadcast},
      {"ncclReduce", CollectiveKind::Reduce},
      {"ncclSend", CollectiveKind::Send},
      {"recv 1<-0", CollectiveKind::Receive},
      {"ncclGroupEnd", CollectiveKind::Unknown},
      {"barrier", CollectiveKind::Unknown},
      {"", CollectiveKind::Unknown},
  };
  for (const Case& c : kCases) EXPECT_EQ(collective_kind(c.name), c.kind) << c.name;
}

}  // namespace
}  // namespace profline
