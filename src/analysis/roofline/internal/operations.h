#pragma once

#include <string_view>

#include "analysis/roofline/internal/lookup.h"
#include "analysis/roofline/measurement.h"

namespace profline::roofline::internal {

/// Adds to the measurement what the tensor cores and the ordinary cores did.
void add_tensor_work(const Lookup& counters, std::string_view compute_capability,
                     Measurement& measured);
void add_vector_work(const Lookup& counters, Measurement& measured);

}  // namespace profline::roofline::internal
