#include "settings/hardware.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/strings.h"
#include "schema/read.h"

namespace profline::settings {

std::string Device::to_string() const {
  switch (kind) {
    case Kind::Auto:
      return "auto";
    case Kind::Cpu:
      return "cpu";
    case Kind::Cuda:
      break;
  }
  return index ? "cuda:" + std::to_string(*index) : "cuda";
}

std::optional<Device> parse_device(std::string_view text) {
  constexpr std::string_view kNumbered = "cuda:";
  if (text == "auto") return Device{.kind = Device::Kind::Auto, .index = {}};
  if (text == "cpu") return Device{.kind = Device::Kind::Cpu, .index = {}};
  if (text == "cuda") return Device{.kind = Device::Kind::Cuda, .index = {}};
  if (!text.starts_with(kNumbered)) return std::nullopt;
  const auto index = whole_number<std::uint16_t>(text.substr(kNumbered.size()));
  if (!index) return std::nullopt;
  return Device{.kind = Device::Kind::Cuda, .index = index};
}

}  // namespace profline::settings

namespace profline::schema {

void Codec<settings::Device>::read(const Node& node, settings::Device& value, Reader& reader) {
  if (const auto device = settings::parse_device(node.as_string())) {
    value = *device;
  } else {
    reader.mismatch(node);
  }
}

}  // namespace profline::schema

namespace profline::settings {

const DeviceLimits* Hardware::find(std::string_view device_name) const {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceLimits& device) {
    return std::find(device.names.begin(), device.names.end(), device_name) != device.names.end();
  });
  return found == devices.end() ? nullptr : &*found;
}

Checks validate(const Hardware& hardware) {
  Checks checks;
  std::set<std::string_view> seen;
  for (const DeviceLimits& device : hardware.devices) {
    for (const std::string& name : device.names) {
      if (!seen.insert(name).second) {
        checks.fail(hardware.devices, "has '" + name + "' twice");
      }
    }
  }
  return checks;
}

Result<Hardware> read_hardware(const Node& table) {
  return schema::read<Hardware>(table);
}

namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

void add(Ceilings& ceilings, Cores cores, Precision precision, Accumulation accumulation,
         const std::optional<double>& tera) {
  if (tera) ceilings.rates.push_back({cores, precision, accumulation, *tera * kTera});
}

Result<std::optional<double>> variable(const Environment& environment, std::string_view name) {
  const auto text = environment(name);
  if (!text || text->empty()) return std::optional<double>();
  double value = 0;
  const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), value);
  const bool whole = status == std::errc() && end == text->data() + text->size();
  if (!whole || !std::isfinite(value) || value <= 0) {
    return Error(ErrorKind::Config, "environment variable " + std::string(name) +
                                        " must be a number above 0, not '" + *text + "'");
  }
  return std::optional<double>(value);
}

}  // namespace

std::string_view to_text(Precision precision) {
  for (const auto& entry : names(std::type_identity<Precision>{})) {
    if (entry.value == precision) return std::get<std::string_view>(entry.name);
  }
  return "?";
}

std::string_view to_text(Cores cores) {
  return cores == Cores::Tensor ? "tensor" : "vector";
}

Precision precision_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::Bf16:
      return Precision::Bf16;
    case Dtype::Fp16:
      return Precision::Fp16;
    case Dtype::Fp32:
      break;
  }
  return Precision::Fp32;
}

std::string_view Ceilings::peak_name() const {
  if (is_given) return "peak";
  return is_measured ? "measured peak" : "datasheet peak";
}

std::optional<double> Ceilings::rate(Cores cores, Precision precision,
                                     Accumulation accumulation) const {
  if (peak_operations_per_second) return peak_operations_per_second;
  std::optional<double> ordinary;
  for (const Rate& rate : rates) {
    if (rate.cores != cores || rate.precision != precision) continue;
    if (rate.accumulation == accumulation) return rate.operations_per_second;
    if (rate.accumulation == Accumulation::Fp32) ordinary = rate.operations_per_second;
  }
  return ordinary;
}

Ceilings ceilings_of(const DeviceLimits& limits) {
  Ceilings ceilings;
  if (!limits.names.empty()) ceilings.device = limits.names.front();
  ceilings.source = limits.source;
  ceilings.bytes_per_second = limits.bandwidth_gb_per_s * kGiga;
  const TensorRates& tensor = limits.tensor_tflops;
  const VectorRates& vector = limits.vector_tflops;
  constexpr auto kFp32 = Accumulation::Fp32;
  constexpr auto kFast = Accumulation::Fast;
  add(ceilings, Cores::Tensor, Precision::Fp64, kFp32, tensor.fp64);
  add(ceilings, Cores::Tensor, Precision::Tf32, kFp32, tensor.tf32);
  add(ceilings, Cores::Tensor, Precision::Bf16, kFp32, tensor.bf16);
  add(ceilings, Cores::Tensor, Precision::Fp16, kFp32, tensor.fp16);
  add(ceilings, Cores::Tensor, Precision::Fp16, kFast, tensor.fp16_fast);
  add(ceilings, Cores::Tensor, Precision::Fp8, kFp32, tensor.fp8);
  add(ceilings, Cores::Tensor, Precision::Fp8, kFast, tensor.fp8_fast);
  add(ceilings, Cores::Tensor, Precision::Fp4, kFp32, tensor.fp4);
  add(ceilings, Cores::Tensor, Precision::Int8, kFp32, tensor.int8);
  add(ceilings, Cores::Vector, Precision::Fp64, kFp32, vector.fp64);
  add(ceilings, Cores::Vector, Precision::Fp32, kFp32, vector.fp32);
  add(ceilings, Cores::Vector, Precision::Fp16, kFp32, vector.fp16);
  add(ceilings, Cores::Vector, Precision::Bf16, kFp32, vector.bf16);
  return ceilings;
}

Result<Ceilings> ceilings_with(Ceilings ceilings, const Environment& environment) {
  const auto peak = PL_TRY(variable(environment, "MFU_PEAK_TFLOPS"));
  const auto bandwidth = PL_TRY(variable(environment, "MEM_BANDWIDTH_GBS"));
  if (peak) ceilings.peak_operations_per_second = *peak * kTera;
  if (bandwidth) {
    ceilings.bytes_per_second = *bandwidth * kGiga;
    ceilings.read_bytes_per_second.reset();
  }
  for (const auto& [name, given] : {std::pair("MFU_PEAK_TFLOPS", peak.has_value()),
                                    std::pair("MEM_BANDWIDTH_GBS", bandwidth.has_value())}) {
    if (!given) continue;
    ceilings.is_given = true;
    if (!ceilings.source.empty()) ceilings.source += "; ";
    ceilings.source += name;
  }
  return ceilings;
}

}  // namespace profline::settings
