#include <gtest/gtest.h>

#include "records/document.h"

namespace profline {
namespace {

TEST(Reading, CountsWhatWasUsedAndWhatWasSkippedByReason) {
  Reading reading;
  reading.used = 5;
  reading.skip("end before start", "row 3");
  reading.skip("no name", "row 7");
  reading.skip("end before start", "row 9");
  reading.skip("no name", "row 10", 4);
  EXPECT_EQ(reading.events(), 12U);
  const std::vector<Reading::Skipped> expected{{"end before start", 2, "row 3"},
                                               {"no name", 5, "row 7"}};
  EXPECT_EQ(reading.skipped, expected);
}

}  // namespace
}  // namespace profline
