#include "report_command.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/files.h"
#include "base/terminal_text.h"
#include "formats/json_write.h"
#include "pipeline/run_files.h"
#include "pipeline/run_folder.h"
#include "records/run_record.h"
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

/// Puts the digests of files of the run into its record, and leaves those of others as they are.
Result<void> note_digests(const std::filesystem::path& run,
                          const std::vector<std::filesystem::path>& files, RunRecord& record) {
  std::map<std::filesystem::path, ArtifactRecord> known;
  for (ArtifactRecord& artifact : record.artifacts) known[artifact.path] = std::move(artifact);
  for (ArtifactRecord& now : PL_TRY(pipeline::digest_run_files(run))) {
    const bool is_ours = std::find(files.begin(), files.end(), now.path) != files.end();
    if (is_ours) known[now.path] = std::move(now);
  }
  record.artifacts.clear();
  for (auto& [path, artifact] : known) record.artifacts.push_back(std::move(artifact));
  return {};
}

/// Writes all reports, and their digests into run.json. A run that is going on, or was killed, is
/// left to whoever goes on with it.
Result<report::Written> write_all(const std::filesystem::path& run) {
  std::optional<pipeline::RunFolder> locked;
  const report::RunArtifacts artifacts = PL_TRY(report::read_run(run));
  const bool is_finished = artifacts.run.state != RunState::Running;
  if (is_finished) locked.emplace(PL_TRY(pipeline::RunFolder::reopen(run)));
  report::Written written = PL_TRY(report::write_reports(artifacts));
  written.files.push_back(PL_TRY(web::write_page(artifacts)));
  if (!is_finished) return written;
  RunRecord record = PL_TRY(read_run_record(run));
  PL_TRY(note_digests(run, written.files, record));
  PL_TRY(write_file_atomic(run / "run.json", PL_TRY(write_json(to_node(record)))));
  return written;
}

}  // namespace

Result<ExitCode> ReportVerb::run(const Services&, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.size() != 1) {
    return Error(ErrorKind::Config, "'profline report RUN' takes one run's folder")
        .with_reason("usage");
  }
  const std::filesystem::path run = arguments.words.front();
  const report::Written written = PL_TRY(write_all(run));
  if (invocation.output.format == OutputFormat::Json) {
    fmt::print("{}", PL_TRY(write_json(document(run, written))));
    return ExitCode::Done;
  }
  fmt::print("{}\n", printable(written.verdict));
  for (const auto& file : written.files) fmt::print("{}\n", (run / file).string());
  return ExitCode::Done;
}

}  // namespace profline
