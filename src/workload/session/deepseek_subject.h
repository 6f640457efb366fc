#pragma once

#include <memory>

#include "workload/session/subject.h"

namespace profline::workload {

Result<std::unique_ptr<Subject>> open_deepseek_subject(const RunRequest& request,
                                                       const Machine& machine, Progress& progress);
Result<Node> trace_deepseek(const RunRequest& request);

}  // namespace profline::workload
