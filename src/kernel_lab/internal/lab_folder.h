#pragma once

#include <optional>
#include <string>

#include "kernel_lab/lab.h"

namespace profline::kernel_lab::internal {

/// Makes the folder this command's: writes command.yaml. An Error when it holds captures of another
/// command and may not be overwritten.
Result<void> take_folder(const LabRequest& request);

/// The record of a kernel that was finished here before; nothing when it was not, or is to be done
/// again.
std::optional<CaptureRecord> finished_before(const LabRequest& request, const WantedKernel& kernel,
                                             const std::string& folder);

Result<void> write_record(const LabRequest& request, const CaptureRecord& record);

}  // namespace profline::kernel_lab::internal
