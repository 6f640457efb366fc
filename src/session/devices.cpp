#include "session/devices.h"

#include <algorithm>

#include "base/figures.h"
#include "base/strings.h"
#include "process/environment.h"

namespace profline::session {
namespace {

constexpr std::string_view kMaker = "nvidia ";

std::string plain(std::string_view name) {
  const std::string small = lower(name);
  return small.starts_with(kMaker) ? small.substr(kMaker.size()) : small;
}

}  // namespace

Result<settings::Hardware> load_hardware(const config::SearchPath& search_path) {
  for (const config::SearchPath::Entry& entry : search_path.entries()) {
    if (!entry.source) continue;
    const auto file = PL_TRY(entry.source->load("hardware/devices"));
    if (file) return settings::read_hardware(file->tree);
  }
  return Error(ErrorKind::NotFound, "there is no hardware/devices.yaml on the search path");
}

const settings::DeviceLimits* find_device(const settings::Hardware& hardware,
                                          std::string_view name) {
  if (const settings::DeviceLimits* exact = hardware.find(name)) return exact;
  const settings::DeviceLimits* found = nullptr;
  for (const settings::DeviceLimits& device : hardware.devices) {
    const bool is_it = std::any_of(device.names.begin(), device.names.end(),
                                   [&](const auto& known) { return plain(known) == plain(name); });
    if (!is_it) continue;
    if (found != nullptr) return nullptr;
    found = &device;
  }
  return found;
}

Result<settings::Ceilings> ceilings_for(const config::SearchPath& search_path,
                                        const std::string& device) {
  const settings::Hardware hardware = PL_TRY(load_hardware(search_path));
  const settings::DeviceLimits* limits = device.empty() ? nullptr : find_device(hardware, device);
  return settings::ceilings_with(limits, environment_variable);
}

Result<settings::Device> decide_device(const settings::Device& asked,
                                       const Result<gpu::Driver>& driver) {
  using Kind = settings::Device::Kind;
  const settings::Device cpu{.kind = Kind::Cpu, .index = {}};
  if (asked.kind == Kind::Cpu) return cpu;
  if (asked.kind == Kind::Auto && !driver) return cpu;
  const std::uint16_t index = asked.index.value_or(0);
  if (!driver) {
    return Error(ErrorKind::NotFound, "device " + asked.to_string() + ": " +
                                          driver.error().message() + "; device=cpu needs no GPU");
  }
  if (index >= driver->devices.size()) {
    return Error(ErrorKind::NotFound, "device " + asked.to_string() + ": there " +
                                          (driver->devices.size() == 1 ? "is " : "are ") +
                                          counted(driver->devices.size(), "CUDA device") + " here");
  }
  return settings::Device{.kind = Kind::Cuda, .index = index};
}

std::string device_name(const settings::Device& device, const Result<gpu::Driver>& driver) {
  if (device.kind == settings::Device::Kind::Cpu || !driver) return "";
  const int index = device.index.value_or(0);
  for (const gpu::Device& found : driver->devices) {
    if (found.index == index) return found.name;
  }
  return "";
}

}  // namespace profline::session
