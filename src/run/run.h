#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "records/request.h"
#include "records/run_record.h"
#include "records/timeline.h"

/// The folder of a run: its layout, its writers and its reader.
namespace profline::run {

class Run;

/// The content of a run's file, or why it could not be read.
template <typename T>
struct Artifact {
  std::string file;  ///< relative to the run's folder
  std::optional<T> content = {};
  std::string why_not = {};  ///< `is not there`, or the problem with it
  bool is_there = false;

  explicit operator bool() const { return content.has_value(); }
  const T* operator->() const { return &*content; }
  const T& operator*() const { return *content; }
  /// Null if nothing was read.
  const T* pointer() const { return content ? &*content : nullptr; }
};

/// Where an artifact is and how it is read; artifacts.h has those of every run. A file is read as
/// one type in only one way: the cache of a Run distinguishes artifacts by file and type.
template <typename T>
struct ArtifactName {
  std::string_view file;  ///< relative to the run's folder
  Result<T> (*read)(const Run& run, const std::filesystem::path& file) = nullptr;
  std::string_view instead = {};  ///< read if this one exists and `file` does not
};

using Requests = std::vector<Request>;

/// The workload's own record of a run under a profiler.
struct ProfiledRequests {
  std::string stage;  ///< `nsys`
  std::string gate;   ///< the range, if the stage has one capture per range; else empty
  const Artifact<Requests>& requests;
};

/// A run's folder. Each file is read when it is first requested, and only once. A missing or broken
/// file is a value that says why. References remain valid as long as the Run lives, even if it is
/// moved.
class Run {
 public:
  /// An Error if run.json is missing or unreadable; no other file has to exist.
  static Result<Run> open(std::filesystem::path folder);
  /// A run whose record was read already, or is being written. Its secrets are removed.
  static Run with_record(std::filesystem::path folder, RunRecord record);
  /// A run without a folder: it has only what keep() adds.
  explicit Run(RunRecord record) : Run({}, std::move(record)) {}

  const std::filesystem::path& folder() const { return folder_; }
  /// Without the secrets that runs of older versions contain.
  const RunRecord& record() const { return record_; }
  void set_record(RunRecord record);

  template <typename T>
  const Artifact<T>& get(const ArtifactName<T>& name) const;
  /// The same, read now and not kept: for large files that are needed only once.
  template <typename T>
  Artifact<T> read(const ArtifactName<T>& name) const;

  /// Stores content that was already read, so that it is not read again.
  template <typename T>
  void keep(const ArtifactName<T>& name, T content);

  /// What the workload of a stage measured, request by request; `below` is the folder that it wrote
  /// to: `baseline`, `nsys/workload`.
  const Artifact<Requests>& requests(std::string_view below) const;
  const Artifact<Requests>& baseline() const;
  /// The requests of every run of the workload under a profiler.
  std::vector<ProfiledRequests> profiled() const;

  /// The SQLite export of a capture, as named in nsys' table of ranges.
  const Artifact<Timeline>& capture(const std::string& sqlite) const;
  Artifact<Timeline> read_capture(const std::string& sqlite) const;  ///< not kept
  /// Stores a capture that was already read.
  void keep_capture(const std::string& sqlite, Timeline timeline);

  /// The files of this name that the ranks of a stage wrote, by rank: `nsys/ranks/3/run.sqlite`, or
  /// if it captured several ranges, that of the first, `nsys/ranks/3/decode/run.sqlite`.
  std::map<std::int64_t, std::string> rank_files(std::string_view stage,
                                                 std::string_view name) const;

  /// A capture at this path: an SQLite export of nsys, or a trace. Not kept, so that it may be
  /// called by several threads.
  Artifact<Timeline> read_timeline(const std::string& file) const;

  bool has(std::string_view file) const;

 private:
  using Key = std::pair<std::string, std::type_index>;
  /// The content that was read; shared pointers, because they can hold any type.
  using Cache = std::map<Key, std::shared_ptr<void>>;

  Run(std::filesystem::path folder, RunRecord record)
      : folder_(std::move(folder)), record_(std::move(record)), cache_(std::make_unique<Cache>()) {}

  /// Messages name files relative to the run's folder, as reports do: it may be moved. One line
  /// only.
  std::string without_folder(std::string message) const;
  bool has_folder(const std::filesystem::path& name) const;
  std::vector<std::string> folders_in(const std::filesystem::path& name) const;

  std::filesystem::path folder_;
  RunRecord record_;
  std::unique_ptr<Cache> cache_;  // filled by readers of a const Run
};

template <typename T>
Artifact<T> Run::read(const ArtifactName<T>& name) const {
  const bool is_instead = !name.instead.empty() && !has(name.file) && has(name.instead);
  Artifact<T> artifact;
  artifact.file = is_instead ? name.instead : name.file;
  artifact.is_there = has(artifact.file);
  if (!artifact.is_there) {
    artifact.why_not = "is not there";
    return artifact;
  }
  Result<T> content = name.read(*this, folder_ / artifact.file);
  if (content) {
    artifact.content = std::move(content).value();
  } else {
    artifact.why_not = without_folder(content.error().to_string());
  }
  return artifact;
}

template <typename T>
const Artifact<T>& Run::get(const ArtifactName<T>& name) const {
  std::shared_ptr<void>& kept = (*cache_)[Key(std::string(name.file), typeid(T))];
  if (!kept) kept = std::make_shared<Artifact<T>>(read(name));
  return *static_cast<const Artifact<T>*>(kept.get());
}

template <typename T>
void Run::keep(const ArtifactName<T>& name, T content) {
  Artifact<T> artifact;
  artifact.file = name.file;
  artifact.is_there = true;
  artifact.content = std::move(content);
  const Key key(artifact.file, typeid(T));
  (*cache_)[key] = std::make_shared<Artifact<T>>(std::move(artifact));
}

/// The runs that a command reads; each is opened once, whatever path names it.
class OpenedRuns {
 public:
  /// Errors are those of Run::open(). The Run lives as long as this.
  Result<const Run*> open(const std::filesystem::path& folder);
  /// Null: it was not opened here.
  const Run* find(const std::filesystem::path& folder) const;
  /// Adds a run that was opened elsewhere.
  void keep(Run run);

 private:
  std::map<std::filesystem::path, Run> runs_;  // by the canonical path
};

/// The record of the run in `folder` as it is on disk, for rewriting it. An Error of kind NotFound
/// if there is no record.
Result<RunRecord> read_record(const std::filesystem::path& folder);

/// A JSON file that a workload wrote to `folder`. An Error of kind NotFound if it did not.
Result<Node> read_workload_file(const std::filesystem::path& folder, std::string_view name);

/// Whether `folder` contains a run.
bool holds_run(const std::filesystem::path& folder);

}  // namespace profline::run
