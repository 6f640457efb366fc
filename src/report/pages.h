#pragma once

#include <string>

#include "records/run_summary.h"
#include "summary/run_artifacts.h"

namespace profline::report {

/// All that the pages are written from: the figures, and the artifacts for what is shown as it is.
struct ReportModel {
  const summary::RunArtifacts& run;
  const RunSummary& summary;
};

/// `report.md`: verdict first, then evidence, then tables.
std::string report_page(const ReportModel& model);
/// `operators.md`: what libtorch's operators took, in all and stage by stage.
std::string operators_page(const ReportModel& model);
/// `kernels.md`: one row a kernel with what each tool knows of it.
std::string kernels_page(const ReportModel& model);
/// `stakeholder_summary.md`: verdict, evidence and next step in words.
std::string stakeholder_page(const ReportModel& model);

}  // namespace profline::report
