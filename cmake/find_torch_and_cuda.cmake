# Finds libtorch, and a CUDA compiler for the kernels of the fast engine. Both are searched for here, at the top of the
# tree, because a language enabled in one folder is unknown in its siblings.
#
# Sets Torch_FOUND and PROFLINE_HAS_CUDA_KERNELS.
set(PROFLINE_CUDA_KERNELS AUTO CACHE STRING
  "CUDA kernels of the fast engine: AUTO (if libtorch has CUDA and nvcc is found), ON (always, for example to check that they compile), OFF")
set(PROFLINE_CUDA_ARCHITECTURES "80;90" CACHE STRING
  "CUDA architectures of these kernels; newer GPUs use the PTX of the last one")

set(PROFLINE_HAS_CUDA_KERNELS FALSE)
if(PROFLINE_WORKLOAD STREQUAL "OFF")
  return()
endif()
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)  # programs link torch through our modules
find_package(Torch QUIET)
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)

if(PROFLINE_CUDA_KERNELS STREQUAL "OFF" OR (PROFLINE_CUDA_KERNELS STREQUAL "AUTO" AND NOT TARGET torch_cuda))
  return()
endif()
include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(PROFLINE_HAS_CUDA_KERNELS TRUE)
elseif(PROFLINE_CUDA_KERNELS STREQUAL "ON")
  message(FATAL_ERROR "PROFLINE_CUDA_KERNELS is ON, but no CUDA compiler was found: install the CUDA toolkit, or set CUDACXX")
else()
  message(NOTICE "profline: no CUDA compiler found, so profline-workload has no fast engine")
endif()
