#include "pipeline/run_files.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/files.h"
#include "base/sha256.h"
#include "formats/json.h"
#include "formats/yaml_write.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

bool is_finished(const fs::directory_entry& entry) {
  std::error_code failure;
  const bool is_file = entry.is_regular_file(failure) && !entry.is_symlink(failure);
  return is_file && !failure && !entry.path().filename().string().starts_with(".");
}

/// The words of a user's command that are files.
Node files_of_command(const RunSetup& setup, const std::vector<std::string>& argv) {
  Node files = Node::list();
  const fs::path cwd = setup.cwd / setup.settings.pipeline.workload.cwd;
  for (const std::string& word : argv) {
    std::error_code failure;
    const fs::path file = (cwd / word).lexically_normal();
    if (word.empty() || !fs::is_regular_file(file, failure)) continue;
    const auto digest = sha256_file(file);
    if (!digest) continue;
    NodeMap entry;
    entry.set("path", Node::string(file.string()));
    entry.set("bytes", Node::integer(static_cast<std::int64_t>(fs::file_size(file, failure))));
    entry.set("sha256", Node::string(*digest));
    files.as_list().push_back(Node::map(std::move(entry)));
  }
  return files;
}

/// `shown` is the command without its secrets.
Node inputs_of_command(const RunSetup& setup, const std::vector<std::string>& argv,
                       const std::vector<std::string>& shown) {
  NodeMap document;
  document.set("schema", Node::string("profline.inputs/1"));
  Node words = Node::list();
  for (const std::string& word : shown) words.as_list().push_back(Node::string(word));
  document.set("command", std::move(words));
  document.set("files", files_of_command(setup, argv));
  return Node::map(std::move(document));
}

}  // namespace

Result<std::vector<ArtifactRecord>> digest_files(const fs::path& folder, const fs::path& run) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (is_finished(*at)) files.push_back(at->path());
  }
  if (failure) {
    return Error(ErrorKind::Io, "cannot list " + folder.string() + ": " + failure.message());
  }
  return digest_each(std::move(files), run);
}

Result<std::vector<ArtifactRecord>> digest_each(std::vector<fs::path> files, const fs::path& run) {
  std::sort(files.begin(), files.end());
  std::vector<ArtifactRecord> artifacts;
  for (const fs::path& file : files) {
    std::error_code failure;
    const std::uint64_t bytes = fs::file_size(file, failure);
    auto digest = sha256_file(file);
    if (!digest && digest.error().kind() == ErrorKind::NotFound) continue;
    if (!digest) return std::move(digest).error();
    artifacts.push_back({file.lexically_relative(run), bytes, std::move(*digest)});
  }
  return artifacts;
}

Result<std::vector<ArtifactRecord>> digest_run_files(const fs::path& run) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator at(run, failure), end; !failure && at != end; at.increment(failure)) {
    const std::string name = at->path().filename().string();
    if (is_finished(*at) && name != "run.json" && name != "run.log") files.push_back(at->path());
  }
  if (failure) {
    return Error(ErrorKind::Io, "cannot list " + run.string() + ": " + failure.message());
  }
  return digest_each(std::move(files), run);
}

void make_captures_private(const fs::path& folder) {
  constexpr std::string_view kCaptures[] = {".nsys-rep", ".qdstrm", ".sqlite", ".ncu-rep"};
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string ending = at->path().extension().string();
    const bool is_capture =
        std::find(std::begin(kCaptures), std::end(kCaptures), ending) != std::end(kCaptures);
    std::error_code ignored;
    if (!is_capture || !at->is_regular_file(ignored) || at->is_symlink(ignored)) continue;
    fs::permissions(at->path(), fs::perms::owner_read | fs::perms::owner_write, ignored);
  }
}

Result<void> write_command_file(const fs::path& file, const Command& command,
                                const Redactor& redactor) {
  return write_private_file(file, display(redacted(command, redactor)) + "\n");
}

Result<void> remove_temporaries(const fs::path& folder, const Clock& clock) {
  PL_TRY(remove_stale_temporaries(folder, clock));
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->is_directory(failure)) PL_TRY(remove_stale_temporaries(at->path(), clock));
  }
  return {};
}

Result<void> write_inputs(RunJournal& journal, const RunSetup& setup, std::string_view stage) {
  if (const auto argv = setup.settings.pipeline.workload.user_command()) {
    const std::vector<std::string> words = setup.redactor.words(*argv);
    journal.defer("inputs.yaml", write_yaml(inputs_of_command(setup, *argv, words)));
    return {};
  }
  const fs::path file = setup.stage_folder(stage) / "inputs.json";
  std::error_code failure;
  if (!fs::exists(file, failure)) return {};
  const Node inputs = PL_TRY(parse_json(PL_TRY(read_file(file)), file.string()));
  journal.defer("inputs.yaml", write_yaml(inputs));
  return {};
}

}  // namespace profline::pipeline
