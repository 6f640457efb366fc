#pragma once

/// NVTX ranges of the default domain: what Nsight Systems and Nsight Compute gate captures by.
/// Without the nvtx3 headers at build time these do nothing, and has_nvtx() says so.
namespace profline::workload {

bool has_nvtx();
/// Opens a range on this thread; `name` is copied by whoever listens.
void nvtx_push(const char* name);
/// Closes the one opened last on this thread.
void nvtx_pop();

}  // namespace profline::workload
