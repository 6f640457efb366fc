#pragma once

#include "pipeline/plan.h"

namespace profline::stages {

/// Every stage, in the order in which they run.
pipeline::Stages all_stages();

}  // namespace profline::stages
