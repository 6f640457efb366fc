#include "tools/nsys/export.h"

#include "base/strings.h"

namespace profline::nsys {

Command export_command(const std::filesystem::path& program, const std::filesystem::path& report,
                       const std::filesystem::path& sqlite) {
  Command command{.argv = {program.string(), "export", "--type=sqlite", "--quiet=true",
                           "--force-overwrite=true", "--output=" + sqlite.string(),
                           report.string()}};
  command.env["TMPDIR"] = sqlite.parent_path().string();
  command.stop_briefly = true;
  return command;
}

Result<void> export_sqlite(ProcessRunner& runner, const std::filesystem::path& program,
                           const std::filesystem::path& report,
                           const std::filesystem::path& sqlite) {
  const Exit exit = PL_TRY(runner.run(export_command(program, report, sqlite)));
  if (exit.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  std::error_code failure;
  if (exit.succeeded() && std::filesystem::file_size(sqlite, failure) > 0 && !failure) return {};
  std::string told = "nsys export of " + report.string() + " " + exit.describe() +
                     (exit.succeeded() ? " and left no SQLite file" : "");
  const std::string_view said = trim(exit.tail);
  if (!said.empty()) told += ": " + std::string(said);
  return Error(ErrorKind::Tool, std::move(told));
}

}  // namespace profline::nsys
