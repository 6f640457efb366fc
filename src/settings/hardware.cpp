#include "settings/hardware.h"

#include <algorithm>
#include <set>

#include "schema/read.h"

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

}  // namespace profline::settings
