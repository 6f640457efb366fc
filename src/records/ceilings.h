#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/document.h"
#include "schema/field.h"

/// What a machine reaches, measured rather than looked up: docs/formats/ceilings.md.
namespace profline {

/// A rate or a time with what was seen while it was measured.
struct CeilingValue {
  double value = 0;
  double seconds = 0;
  std::optional<double> spread;
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_w;
  std::uint64_t throttle_reasons = 0;

  bool operator==(const CeilingValue&) const = default;
};
constexpr auto fields(std::type_identity<CeilingValue>) {
  return field_list(
      field("value", &CeilingValue::value, "in the figure's unit").required().above(0),
      field("seconds", &CeilingValue::seconds, "how long it was measured").required(),
      field("spread", &CeilingValue::spread,
            "largest minus smallest tenth of a second, as a share of the value"),
      field("sm_clock_mhz", &CeilingValue::sm_clock_mhz, "median; null: not known").unit("MHz"),
      field("memory_clock_mhz", &CeilingValue::memory_clock_mhz, "median; null: not known")
          .unit("MHz"),
      field("power_w", &CeilingValue::power_w, "mean; null: not known").unit("W"),
      field("throttle_reasons", &CeilingValue::throttle_reasons,
            "every one of NVML's reasons for reduced clocks that was seen, as its bit mask"));
}

/// A ceiling. Matrix products have one per shape; the best one comes first.
struct CeilingFigure {
  std::string kind;
  std::string name;
  std::string shape;
  std::string unit;
  std::optional<CeilingValue> burst;
  std::optional<CeilingValue> sustained;
  bool is_best = true;
  std::string detail;

  bool operator==(const CeilingFigure&) const = default;

  /// The higher of the two rates; nothing if there is neither.
  std::optional<double> highest() const;
};
constexpr auto fields(std::type_identity<CeilingFigure>) {
  return field_list(
      field("kind", &CeilingFigure::kind, "memory, matrix, transfer or latency").required(),
      field("name", &CeilingFigure::name, "`dram read`, `bf16`, `host to device`, `kernel launch`")
          .required(),
      field("shape", &CeilingFigure::shape, "size of an array, or m x n x k of a product"),
      field("unit", &CeilingFigure::unit, "B/s, FLOP/s or ns").required(),
      field("burst", &CeilingFigure::burst,
            "in the first tens of milliseconds after half a second of rest; null: not measured"),
      field("sustained", &CeilingFigure::sustained,
            "over a second, after some tenths of a second at work; null: not measured"),
      field("is_best", &CeilingFigure::is_best,
            "the highest of its name; false: another shape, for comparison"),
      field("detail", &CeilingFigure::detail, "how it was reached"));
}

/// `profline.ceilings/1`
struct MachineCeilings {
  static constexpr DocumentKind kKind{"ceilings", 1};

  std::string device;
  std::string device_uuid;
  std::string driver;
  std::string host;
  std::string measured_at;
  std::string version;
  std::string torch;
  std::string blas;
  std::int64_t threads = 0;
  std::int64_t chosen_threads = 0;
  double seconds = 0;
  std::vector<CeilingFigure> figures;
  std::vector<std::string> notes;

  bool operator==(const MachineCeilings&) const = default;

  bool is_gpu() const { return !device_uuid.empty(); }
  /// The best figure of that kind and name; null: it was not measured.
  const CeilingFigure* find(std::string_view kind, std::string_view name) const;
};
constexpr auto fields(std::type_identity<MachineCeilings>) {
  return field_list(
      field("device", &MachineCeilings::device, "the driver's name of the GPU, or the processor's")
          .required(),
      field("device_uuid", &MachineCeilings::device_uuid, "GPU-…; empty: a CPU"),
      field("driver", &MachineCeilings::driver, "version of the NVIDIA kernel module"),
      field("host", &MachineCeilings::host, "name of the machine"),
      field("measured_at", &MachineCeilings::measured_at, "UTC").required(),
      field("version", &MachineCeilings::version, "of profline"),
      field("torch", &MachineCeilings::torch, "version of libtorch, whose products were timed"),
      field("blas", &MachineCeilings::blas, "what multiplies matrices on the CPU"),
      field("threads", &MachineCeilings::threads, "on a CPU"),
      field("chosen_threads", &MachineCeilings::chosen_threads, "by the user; 0: all"),
      field("seconds", &MachineCeilings::seconds, "how long measuring took"),
      field("figures", &MachineCeilings::figures, "the ceilings").required(),
      field("notes", &MachineCeilings::notes, "what could not be measured, and why"));
}

/// A limit of arithmetic.
struct RoofRate {
  std::string precision;
  std::string cores;
  double operations_per_second = 0;

  bool operator==(const RoofRate&) const = default;
};
constexpr auto fields(std::type_identity<RoofRate>) {
  return field_list(
      field("precision", &RoofRate::precision, "bf16").required(),
      field("cores", &RoofRate::cores, "tensor or vector").required(),
      field("operations_per_second", &RoofRate::operations_per_second, "a multiply-add is two")
          .required());
}

/// What a device could reach according to one source.
struct Roof {
  std::string kind;
  bool is_used = false;
  std::string source;
  std::optional<double> bytes_per_second;
  std::vector<RoofRate> rates;

  bool operator==(const Roof&) const = default;
};
constexpr auto fields(std::type_identity<Roof>) {
  return field_list(
      field("kind", &Roof::kind, "measured, datasheet or given (in the environment)").required(),
      field("is_used", &Roof::is_used, "what shares and floors refer to").required(),
      field("source", &Roof::source, "when it was measured, or where it is published"),
      field("bytes_per_second", &Roof::bytes_per_second, "of the device's memory; null: not known"),
      field("rates", &Roof::rates, "dense"));
}

/// `profline.run_ceilings/1`: what a run compared itself with.
struct RunCeilings {
  static constexpr DocumentKind kKind{"run_ceilings", 1};

  std::string device;
  std::string choice;
  std::string why;
  std::vector<Roof> roofs;

  bool operator==(const RunCeilings&) const = default;
};
constexpr auto fields(std::type_identity<RunCeilings>) {
  return field_list(field("device", &RunCeilings::device, "its name; empty: not a known GPU"),
                    field("choice", &RunCeilings::choice, "the config's key `ceilings`").required(),
                    field("why", &RunCeilings::why, "why these are used").required(),
                    field("roofs", &RunCeilings::roofs, "all that are known").required());
}

}  // namespace profline
