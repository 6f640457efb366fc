#include "base/counted.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(Counted, OneThingIsSingularAndEveryOtherNumberPlural) {
  EXPECT_EQ(counted(1, "launch"), "1 launch");
  EXPECT_EQ(counted(0, "launch"), "0 launches");
  EXPECT_EQ(counted(20, "launch"), "20 launches");
  EXPECT_EQ(counted(2, "kernel"), "2 kernels");
  EXPECT_EQ(counted(2, "process"), "2 processes");
  EXPECT_EQ(counted(2, "copy"), "2 copies");
  EXPECT_EQ(counted(2, "day"), "2 days");
  EXPECT_EQ(counted(1, "event has", "events have"), "1 event has");
  EXPECT_EQ(counted(2, "event has", "events have"), "2 events have");
}

TEST(Counted, AMeanIsWholeWhereItsFractionSaysNothing) {
  EXPECT_EQ(counted_mean(1, "launch"), "1 launch");
  EXPECT_EQ(counted_mean(1.02, "launch"), "1 launch");
  EXPECT_EQ(counted_mean(1.4, "launch"), "1.4 launches");
  EXPECT_EQ(counted_mean(0.5, "launch"), "0.5 launches");
  EXPECT_EQ(counted_mean(9.96, "launch"), "10 launches");
  EXPECT_EQ(counted_mean(398.6, "launch"), "399 launches");
}

}  // namespace
}  // namespace profline
