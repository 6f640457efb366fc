#include "settings/device.h"

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
