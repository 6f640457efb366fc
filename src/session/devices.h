#pragma once

#include <string>

#include "base/result.h"
#include "config/defaults/search_path.h"
#include "settings/hardware.h"
#include "tools/gpu/driver.h"

/// The device that a config refers to, and its ceilings.
namespace profline::session {

/// The first table of devices on the search path; the built-in one is always on it.
Result<settings::Hardware> load_hardware(const config::SearchPath& search_path);

/// The device by the driver's name, ignoring case and with or without the leading `NVIDIA`. Null if
/// the name does not identify one device.
const settings::DeviceLimits* find_device(const settings::Hardware& hardware,
                                          std::string_view name);

/// The ceilings of a device by such a name; empty for an unknown one. The environment takes
/// precedence.
Result<settings::Ceilings> ceilings_for(const config::SearchPath& search_path,
                                        const std::string& device);

/// The device that the settings select on this machine, as passed to the workload: `cpu` or
/// `cuda:N`. `auto` is the first CUDA device, else the CPU. An Error of kind NotFound if the device
/// does not exist.
Result<settings::Device> decide_device(const settings::Device& asked,
                                       const Result<gpu::Driver>& driver);

/// The driver's name for the device that a configuration selects; empty if there is no such device.
std::string device_name(const settings::Device& device, const Result<gpu::Driver>& driver);

}  // namespace profline::session
