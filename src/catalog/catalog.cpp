#include "catalog/catalog.h"

#include <algorithm>
#include <optional>
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
  PL_TRY(known->index.refresh());
  for (run_index::IndexedRun& row : PL_TRY(known->index.runs())) {
    runs_.push_back({root, root / row.folder, std::move(row)});
  }
  const auto& notes = known->index.notes();
  notes_.insert(notes_.end(), notes.begin(), notes.end());
  return {};
}

Result<void> Catalog::refresh() {
  runs_.clear();
  notes_.clear();
  for (const fs::path& root : roots_) PL_TRY(read_root(root));
  std::stable_sort(runs_.begin(), runs_.end(), [](const KnownRun& a, const KnownRun& b) {
    return a.row.started > b.row.started;
  });
  return {};
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

Result<void> Catalog::check_links(const fs::path& folder) const {
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code unreadable;
    if (!at->is_symlink(unreadable)) continue;
    if (is_inside(fs::weakly_canonical(at->path(), unreadable))) continue;
    return Error(ErrorKind::Config, at->path().string() + " is a link that leads out of " +
                                        roots_text() + "; the run is not read");
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
  if (found == nullptr) {
    return Error(ErrorKind::NotFound, "there is no run '" + wanted + "' below " + roots_text() +
                                          did_you_mean(wanted, names));
  }
  PL_TRY(check_links(found->folder));
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
    } else if (fs::exists(real, failure)) {
      return real;
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
