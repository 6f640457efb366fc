#pragma once

#include <optional>
#include <string>

#include "base/counted.h"

/// Figures as the reports print them.
namespace profline::report {

using profline::counted;
using profline::counted_mean;

/// Three digits with their unit: `2.80 ms`.
std::string duration(double ns);
/// `28.0 %`; below a tenth of a percent with two digits: `0.012 %`.
std::string percent(double share);
/// `3.6x`, `31x`.
std::string factor(double ratio);
/// A dash for what is not known.
std::string duration(const std::optional<double>& ns);
std::string percent(const std::optional<double>& share);
std::string count(const std::optional<double>& value);

}  // namespace profline::report
