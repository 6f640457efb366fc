#include "hardware_table.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace profline {
namespace {

constexpr std::string_view kMaker = "nvidia ";

std::string plain(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.starts_with(kMaker) ? lower.substr(kMaker.size()) : lower;
}

std::optional<std::string> environment_variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
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

}  // namespace profline
