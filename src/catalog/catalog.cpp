#include "catalog/catalog.h"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/strings.h"

namespace profline::catalog {
namespace {

namespace fs = std::filesystem;
using run_index::RunIndex;

constexpr const char* kNewest = "latest";

bool is_below(const fs::path& real, const fs::path& root) {
  const auto [at, unused] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  return at == root.end();
}

}  // namespace

std::optional<run_index::IndexedRun> row_within(const KnownRun& run, const fs::path& folder) {
  if (run.folder.parent_path() != folder) return std::nullopt;
  run_index::IndexedRun row = run.row;
  row.folder = run.folder.filename().string();
  return row;
}

Result<Catalog> Catalog::open(std::span<const fs::path> roots) {
  Catalog catalog;
  for (const fs::path& root : roots) {
    std::error_code failure;
    const fs::path real = fs::weakly_canonical(fs::absolute(root, failure), failure);
    if (failure) {
      return Error(ErrorKind::Config,
                   "'" + root.string() + "' cannot be an output root: " + failure.message());
    }
    if (fs::exists(real, failure) && !fs::is_directory(real, failure)) {
      return Error(ErrorKind::Config, "'" + root.string() + "' is not a folder");
    }
    const bool is_new =
        std::find(catalog.roots_.begin(), catalog.roots_.end(), real) == catalog.roots_.end();
    if (is_new) catalog.roots_.push_back(real);
  }
  return catalog;
}

Result<void> Catalog::read_root(const fs::path& root) {
  std::error_code failure;
  if (!fs::is_directory(root, failure)) {
    std::erase_if(indexes_, [&](const Index& known) { return known.root == root; });
    notes_.push_back("there is no folder " + root.string() + " yet");
    return {};
  }
  auto known = std::find_if(indexes_.begin(), indexes_.end(),
                            [&](const Index& index) { return index.root == root; });
  if (known == indexes_.end()) {
    indexes_.push_back({root, PL_TRY(RunIndex::open(root, RunIndex::Keep::Copy))});
    known = std::prev(indexes_.end());
  }
  PL_TRY(known->index.refresh(
      [&](const fs::path& below, const fs::path& folder) -> Result<run_index::IndexedRun> {
        if (auto is_safe = check_files(below / folder); !is_safe) {
          refused_.push_back({folder.string(), below / folder, is_safe.error()});
          return is_safe.error();
        }
        return run_index::read_indexed_run(below, folder);
      }));
  for (run_index::IndexedRun& row : PL_TRY(known->index.runs())) {
    runs_.push_back({root, root / row.folder, std::move(row)});
  }
  const auto& notes = known->index.notes();
  notes_.insert(notes_.end(), notes.begin(), notes.end());
  return {};
}

void Catalog::refresh() {
  runs_.clear();
  refused_.clear();
  notes_.clear();
  for (const fs::path& root : roots_) {
    const auto done = read_root(root);
    if (!done) notes_.push_back(root.string() + " cannot be read: " + done.error().to_string());
  }
  const auto is_newer = [](const KnownRun& a, const KnownRun& b) {
    return a.row.started > b.row.started;
  };
  // Those of one root are in order already, and moving thousands of them takes time.
  if (!std::is_sorted(runs_.begin(), runs_.end(), is_newer)) {
    std::stable_sort(runs_.begin(), runs_.end(), is_newer);
  }
}

bool Catalog::is_inside(const fs::path& real) const {
  return std::any_of(roots_.begin(), roots_.end(),
                     [&](const fs::path& root) { return is_below(real, root); });
}

std::string Catalog::roots_text() const {
  std::vector<std::string> texts;
  texts.reserve(roots_.size());
  for (const fs::path& root : roots_) texts.push_back(root.string());
  return join(texts, ", ");
}

Result<void> Catalog::check_entry(const fs::directory_entry& entry,
                                  std::vector<fs::path>& linked) const {
  const auto refused = [&](const std::string& why) {
    return Error(ErrorKind::Config, entry.path().string() + " " + why + "; the run is not read");
  };
  std::error_code failure;
  const bool is_link = entry.is_symlink(failure);
  if (failure && failure != std::errc::no_such_file_or_directory)
    return refused("cannot be looked at: " + failure.message());
  if (is_link) {
    const fs::path target = fs::weakly_canonical(entry.path(), failure);
    if (failure || !is_inside(target)) {
      return refused("is a link that leads out of " + roots_text());
    }
    // The walk does not follow links, but readers do.
    if (fs::is_directory(target, failure)) linked.push_back(target);
  }
  switch (entry.status(failure).type()) {
    case fs::file_type::regular:
    case fs::file_type::directory:
    case fs::file_type::socket:     // which nobody can open
    case fs::file_type::not_found:  // it has gone, or is a link to nothing
      return {};
    default:
      return refused("is not a file or a folder");
  }
}

Result<void> Catalog::check_files(const fs::path& folder) const {
  constexpr int kMostAttempts = 5;
  int attempts = 0;
  std::set<fs::path> seen;
  std::vector<fs::path> left = {folder};
  while (!left.empty()) {
    const fs::path top = std::move(left.back());
    left.pop_back();
    if (!seen.insert(top).second) continue;
    std::error_code failure;
    for (fs::recursive_directory_iterator at(top, failure), end; !failure && at != end;
         at.increment(failure)) {
      PL_TRY(check_entry(*at, left));
    }
    std::error_code unreadable;
    const bool has_gone = failure == std::errc::no_such_file_or_directory;
    if (has_gone && fs::exists(top, unreadable) && ++attempts < kMostAttempts) {
      // A run that is going on removes folders as well.
      seen.erase(top);
      left.push_back(top);
    } else if (failure) {
      return Error(ErrorKind::Io, "cannot list " + top.string() + ": " + failure.message() +
                                      "; the run is not read");
    }
  }
  return {};
}

Result<KnownRun> Catalog::find(const std::string& wanted) const {
  std::vector<std::string> names;
  const KnownRun* found = nullptr;
  std::error_code failure;
  const fs::path real = fs::weakly_canonical(wanted, failure);
  for (const KnownRun& run : runs_) {
    names.push_back(run.row.folder);
    const bool is_it =
        wanted == kNewest || run.row.folder == wanted || run.row.id == wanted || run.folder == real;
    if (is_it && found == nullptr) found = &run;
  }
  for (const Refused& run : refused_) {
    if (found == nullptr && (run.name == wanted || run.folder == real)) return run.why;
  }
  if (found == nullptr) {
    return Error(ErrorKind::NotFound, "there is no run '" + wanted + "' below " + roots_text() +
                                          did_you_mean(wanted, names));
  }
  PL_TRY(check_files(found->folder));
  return *found;
}

Result<fs::path> Catalog::inside(const std::string& path) const {
  std::error_code failure;
  std::vector<fs::path> candidates;
  if (fs::path(path).is_absolute()) {
    candidates.emplace_back(path);
  } else {
    for (const fs::path& root : roots_) candidates.push_back(root / path);
  }
  bool is_outside = false;
  for (const fs::path& candidate : candidates) {
    const fs::path real = fs::weakly_canonical(candidate, failure);
    if (failure || !is_inside(real)) {
      is_outside = true;
    } else if (fs::is_directory(real, failure) || fs::is_regular_file(real, failure)) {
      return real;
    } else if (fs::exists(real, failure)) {
      return Error(ErrorKind::Config, "'" + path + "' is not a file or a folder");
    }
  }
  // The same for files that exist and those that do not: what is outside is nobody's business.
  if (is_outside) {
    return Error(ErrorKind::Config,
                 "'" + path + "' is not below " + roots_text() + "; nothing else is read");
  }
  return Error(ErrorKind::NotFound, "there is no '" + path + "' below " + roots_text());
}

}  // namespace profline::catalog
