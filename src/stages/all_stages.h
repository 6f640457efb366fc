#pragma once

#include "pipeline/plan.h"

namespace profline::stages {

/// Every stage there is, in the order in which they run.
pipeline::Stages all_stages();

}  // namespace profline::stages
