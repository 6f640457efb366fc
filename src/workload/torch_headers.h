// Precompiled once for every module below src/workload: libtorch's headers take most of a minute
// to read. No file includes this one; sources include what they use, which then costs nothing.
#pragma once

// Lets clang compile libtorch 1.13's headers as C++20 with GCC's standard library; first of all
// headers, and nothing for other compilers.
//
// In C++20 std::vector is constexpr, so clang instantiates its members where they are used, and
// libtorch uses those of a vector of c10::IValue before that type is complete. GCC waits until the
// end of the file. So clang gets a vector that is not constexpr, which nobody here needs.
//
// The order is the point.
// clang-format off
// NOLINTBEGIN(bugprone-reserved-identifier): the library's own
#if defined(__clang__) && __cplusplus >= 202002L && __has_include(<bits/stl_algobase.h>)
// Declares a constexpr std::fill of vector<bool>, which will not exist here; the general one works.
#define _Bit_iterator _Bit_iterator_of_constexpr_vector
#include <bits/stl_algobase.h>
#undef _Bit_iterator
#include <memory>
#include <string>
#pragma push_macro("_GLIBCXX20_CONSTEXPR")
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
#include <vector>
#pragma pop_macro("_GLIBCXX20_CONSTEXPR")
#endif
// NOLINTEND(bugprone-reserved-identifier)
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
