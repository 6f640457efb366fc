#pragma once

#include <ATen/record_function.h>

namespace profline::workload {

/// Whether this program was built with the nvtx3 headers. Without them, its ranges are only
/// libtorch's.
bool has_nvtx();

/// A named part of the run that every profiler sees, from here to the end of the block: an NVTX
/// range of the default domain, on which Nsight Systems and Nsight Compute gate captures, and a
/// scope of libtorch's profiler (RECORD_FUNCTION) with the same name.
class Range {
 public:
  /// `name` must outlive it.
  explicit Range(const char* name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  at::RecordFunction record_{at::RecordScope::USER_SCOPE};
};

}  // namespace profline::workload
