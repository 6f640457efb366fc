#include "every_report.h"

#include "web/write_page.h"

namespace profline {

Result<report::Written> write_every_report(const std::filesystem::path& run) {
  const report::RunArtifacts artifacts = PL_TRY(report::read_run(run));
  report::Written written = PL_TRY(report::write_reports(artifacts));
  written.files.push_back(PL_TRY(web::write_page(artifacts)));
  return written;
}

}  // namespace profline
