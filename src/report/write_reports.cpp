#include "report/write_reports.h"

#include "base/files.h"
#include "report/pages.h"
#include "summary/summarise.h"

namespace profline::report {

Result<Written> write_reports(const std::filesystem::path& folder) {
  const summary::RunArtifacts run = PL_TRY(summary::read_run(folder));
  return write_reports(run);
}

Result<Written> write_reports(const summary::RunArtifacts& run) {
  const RunSummary summary = summary::summarise(run);
  const ReportModel model{run, summary};
  const std::pair<const char*, std::string> files[] = {
      {"summary.json", PL_TRY(to_document(summary))},
      {"report.md", report_page(model)},
      {"operators.md", operators_page(model)},
      {"kernels.md", kernels_page(model)},
      {"stakeholder_summary.md", stakeholder_page(model)},
  };
  Written written;
  written.verdict = summary.verdict;
  for (const auto& [name, text] : files) {
    PL_TRY(write_file_atomic(run.folder / name, text));
    written.files.emplace_back(name);
  }
  return written;
}

}  // namespace profline::report
