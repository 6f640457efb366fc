#pragma once

#include "web/page_source.h"
#include "web/section.h"

/// The parts of the page, in the order in which they are read.
namespace profline::web {

/// Verdict a stage of the model, headline figures, stages against their floors: the first screen.
Section overview_section(const PageSource& source);
/// How times spread over images and tokens.
Section spread_section(const PageSource& source);
/// Where the device's time went while the model ran, and why it was idle.
Section device_section(const PageSource& source);
/// A few steps of decode as they happened.
Section timeline_section(const PageSource& source);
Section kernels_section(const PageSource& source);
Section roofline_section(const PageSource& source);
Section counters_section(const PageSource& source);
Section operators_section(const PageSource& source);
/// Clocks, power, temperature and memory over the measured run.
Section nvml_section(const PageSource& source);
/// What each profiler cost.
Section overhead_section(const PageSource& source);
/// How the run went: stages, findings, limits, and what was not captured.
Section run_section(const PageSource& source);
/// Every value of the config with its origin.
Section config_section(const PageSource& source);
Section environment_section(const PageSource& source);
Section commands_section(const PageSource& source);
Section artifacts_section(const PageSource& source);

}  // namespace profline::web
