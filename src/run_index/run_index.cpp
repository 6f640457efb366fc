#include "run_index/run_index.h"

#include <sys/stat.h>

#include <system_error>
#include <utility>

#include "base/files.h"
#include "formats/json.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "run_index/internal/store.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;
using internal::Store;

bool is_own_folder(const fs::directory_entry& entry) {
  std::error_code failure;
  const std::string name = entry.path().filename().string();
  return !name.starts_with(".") && !entry.is_symlink(failure) && entry.is_directory(failure);
}

std::vector<fs::path> folders_in(const fs::path& folder, std::error_code& failure) {
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (is_own_folder(*at)) found.push_back(at->path());
  }
  return found;
}

/// A folder that can be reached from `folder` without leaving it, hidden folders and links.
bool lies_inside(const fs::path& folder, const fs::path& relative) {
  if (relative.empty() || relative.is_absolute()) return false;
  fs::path at = folder;
  for (const fs::path& part : relative) {
    at /= part;
    std::error_code failure;
    if (!is_own_folder(fs::directory_entry(at, failure))) return false;
  }
  return true;
}

/// The folders that the record of a sweep gives its jobs, which may lie deeper than the sweep's own
/// (`model=tiny/seed=1`). None if the folder has no such record.
std::vector<fs::path> folders_of_jobs(const fs::path& sweep) {
  const fs::path file = sweep / run::files::kSweep;
  std::error_code failure;
  if (!fs::is_regular_file(fs::symlink_status(file, failure))) return {};
  const auto text = read_file(file);
  const auto record = text ? parse_json(*text, file.string()) : Result<Node>(text.error());
  const Node* jobs = record ? record->find("jobs") : nullptr;
  if (jobs == nullptr || !jobs->is_list()) return {};
  std::vector<fs::path> found;
  for (const Node& job : jobs->as_list()) {
    const Node* folder = job.find("folder");
    if (folder == nullptr || !folder->is_string()) continue;
    const fs::path relative = fs::path(folder->as_string()).lexically_normal();
    if (lies_inside(sweep, relative)) found.push_back(sweep / relative);
  }
  return found;
}

/// Changes whenever run.json is written, because it is always renamed into place.
std::string stamp_of(const fs::path& file) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return "";
  return std::to_string(facts.st_ino) + ":" + std::to_string(facts.st_size) + ":" +
         std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec);
}

Result<void> check_root(const fs::path& root) {
  std::error_code failure;
  if (fs::is_directory(root, failure)) return {};
  return Error(ErrorKind::NotFound, "there is no folder '" + root.string() +
                                        "'; use --root to name the folder that contains the runs");
}

}  // namespace

Result<std::vector<fs::path>> run_folders(const fs::path& root) {
  PL_TRY(check_root(root));
  std::error_code failure;
  std::set<fs::path> runs;
  const auto add = [&](const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
      if (run::holds_run(folder)) runs.insert(folder.lexically_relative(root));
    }
  };
  add(folders_of_jobs(root));
  for (const fs::path& folder : folders_in(root, failure)) {
    if (run::holds_run(folder)) {
      runs.insert(folder.filename());
      continue;
    }
    std::error_code unreadable;  // somebody else's folder
    add(folders_in(folder, unreadable));
    add(folders_of_jobs(folder));
  }
  if (failure) {
    return Error(ErrorKind::Io, "cannot list " + root.string() + ": " + failure.message());
  }
  return std::vector<fs::path>(runs.begin(), runs.end());
}

Result<RunIndex> RunIndex::open(const fs::path& root, Keep keep) {
  PL_TRY(check_root(root));
  const fs::path file = root / run::files::kIndex;
  std::error_code failure;
  const bool is_there = fs::exists(fs::symlink_status(file, failure));
  if (keep == Keep::No || (keep == Keep::IfThere && !is_there)) {
    return RunIndex(root, internal::store_in_memory());
  }
  if (keep == Keep::Copy) {
    // If it cannot be read, every run is read from its folder.
    auto rows = internal::rows_in_file(file);
    return RunIndex(root, internal::store_in_memory(rows ? *std::move(rows)
                                                         : std::vector<internal::IndexedRow>()));
  }
  auto store = internal::store_in_file(file);
  if (store) return RunIndex(root, *std::move(store));
  RunIndex index(root, internal::store_in_memory());
  index.notes_.push_back("the index is not used, and every run was read from its folder: " +
                         store.error().to_string());
  index.lasting_notes_ = index.notes_.size();
  return index;
}

RunIndex::RunIndex(fs::path root, std::unique_ptr<Store> store)
    : root_(std::move(root)), store_(std::move(store)) {}
RunIndex::RunIndex(RunIndex&&) noexcept = default;
RunIndex& RunIndex::operator=(RunIndex&&) noexcept = default;
RunIndex::~RunIndex() = default;

Result<void> RunIndex::refresh(const ReadRun& read) {
  notes_.resize(lasting_notes_);
  // Folders are read under the lock, so that the later of two programs has the last word.
  return store_->change([&] { return update(read); });
}

Result<void> RunIndex::update(const ReadRun& read) {
  std::map<std::string, std::string> known = PL_TRY(store_->stamps());
  folders_.clear();
  for (const fs::path& folder : PL_TRY(run_folders(root_))) {
    folders_.insert(folder.string());
    const std::string stamp = stamp_of(root_ / folder / run::files::kRecord);
    const auto before = known.find(folder.string());
    const bool is_known = before != known.end() && before->second == stamp;
    if (is_known) {
      known.erase(before);
      continue;
    }
    auto run = read(root_, folder);
    if (!run) {
      notes_.push_back("the run " + folder.string() + " is left out: " + run.error().to_string());
      continue;
    }
    PL_TRY(store_->write({*std::move(run), stamp}));
    if (before != known.end()) known.erase(before);
  }
  for (const auto& [folder, stamp] : known) PL_TRY(store_->forget(folder));
  return {};
}

Result<void> RunIndex::rebuild() {
  PL_TRY(store_->clear());
  return refresh();
}

Result<std::vector<IndexedRun>> RunIndex::runs() {
  std::vector<IndexedRun> runs = PL_TRY(store_->runs());
  std::erase_if(runs, [&](const IndexedRun& run) { return !folders_.contains(run.folder); });
  for (IndexedRun& run : runs) {
    const bool says_running = run.state == "running";
    if (says_running &&
        run::FolderLock(root_ / run.folder, run::FolderLock::Kind::Look).is_held()) {
      run.state = "killed";
    }
  }
  return runs;
}

}  // namespace profline::run_index
