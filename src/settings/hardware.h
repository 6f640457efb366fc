#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "schema/codec.h"
#include "schema/field.h"
#include "schema/problems.h"

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

/// The content of `conf/hardware/devices.yaml`: the ceilings of each GPU.
namespace profline::settings {

/// Dense operations by precision, in 10^12 per second; absent if unsupported or not published.
struct TensorRates {
  std::optional<double> fp64;
  std::optional<double> tf32;
  std::optional<double> bf16;
  std::optional<double> fp16;
  std::optional<double> fp16_fast;
  std::optional<double> fp8;
  std::optional<double> fp8_fast;
  std::optional<double> int8;
  std::optional<double> fp4;

  bool operator==(const TensorRates&) const = default;
};
constexpr auto fields(std::type_identity<TensorRates>) {
  return field_list(
      field("fp64", &TensorRates::fp64, "fp64").above(0),
      field("tf32", &TensorRates::tf32, "TF32").above(0),
      field("bf16", &TensorRates::bf16, "bf16, accumulated in fp32").above(0),
      field("fp16", &TensorRates::fp16, "fp16, accumulated in fp32").above(0),
      field("fp16_fast", &TensorRates::fp16_fast, "fp16, accumulated in fp16, if that is faster")
          .above(0),
      field("fp8", &TensorRates::fp8, "fp8, accumulated in fp32").above(0),
      field("fp8_fast", &TensorRates::fp8_fast, "fp8, accumulated in fp16, if that is faster")
          .above(0),
      field("int8", &TensorRates::int8, "int8").above(0),
      field("fp4", &TensorRates::fp4, "fp4, accumulated in fp32").above(0));
}

struct VectorRates {
  std::optional<double> fp64;
  std::optional<double> fp32;
  std::optional<double> fp16;
  std::optional<double> bf16;

  bool operator==(const VectorRates&) const = default;
};
constexpr auto fields(std::type_identity<VectorRates>) {
  return field_list(field("fp64", &VectorRates::fp64, "fp64").above(0),
                    field("fp32", &VectorRates::fp32, "fp32").above(0),
                    field("fp16", &VectorRates::fp16, "fp16").above(0),
                    field("bf16", &VectorRates::bf16, "bf16").above(0));
}

struct DeviceLimits {
  std::vector<std::string> names;
  double memory_gb = 0;
  double bandwidth_gb_per_s = 0;
  TensorRates tensor_tflops;
  VectorRates vector_tflops;
  std::string source;

  bool operator==(const DeviceLimits&) const = default;
};
constexpr auto fields(std::type_identity<DeviceLimits>) {
  return field_list(
      field("names", &DeviceLimits::names, "full names of the device, as reported by the driver")
          .required(),
      field("memory_gb", &DeviceLimits::memory_gb, "device memory, 10^9 bytes")
          .unit("GB")
          .above(0)
          .required(),
      field("bandwidth_gb_per_s", &DeviceLimits::bandwidth_gb_per_s,
            "bandwidth of the device memory")
          .unit("GB/s")
          .above(0)
          .required(),
      field("tensor_tflops", &DeviceLimits::tensor_tflops, "dense rates of the tensor cores"),
      field("vector_tflops", &DeviceLimits::vector_tflops, "rates of the vector cores"),
      field("source", &DeviceLimits::source, "where the figures are published").required());
}

struct Hardware {
  std::vector<DeviceLimits> devices;

  bool operator==(const Hardware&) const = default;

  /// Looks up the driver's name; null if the table does not have it, because no ceiling is better
  /// than a wrong one.
  const DeviceLimits* find(std::string_view device_name) const;
};
constexpr auto fields(std::type_identity<Hardware>) {
  return field_list(field("devices", &Hardware::devices, "one entry per device"));
}
Checks validate(const Hardware& hardware);

Result<Hardware> read_hardware(const Node& table);

// The peak rates of a device, which rooflines, floor times and MFU are based on.

enum class Precision : std::uint8_t { Fp64, Fp32, Tf32, Bf16, Fp16, Fp8, Fp4, Int8, Int4, Int1 };
constexpr auto names(std::type_identity<Precision>) {
  return std::array{named(Precision::Fp64, "fp64"), named(Precision::Fp32, "fp32"),
                    named(Precision::Tf32, "tf32"), named(Precision::Bf16, "bf16"),
                    named(Precision::Fp16, "fp16"), named(Precision::Fp8, "fp8"),
                    named(Precision::Fp4, "fp4"),   named(Precision::Int8, "int8"),
                    named(Precision::Int4, "int4"), named(Precision::Int1, "int1")};
}
std::string_view to_text(Precision precision);
Precision precision_of(Dtype dtype);

/// The part of a multiprocessor that computes.
enum class Cores : std::uint8_t { Tensor, Vector };
std::string_view to_text(Cores cores);

/// The type of the accumulator. Some cards take half as long for the less exact one.
enum class Accumulation : std::uint8_t { Fp32, Fast };

struct Ceilings {
  struct Rate {
    Cores cores = Cores::Tensor;
    Precision precision = Precision::Bf16;
    Accumulation accumulation = Accumulation::Fp32;
    double operations_per_second = 0;  ///< dense; a multiply-add is two

    bool operator==(const Rate&) const = default;
  };

  std::string device;  ///< its name; empty if not from the table
  std::string source;  ///< the source of the figures
  bool is_measured = false;
  bool is_given = false;  ///< at least one figure is from the environment
  std::optional<double> bytes_per_second;
  /// Of loops that only read, where they were measured: often less than the highest rate.
  std::optional<double> read_bytes_per_second;
  std::vector<Rate> rates;
  /// From MFU_PEAK_TFLOPS: replaces every rate.
  std::optional<double> peak_operations_per_second;

  bool operator==(const Ceilings&) const = default;

  /// What a share of these ceilings is a share of: `measured peak`, `datasheet peak`; `peak` if
  /// they were given in the environment.
  std::string_view peak_name() const;
  /// For floors of phases, whose bytes are weights and caches that are read.
  std::optional<double> read_rate() const {
    return read_bytes_per_second ? read_bytes_per_second : bytes_per_second;
  }
  /// No value if the device does not support it or no rate is published. If accumulation makes no
  /// difference, the fast rate is the ordinary one.
  std::optional<double> rate(Cores cores, Precision precision,
                             Accumulation accumulation = Accumulation::Fp32) const;
};

Ceilings ceilings_of(const DeviceLimits& limits);

/// Looks up an environment variable.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// Replaces figures with `MFU_PEAK_TFLOPS` and `MEM_BANDWIDTH_GBS`; the source says so. An Error
/// names a variable that is not a number above 0.
Result<Ceilings> ceilings_with(Ceilings ceilings, const Environment& environment);

}  // namespace profline::settings
