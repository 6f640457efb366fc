#pragma once

#include <vector>

#include "verb.h"

namespace profline {

/// `profline kernels top REPORT`: the kernels of an nsys report by time, as YAML of names and
/// regular expressions. The report is an SQLite export, a kernel summary of `nsys stats` as CSV, or
/// a .nsys-rep, which needs nsys.
std::vector<Option> kernels_top_options();
Result<ExitCode> kernels_top(const Services& services, const Invocation& invocation);

}  // namespace profline
