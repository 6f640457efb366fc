#include "run_index/prune.h"

#include <unistd.h>

#include <fmt/format.h>

#include "run/names/artifact_names.h"
#include "run/run.h"
#include "run/run_folder.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;
using Action = PruneStep::Action;

std::string newest(std::size_t keep) {
  return keep == 1 ? "the newest" : fmt::format("the {} newest", keep);
}

/// The canonical folder, if it is inside the root itself: no `..`, no link.
std::optional<fs::path> inside(const fs::path& root, const fs::path& folder) {
  std::error_code failure;
  const fs::path whole = fs::canonical(root, failure);
  if (failure || folder.empty() || folder.is_absolute()) return std::nullopt;
  const fs::path expected = (whole / folder).lexically_normal();
  const bool is_below =
      expected != whole && !expected.lexically_relative(whole).string().starts_with("..");
  if (!is_below || fs::canonical(expected, failure) != expected) return std::nullopt;
  return expected;
}

}  // namespace

std::vector<PruneStep> plan_prune(const std::vector<IndexedRun>& newest_first, std::size_t keep) {
  std::vector<PruneStep> steps;
  std::size_t kept = 0;
  for (const IndexedRun& run : newest_first) {
    PruneStep step{run, Action::Keep, ""};
    if (run.state == "running") {
      step.why = "it is still running";
    } else if (kept < keep) {
      ++kept;
      step.why = keep == 1 ? "it is the newest" : "one of " + newest(keep);
    } else {
      step.action = Action::Remove;
      step.why = keep == 0 ? "--keep is 0" : "older than " + newest(keep);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code gone;
    const bool is_file = at->is_regular_file(gone) && !at->is_symlink(gone);
    const std::uint64_t size = is_file ? at->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

Result<std::optional<std::string>> remove_run(const fs::path& root, const fs::path& run) {
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(root / run, failure))) return std::optional("it is gone");
  const auto found = inside(root, run);
  if (!found) return std::optional("it is not in " + root.string());
  const fs::path& folder = *found;
  const run::FolderLock lock(folder, run::FolderLock::Kind::Own);
  const auto record = run::read_record(folder);
  if (!record && record.error().kind() == ErrorKind::NotFound) return std::optional("it is gone");
  const bool says_running = !record || record->state == RunState::Running;
  // On a file system without locks, the run's own record decides.
  if (says_running && !lock.is_held()) return std::optional("it is still running");
  if (lock.is_taken()) return std::optional("another program is using it");
  const fs::path aside =
      folder.parent_path() /
      fmt::format(".pruned-{}-{}", folder.filename().string(), static_cast<int>(::getpid()));
  fs::rename(folder, aside, failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot remove " + folder.string() + ": " + failure.message());
  }
  fs::remove_all(aside, failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot remove all of " + aside.string() + ": " +
                                    failure.message() + "; it is a run that was pruned");
  }
  return std::optional<std::string>();
}

bool remove_dangling_latest(const fs::path& root) {
  std::error_code failure;
  const fs::path link = root / run::folders::kLatest;
  if (!fs::is_symlink(fs::symlink_status(link, failure)) || fs::exists(link, failure)) return false;
  return fs::remove(link, failure);
}

}  // namespace profline::run_index
