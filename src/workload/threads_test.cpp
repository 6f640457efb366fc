#include "workload/threads.h"

#include <dlfcn.h>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace profline::workload {
namespace {

TEST(Threads, AreThoseOfLibtorchAndOfOpenBlas) {
  using GetThreads = int (*)();
  void* found = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
  for (const int count : {2, 1}) {
    use_threads(count);
    EXPECT_EQ(at::get_num_threads(), count);
    if (found != nullptr) {
      EXPECT_EQ(reinterpret_cast<GetThreads>(found)(), count);
    }
  }
}

}  // namespace
}  // namespace profline::workload
