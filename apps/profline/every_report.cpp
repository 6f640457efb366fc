#include "every_report.h"

#include "web/write_page.h"

namespace profline {

Result<report::Written> write_every_report(const std::filesystem::path& run) {
  const summary::RunArtifacts artifacts = PL_TRY(summary::read_run(run));
  report::Written written = PL_TRY(report::write_reports(artifacts));
  written.files.push_back(PL_TRY(web::write_page(artifacts)));
  return written;
}

}  // namespace profline
