#pragma once

#include <dlfcn.h>

#include <memory>

namespace profline::gpu::internal {

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
/// A library of the driver, loaded at run time.
using Library = std::unique_ptr<void, CloseLibrary>;

}  // namespace profline::gpu::internal
