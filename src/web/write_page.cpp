#include "web/write_page.h"

#include "base/atomic_file.h"

namespace profline::web {

Result<std::filesystem::path> write_page(const std::filesystem::path& run_folder) {
  const summary::RunArtifacts run = PL_TRY(summary::read_run(run_folder));
  return write_page(run);
}

Result<std::filesystem::path> write_page(const summary::RunArtifacts& run) {
  const PageSource source = PL_TRY(read_page_source(run));
  const std::string page = PL_TRY(page_of(source));
  PL_TRY(write_private_file(run.folder / "report.html", page));  // it has the command lines
  return std::filesystem::path("report.html");
}

}  // namespace profline::web
