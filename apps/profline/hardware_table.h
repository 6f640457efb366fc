#pragma once

#include <string>

#include "base/result.h"
#include "config/search_path.h"
#include "settings/ceilings.h"
#include "settings/hardware.h"

namespace profline {

/// The table of devices that is first on the search path; the program's own one is always there.
Result<settings::Hardware> load_hardware(const config::SearchPath& search_path);

/// The device by the driver's name, or by that name in any case and without `NVIDIA` in front, so
/// that people need not type it. Null when that is not one device.
const settings::DeviceLimits* find_device(const settings::Hardware& hardware,
                                          std::string_view name);

/// The ceilings of a device by such a name; none for an unknown one. The environment wins.
Result<settings::Ceilings> ceilings_for(const config::SearchPath& search_path,
                                        const std::string& device);

}  // namespace profline
