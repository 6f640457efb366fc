#include "workload/model/copy_threads.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace profline::workload {
namespace {

TEST(CopyThreads, CopyAllOfItAndNothingBeside) {
  std::vector<std::uint32_t> values(300'001);
  std::iota(values.begin(), values.end(), 1U);
  for (const std::size_t threads : {0U, 1U, 2U, 5U}) {
    CopyThreads together(threads);
    // Below, at and above what a thread takes at least; again and again with the same threads.
    for (const std::size_t count : {0U, 1U, 16'383U, 16'384U, 16'385U, 50'000U, 300'000U}) {
      SCOPED_TRACE(::testing::Message() << threads << " threads, " << count << " values");
      std::vector<std::uint32_t> copy(values.size(), 0U);
      together.copy(std::as_bytes(std::span(values).first(count)),
                    std::as_writable_bytes(std::span(copy)).data());
      EXPECT_TRUE(std::equal(copy.begin(), copy.begin() + static_cast<std::ptrdiff_t>(count),
                             values.begin()));
      EXPECT_EQ(std::count(copy.begin(), copy.end(), 0U),
                static_cast<std::ptrdiff_t>(values.size() - count));
    }
  }
}

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(CopyThreads, EndWithoutHavingCopied) {
  const std::ptrdiff_t before = threads_of_this_process();
  {
    const CopyThreads idle(3);
    EXPECT_EQ(threads_of_this_process(), before + 2);
  }
  EXPECT_EQ(threads_of_this_process(), before);
}

}  // namespace
}  // namespace profline::workload
