#include "report_command.h"

#include <map>

#include "base/atomic_file.h"
#include "base/terminal_text.h"
#include "every_report.h"
#include "formats/json_write.h"
#include "pipeline/run_files.h"
#include "pipeline/run_folder.h"
#include "records/redacted_run.h"
#include "records/run_record.h"
#include "standard_streams.h"
#include "text_table.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

Node document(const fs::path& run, const report::Written& written) {
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
Result<void> note_digests(const fs::path& run, const std::vector<fs::path>& names,
                          RunRecord& record) {
  std::vector<fs::path> files;
  files.reserve(names.size());
  for (const fs::path& name : names) files.push_back(run / name);
  std::map<fs::path, ArtifactRecord> known;
  for (ArtifactRecord& artifact : record.artifacts) known[artifact.path] = std::move(artifact);
  for (ArtifactRecord& now : PL_TRY(pipeline::digest_each(std::move(files), run))) {
    known[now.path] = std::move(now);
  }
  record.artifacts.clear();
  for (auto& [path, artifact] : known) record.artifacts.push_back(std::move(artifact));
  return {};
}

/// Writes all reports, and their digests into run.json. The record of a run that is going on, or
/// was killed, is left to whoever goes on with it.
Result<report::Written> write_all(const fs::path& run) {
  if (PL_TRY(read_run_record(run)).state == RunState::Running) return write_every_report(run);
  const pipeline::RunFolder locked = PL_TRY(pipeline::RunFolder::reopen(run));
  const report::Written written = PL_TRY(write_every_report(run));
  RunRecord record = PL_TRY(read_run_record(run));
  PL_TRY(note_digests(run, written.files, record));
  PL_TRY(write_private_file(run / "run.json",
                            PL_TRY(write_json(to_node(redacted(record, Redactor()))))));
  return written;
}

}  // namespace

Result<ExitCode> ReportVerb::run(const Services&, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.size() != 1) {
    return Error(ErrorKind::Config, "'profline report RUN' takes one run's folder")
        .with_reason("usage");
  }
  const fs::path run = arguments.words.front();
  const report::Written written = PL_TRY(write_all(run));
  if (invocation.output.format == OutputFormat::Json) {
    PL_TRY(print_result(PL_TRY(write_json(document(run, written)))));
    return ExitCode::Done;
  }
  std::string text = printable(written.verdict) + "\n";
  for (const auto& file : written.files) text += printable((run / file).string()) + "\n";
  PL_TRY(print_result(for_terminal(std::move(text))));
  return ExitCode::Done;
}

}  // namespace profline
