#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catalog/history.h"
#include "web/markup.h"

/// Drawings made by the server: they need no script, follow the page's colours and print.
namespace profline::serve {

/// A line the size of a word; the last value has a dot. Nothing with fewer than two values.
web::Markup sparkline(std::span<const double> values, const std::string& label);

/// A metric over runs, oldest first: a dot per run, the levels between changes, and each change
/// with its commit. `addresses` has one entry per point, `marked` one or none at all: a ring is
/// around the dots of marked points.
web::Markup trend_chart(const catalog::MetricHistory& history,
                        const std::vector<std::string>& addresses,
                        const std::vector<bool>& marked = {});

/// Round values that cover a range: at most six.
std::vector<double> axis_ticks(double least, double most);

}  // namespace profline::serve
