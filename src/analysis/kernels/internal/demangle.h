#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace profline::kernels::internal {

/// The name that `_Z...` stands for; nothing when it is none, or when its text could become far
/// larger than names are: 200 bytes of repetitions can stand for a gigabyte, which the library's
/// demangler would write out.
std::optional<std::string> demangled(std::string_view mangled);

}  // namespace profline::kernels::internal
