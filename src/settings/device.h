#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "schema/codec.h"
#include "schema/field.h"

namespace profline::settings {

enum class Dtype { Bf16, Fp16, Fp32 };
constexpr auto names(std::type_identity<Dtype>) {
  return std::array{named(Dtype::Bf16, "bf16"), named(Dtype::Bf16, "bfloat16"),
                    named(Dtype::Fp16, "fp16"), named(Dtype::Fp16, "float16"),
                    named(Dtype::Fp32, "fp32"), named(Dtype::Fp32, "float32")};
}

/// The requested device: `auto`, `cpu`, `cuda` or `cuda:N`.
struct Device {
  enum class Kind { Auto, Cpu, Cuda };
  Kind kind = Kind::Auto;
  std::optional<std::uint16_t> index;  ///< only for Cuda; without one: the current device

  bool operator==(const Device&) const = default;
  std::string to_string() const;
};

std::optional<Device> parse_device(std::string_view text);

}  // namespace profline::settings

namespace profline::schema {

template <>
struct Codec<settings::Device> {
  static constexpr Kinds kKinds{Node::Kind::String};
  static std::string text(const Limits&) { return "one of auto, cpu, cuda, cuda:N"; }
  static void read(const Node& node, settings::Device& value, Reader& reader);
  static Node write(const settings::Device& value) { return Node::string(value.to_string()); }
};

}  // namespace profline::schema
