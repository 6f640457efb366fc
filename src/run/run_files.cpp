#include "run/run_files.h"

#include <algorithm>
#include <map>

#include "base/atomic_file.h"
#include "base/digests.h"
#include "base/files.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "records/run_record.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "run/run_journal.h"

namespace profline::run {
namespace {

namespace fs = std::filesystem;

bool is_finished(const fs::directory_entry& entry) {
  std::error_code failure;
  const bool is_file = entry.is_regular_file(failure) && !entry.is_symlink(failure);
  return is_file && !failure && !entry.path().filename().string().starts_with(".");
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
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator at(run, failure), end; !failure && at != end; at.increment(failure)) {
    const std::string name = at->path().filename().string();
    if (is_finished(*at) && name != files::kRecord && name != files::kRunLog)
      found.push_back(at->path());
  }
  if (failure) {
    return Error(ErrorKind::Io, "cannot list " + run.string() + ": " + failure.message());
  }
  return digest_each(std::move(found), run);
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

fs::path unfinished(const fs::path& file) {
  return file.parent_path() / ("." + file.filename().string());
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

std::string with_suffix(std::string_view name, std::string_view suffix, char before) {
  const std::size_t at = std::min(name.find(before), name.size());
  return std::string(name.substr(0, at)).append(suffix).append(name.substr(at));
}

Result<void> record_digests(const fs::path& run, RunRecord record,
                            const std::vector<fs::path>& names) {
  std::vector<fs::path> files;
  files.reserve(names.size());
  for (const fs::path& name : names) files.push_back(run / name);
  std::map<fs::path, ArtifactRecord> known;
  for (ArtifactRecord& artifact : record.artifacts) known[artifact.path] = std::move(artifact);
  for (ArtifactRecord& now : PL_TRY(digest_each(std::move(files), run))) {
    known[now.path] = std::move(now);
  }
  record.artifacts.clear();
  for (auto& [path, artifact] : known) record.artifacts.push_back(std::move(artifact));
  return write_record(run, redacted(std::move(record), Redactor()));
}

}  // namespace profline::run
