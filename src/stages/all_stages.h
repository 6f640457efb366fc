#pragma once

#include "pipeline/plan.h"

namespace profline::stages {

/// Every stage, in the order in which they run.
pipeline::Stages all_stages();

/// The stages for a server that is already running: it is put under load.
pipeline::Stages load_stages();

}  // namespace profline::stages
