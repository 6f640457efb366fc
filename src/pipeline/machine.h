#pragma once

#include <string>

#include "records/run_record.h"

namespace profline::pipeline {

/// The machine's name, and of its boot: pids with start times mean something within both only.
std::string host_name();
std::string boot_id();

/// Whether that very process exists and has not ended.
bool is_alive(const ProcessRecord& process);

/// This process.
ProcessRecord own_process();

}  // namespace profline::pipeline
