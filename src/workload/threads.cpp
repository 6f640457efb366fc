#include "workload/threads.h"

#include <dlfcn.h>

#include <ATen/Parallel.h>

namespace profline::workload {

void use_threads(int count) {
  at::set_num_threads(count);
  using SetThreads = void (*)(int);
  if (void* found = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<SetThreads>(found)(count);
  }
}

}  // namespace profline::workload
