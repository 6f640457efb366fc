#pragma once

#include <string>

#include "base/result.h"
#include "config/defaults/search_path.h"
#include "settings/device.h"
#include "settings/hardware.h"
#include "tools/gpu/driver.h"

/// Which device a config means, and how fast that could be.
namespace profline::session {

/// The table of devices that is first on the search path; the program's own one is always there.
Result<settings::Hardware> load_hardware(const config::SearchPath& search_path);

/// The device by the driver's name, or by that name in any case and without `NVIDIA` in front, so
/// that people need not type it. Null when that is not one device.
const settings::DeviceLimits* find_device(const settings::Hardware& hardware,
                                          std::string_view name);

/// The ceilings of a device by such a name; none for an unknown one. The environment wins.
Result<settings::Ceilings> ceilings_for(const config::SearchPath& search_path,
                                        const std::string& device);

/// The device the settings mean on this machine, as the workload is told: `cpu` or `cuda:N`. `auto`
/// is the first CUDA device, else the CPU. An Error of kind NotFound for one that is not here.
Result<settings::Device> decide_device(const settings::Device& asked,
                                       const Result<gpu::Driver>& driver);

/// What the driver calls the device that a configuration asks for; empty when there is none.
std::string device_name(const settings::Device& device, const Result<gpu::Driver>& driver);

}  // namespace profline::session
