// Precompiled once for every module below src/workload: libtorch's headers take most of a minute
// to read. Nobody includes this file; sources include what they use, which then costs nothing.
#pragma once

// Before all others.
// clang-format off
#include "workload/vector_for_clang.h"
// clang-format on

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <torch/version.h>
