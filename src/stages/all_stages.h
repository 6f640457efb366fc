#pragma once

#include "pipeline/plan.h"

namespace profline::stages {

/// Every stage, in the order in which they run.
pipeline::Stages all_stages();

/// The stages for a server that profline starts, loads and stops in each of them.
pipeline::Stages server_stages();

/// The stages for a server that is already running: it is only put under load.
pipeline::Stages load_stages();

}  // namespace profline::stages
