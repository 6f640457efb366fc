#pragma once

#include <array>
#include <type_traits>

#include "schema/field.h"

namespace profline::settings {

enum class Dtype { Bf16, Fp16, Fp32 };
constexpr auto names(std::type_identity<Dtype>) {
  return std::array{named(Dtype::Bf16, "bf16"), named(Dtype::Bf16, "bfloat16"),
                    named(Dtype::Fp16, "fp16"), named(Dtype::Fp16, "float16"),
                    named(Dtype::Fp32, "fp32"), named(Dtype::Fp32, "float32")};
}

}  // namespace profline::settings
