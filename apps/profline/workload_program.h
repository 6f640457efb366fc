#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "formats/node.h"
#include "settings/root.h"

namespace profline {

/// profline-workload: `given` if that is not empty, else beside this program, else on PATH.
Result<std::filesystem::path> find_workload(const std::string& given = {});

/// The device the settings mean on this machine, as the workload is told: `cpu` or `cuda:N`. `auto`
/// is the first CUDA device, else the CPU. An Error of kind NotFound for one that is not here.
Result<settings::Device> decide_device(const settings::Device& asked);

/// A folder for a run: `folder`, or `folder-2` and so on while that exists. One that was `given`
/// by name is taken as it is, unless it holds a finished run.
Result<std::filesystem::path> choose_run_folder(const std::filesystem::path& folder, bool given);

}  // namespace profline
