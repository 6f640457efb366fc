#pragma once

#include <string>

#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::web {

/// The capture from which the page shows a few steps.
struct ShownCapture {
  std::string file;  ///< below the run's folder
  std::string tool;  ///< the stage: `nsys`, `torch_profiler`
  const Timeline* rows = nullptr;
};

/// The input of the page.
struct PageSource {
  const run::Run& run;
  const RunSummary& summary;

  /// The nsys capture if there is one, else the torch profiler's trace; no rows: neither exists.
  ShownCapture shown_capture() const;
  /// Why the nsys capture is not shown: the file, and what is wrong with it.
  std::string why_no_capture() const;
};

}  // namespace profline::web
