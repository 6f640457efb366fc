# Finds the NVTX 3 headers (nvtx3/nvToolsExt.h; they need no library) in the CUDA toolkit or in the Nsight Systems
# package. Sets NVTX3_INCLUDE_DIR, or leaves it false and prints a notice.
set(PROFLINE_NVTX AUTO CACHE STRING "NVTX ranges in profline-workload: AUTO (if the nvtx3 headers are found), ON, OFF")

if(PROFLINE_NVTX STREQUAL "OFF")
  set(NVTX3_INCLUDE_DIR FALSE)
  return()
endif()
file(GLOB nvtx_places
  /usr/local/cuda-*/include
  /usr/lib/*/nsight-systems/target-linux-*/nvtx/include
  /opt/nvidia/nsight-systems/*/target-linux-*/nvtx/include
  /usr/local/cuda*/nsight-systems-*/target-linux-*/nvtx/include)
list(SORT nvtx_places COMPARE NATURAL ORDER DESCENDING)
find_path(NVTX3_INCLUDE_DIR nvtx3/nvToolsExt.h
  HINTS ENV CUDA_PATH ENV CUDA_HOME ${CUDAToolkit_INCLUDE_DIRS} /usr/local/cuda
  PATHS ${nvtx_places} ${CMAKE_SOURCE_DIR}/.deps/nvtx
  PATH_SUFFIXES include)
if(NVTX3_INCLUDE_DIR)
  return()
endif()
if(PROFLINE_NVTX STREQUAL "ON")
  message(FATAL_ERROR "PROFLINE_NVTX is ON, but nvtx3/nvToolsExt.h was not found: run scripts/setup nvtx, install the CUDA "
    "toolkit, or set NVTX3_INCLUDE_DIR")
endif()
message(NOTICE "profline: no nvtx3/nvToolsExt.h found, so profline-workload opens no NVTX ranges; scripts/setup nvtx fetches it")
