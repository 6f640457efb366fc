#pragma once

#include "pipeline/plan.h"

namespace profline::stages {

/// Every stage, in the order in which they run.
pipeline::Stages all_stages();

/// The stages of a server, which each of them starts, loads and stops.
pipeline::Stages server_stages();

/// The stages of a server that is running already: it is put under load, and that is all.
pipeline::Stages load_stages();

}  // namespace profline::stages
