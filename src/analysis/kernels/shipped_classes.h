#pragma once

#include "analysis/kernels/classify.h"
#include "base/result.h"
#include "settings/kernel_classes.h"

namespace profline::kernels {

/// The rules of `conf/kernels/classes.yaml` as this program was built with them.
Result<settings::KernelClasses> shipped_classes();

/// A classifier by these rules.
Result<Classifier> shipped_classifier();

}  // namespace profline::kernels
