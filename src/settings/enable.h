#pragma once

#include <array>
#include <type_traits>

#include "schema/field.h"

namespace profline::settings {

/// Whether a stage runs. Auto: if its preflight passes, else it is skipped and that is told.
enum class Enable { Yes, No, Auto };
constexpr auto names(std::type_identity<Enable>) {
  return std::array{named(Enable::Yes, true), named(Enable::No, false),
                    named(Enable::Auto, "auto")};
}

}  // namespace profline::settings
