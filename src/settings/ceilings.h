#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/field.h"
#include "settings/dtype.h"
#include "settings/hardware.h"

/// What a device can do at most, as rooflines, floor times and MFU are judged by.
namespace profline::settings {

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

/// Which part of a multiprocessor computes.
enum class Cores : std::uint8_t { Tensor, Vector };
std::string_view to_text(Cores cores);

/// What the sums are kept in. Some cards take half as long for the less exact one.
enum class Accumulation : std::uint8_t { Fp32, Fast };

struct Ceilings {
  struct Rate {
    Cores cores = Cores::Tensor;
    Precision precision = Precision::Bf16;
    Accumulation accumulation = Accumulation::Fp32;
    double operations_per_second = 0;  ///< dense; a multiply-add is two

    bool operator==(const Rate&) const = default;
  };

  std::string device;  ///< its name; empty: made by hand
  std::string source;  ///< where the figures come from
  bool is_measured = false;
  std::optional<double> bytes_per_second;
  std::vector<Rate> rates;
  /// Of MFU_PEAK_TFLOPS: stands in for every rate.
  std::optional<double> peak_operations_per_second;

  bool operator==(const Ceilings&) const = default;

  /// None: the device cannot, or nobody published how fast. Where accumulation makes no difference
  /// the fast rate is the ordinary one.
  std::optional<double> rate(Cores cores, Precision precision,
                             Accumulation accumulation = Accumulation::Fp32) const;
};

Ceilings ceilings_of(const DeviceLimits& limits);

/// Looks up an environment variable.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// `MFU_PEAK_TFLOPS` and `MEM_BANDWIDTH_GBS` put in place of the table's figures; the source says
/// so. A device that is not in the table (null) has what they say and nothing else. An Error names
/// a variable that is no number above 0.
Result<Ceilings> ceilings_with(const DeviceLimits* limits, const Environment& environment);

}  // namespace profline::settings
