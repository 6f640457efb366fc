#include "report/write_reports.h"

#include "base/files.h"
#include "run/names/artifact_names.h"
#include "summary/load.h"

namespace profline::report {

Result<Written> write_reports(const run::Run& run, const RunSummary& summary) {
  const ReportModel model{run, summary};
  std::vector<std::pair<const char*, std::string>> files = {
      {run::files::kSummary, PL_TRY(to_document(summary))},
      {run::files::kReport, report_page(model)}};
  if (!summary::is_only_load(summary)) {
    files.emplace_back(run::files::kOperatorsPage, operators_page(model));
    files.emplace_back(run::files::kKernelsPage, kernels_page(model));
    files.emplace_back(run::files::kStakeholderSummary, stakeholder_page(model));
  }
  Written written;
  written.verdict = summary.verdict;
  for (const auto& [name, text] : files) {
    PL_TRY(write_file_atomic(run.folder() / name, text));
    written.files.emplace_back(name);
  }
  return written;
}

}  // namespace profline::report
