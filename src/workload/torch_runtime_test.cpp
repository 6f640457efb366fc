#include "workload/torch_runtime.h"

#include <dlfcn.h>

#include <string>

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

TEST(TorchBuild, NamesVersionBlasAndThreads) {
  const TorchBuild build = torch_build();
  EXPECT_NE(build.version.find('.'), std::string::npos) << build.version;
  EXPECT_FALSE(build.blas.empty());
  EXPECT_GE(build.threads, 1);
  if (!build.cuda) {
    EXPECT_EQ(build.cuda_devices, 0);
  }
}

TEST(TorchBuild, DoesNotRunOnTheReferenceBlas) {
  EXPECT_NE(torch_build().blas, "reference")
      << "matrix products run about 30 times slower: install libopenblas0-pthread";
}

TEST(TorchBuild, IsWrittenWithItsSchemaFirst) {
  const Node node = to_node(torch_build());
  EXPECT_EQ(node.as_map().begin()->key, Node::string("schema"));
  EXPECT_EQ(*node.find("schema"), Node::string("profline.torch_build/1"));
}

}  // namespace
}  // namespace profline::workload
