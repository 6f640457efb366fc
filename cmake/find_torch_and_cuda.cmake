# libtorch, and a CUDA compiler for the kernels of the fast engine. Both are looked for here, at the top of the tree,
# because a language that is enabled in a folder is unknown to the programs beside it.
#
# Sets Torch_FOUND and PROFLINE_HAS_CUDA_KERNELS.
set(PROFLINE_CUDA_KERNELS AUTO CACHE STRING
  "CUDA kernels of the fast engine: AUTO (if libtorch has CUDA and nvcc is found), ON (always, also to see that they compile), OFF")
set(PROFLINE_CUDA_ARCHITECTURES "80;90" CACHE STRING
  "What they are compiled for; newer GPUs take the last one's PTX")

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
  message(FATAL_ERROR "PROFLINE_CUDA_KERNELS is ON and no CUDA compiler was found: install the CUDA toolkit, or give CUDACXX")
else()
  message(NOTICE "profline: no CUDA compiler found, so profline-workload has no fast engine")
endif()
