#include "report_command.h"

#include <fmt/core.h>

#include "base/terminal_text.h"
#include "formats/json_write.h"
#include "report/write_reports.h"
#include "web/write_page.h"

namespace profline {
namespace {

Node document(const std::filesystem::path& run, const report::Written& written) {
  NodeMap map;
  map.set("schema", Node::string("profline.report/1"));
  map.set("run", Node::string(run.string()));
  map.set("verdict", Node::string(written.verdict));
  Node files = Node::list();
  for (const auto& file : written.files) files.as_list().push_back(Node::string(file.string()));
  map.set("files", std::move(files));
  return Node::map(std::move(map));
}

}  // namespace

Result<ExitCode> ReportVerb::run(const Services&, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.size() != 1) {
    return Error(ErrorKind::Config, "'profline report RUN' takes one run's folder")
        .with_reason("usage");
  }
  const std::filesystem::path run = arguments.words.front();
  const report::RunArtifacts artifacts = PL_TRY(report::read_run(run));
  report::Written written = PL_TRY(report::write_reports(artifacts));
  written.files.push_back(PL_TRY(web::write_page(artifacts)));
  if (invocation.output.format == OutputFormat::Json) {
    fmt::print("{}", PL_TRY(write_json(document(run, written))));
    return ExitCode::Done;
  }
  fmt::print("{}\n", printable(written.verdict));
  for (const auto& file : written.files) fmt::print("{}\n", (run / file).string());
  return ExitCode::Done;
}

}  // namespace profline
