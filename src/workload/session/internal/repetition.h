#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "workload/session/internal/subject.h"

namespace profline::workload {

/// Repeats the phases of the first item and writes repeated_phases.json in `folder`, if there are
/// any. Returns why that failed: without it only the energy of phases is unknown. An Error only if
/// the user wants to stop.
Result<std::optional<std::string>> repeat_phases(Subject& subject,
                                                 const std::filesystem::path& folder,
                                                 const std::function<bool()>& stopping);

}  // namespace profline::workload
