#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "settings/device.h"
#include "tools/gpu/driver.h"

namespace profline {

/// profline-workload: `given` if that is not empty, else beside this program, else on PATH.
Result<std::filesystem::path> find_workload(const std::string& given = {});

/// The device the settings mean on this machine, as the workload is told: `cpu` or `cuda:N`. `auto`
/// is the first CUDA device, else the CPU. An Error of kind NotFound for one that is not here.
Result<settings::Device> decide_device(const settings::Device& asked,
                                       const Result<gpu::Driver>& driver);

}  // namespace profline
