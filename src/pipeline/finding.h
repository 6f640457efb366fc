#pragma once

#include "records/finding.h"

namespace profline::pipeline {

using profline::Finding;
using profline::Severity;

}  // namespace profline::pipeline
