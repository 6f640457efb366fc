#include "process/process_table.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(ProcessTable, ReadsANameWithParentheses) {
  std::array<char, 16> before{};
  ::prctl(PR_GET_NAME, before.data());
  ::prctl(PR_SET_NAME, "a) R 1 (b");
  ProcessStat self;
  const bool found = read_process(::getpid(), self);
  ::prctl(PR_SET_NAME, before.data());
  ASSERT_TRUE(found);
  EXPECT_EQ(std::string_view(self.name.data()), "a) R 1 (b");
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_EQ(self.parent, ::getppid());
  EXPECT_EQ(self.state, 'R');
  EXPECT_GT(self.start_ticks, 0U);
}

TEST(ProcessTable, KnowsAncestors) {
  ProcessStat self;
  ASSERT_TRUE(read_process(::getpid(), self));
  EXPECT_TRUE(descends_from(self, ::getppid()));
  EXPECT_FALSE(descends_from(self, ::getpid()));
}

TEST(ProcessTable, ListsEachProcessOnce) {
  int seen = 0;
  ProcessList list;
  while (const pid_t pid = list.next()) seen += pid == ::getpid() ? 1 : 0;
  EXPECT_EQ(seen, 1);
}

TEST(ProcessTable, SaysWhenThereIsNoSuchProcess) {
  ProcessStat process;
  EXPECT_FALSE(read_process(0, process));
}

}  // namespace
}  // namespace profline
