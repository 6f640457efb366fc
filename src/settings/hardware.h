#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "schema/field.h"
#include "schema/problems.h"

/// What `conf/hardware/devices.yaml` says: the ceilings of each GPU.
namespace profline::settings {

/// Operations by precision, dense, in 10^12 a second; none: not supported, or not published.
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
      field("fp16_fast", &TensorRates::fp16_fast, "fp16, accumulated in fp16, where it is faster")
          .above(0),
      field("fp8", &TensorRates::fp8, "fp8, accumulated in fp32").above(0),
      field("fp8_fast", &TensorRates::fp8_fast, "fp8, accumulated in fp16, where it is faster")
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
      field("names", &DeviceLimits::names, "what the driver calls the device, whole").required(),
      field("memory_gb", &DeviceLimits::memory_gb, "of its own, 10^9 bytes")
          .unit("GB")
          .above(0)
          .required(),
      field("bandwidth_gb_per_s", &DeviceLimits::bandwidth_gb_per_s, "of its own memory")
          .unit("GB/s")
          .above(0)
          .required(),
      field("tensor_tflops", &DeviceLimits::tensor_tflops, "dense rates of the tensor cores"),
      field("vector_tflops", &DeviceLimits::vector_tflops, "rates of the ordinary cores"),
      field("source", &DeviceLimits::source, "where the figures are printed").required());
}

struct Hardware {
  std::vector<DeviceLimits> devices;

  bool operator==(const Hardware&) const = default;

  /// By the driver's name; null when the table does not have it: no ceiling is better than a wrong
  /// one.
  const DeviceLimits* find(std::string_view device_name) const;
};
constexpr auto fields(std::type_identity<Hardware>) {
  return field_list(field("devices", &Hardware::devices, "one entry a device"));
}
Checks validate(const Hardware& hardware);

Result<Hardware> read_hardware(const Node& table);

}  // namespace profline::settings
