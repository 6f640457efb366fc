#pragma once

#include <memory>

#include "workload/session/subject.h"

namespace profline::workload {

Result<std::unique_ptr<Subject>> open_dummy_subject(const RunRequest& request,
                                                    const Machine& machine);

}  // namespace profline::workload
