#include "run_index/run_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "run_index/folder_lock.h"
#include "run_index/index_file.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;
using sqlite::Transaction;

bool is_run(const fs::path& folder) {
  std::error_code failure;
  return fs::is_regular_file(folder / "run.json", failure);
}

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

/// Changes whenever run.json is written: it is always renamed into place.
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
                                        "'; --root names the one that runs are written to");
}

Result<IndexedRun> read_row(const sqlite::Statement& row) {
  IndexedRun run;
  int column = 0;
  for (std::string* text : {&run.id, &run.folder, &run.experiment, &run.state}) {
    *text = PL_TRY(row.get<std::string>(column++));
  }
  run.exit_code = PL_TRY(row.get<std::optional<std::int64_t>>(column++));
  for (std::string* text :
       {&run.model, &run.program, &run.device, &run.device_name, &run.host, &run.version,
        &run.commit, &run.started, &run.ended, &run.fingerprint}) {
    *text = PL_TRY(row.get<std::string>(column++));
  }
  run.disturbance = PL_TRY(row.get<double>(column++));
  return run;
}

}  // namespace

Result<std::vector<fs::path>> run_folders(const fs::path& root) {
  PL_TRY(check_root(root));
  std::error_code failure;
  std::vector<fs::path> runs;
  for (const fs::path& folder : folders_in(root, failure)) {
    if (is_run(folder)) {
      runs.push_back(folder.lexically_relative(root));
      continue;
    }
    std::error_code unreadable;  // somebody else's folder
    for (const fs::path& job : folders_in(folder, unreadable)) {
      if (is_run(job)) runs.push_back(job.lexically_relative(root));
    }
  }
  if (failure) {
    return Error(ErrorKind::Io, "cannot list " + root.string() + ": " + failure.message());
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

Result<RunIndex> RunIndex::open(const fs::path& root, Keep keep) {
  PL_TRY(check_root(root));
  const fs::path file = root / kIndexFile;
  std::error_code failure;
  const bool is_there = fs::exists(fs::symlink_status(file, failure));
  if (keep == Keep::No || (keep == Keep::IfThere && !is_there)) {
    return RunIndex(root, PL_TRY(index_in_memory()));
  }
  auto database = open_index_file(file);
  if (database) return RunIndex(root, std::move(*database));
  RunIndex index(root, PL_TRY(index_in_memory()));
  index.notes_.push_back("the index is not used, and every run was read from its folder: " +
                         database.error().to_string());
  return index;
}

Result<void> RunIndex::write(const IndexedRun& run, const std::string& stamp) {
  sqlite::Statement row = PL_TRY(database_.query(
      "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      std::string_view(run.folder), std::string_view(stamp), std::string_view(run.id),
      std::string_view(run.experiment), std::string_view(run.state), run.exit_code,
      std::string_view(run.model), std::string_view(run.program), std::string_view(run.device),
      std::string_view(run.device_name), std::string_view(run.host), std::string_view(run.version),
      std::string_view(run.commit), std::string_view(run.started), std::string_view(run.ended),
      std::string_view(run.fingerprint), run.disturbance));
  PL_TRY(row.step());
  std::int64_t place = 0;
  for (const IndexedMetric& metric : run.metrics) {
    sqlite::Statement insert =
        PL_TRY(database_.query("INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?)",
                               std::string_view(run.folder), std::string_view(metric.name),
                               std::string_view(metric.unit), metric.value, metric.n, place++));
    PL_TRY(insert.step());
  }
  return {};
}

Result<void> RunIndex::forget(std::string_view folder) {
  for (const char* sql :
       {"DELETE FROM metric WHERE folder = ?", "DELETE FROM run WHERE folder = ?"}) {
    sqlite::Statement gone = PL_TRY(database_.query(sql, folder));
    PL_TRY(gone.step());
  }
  return {};
}

Result<void> RunIndex::refresh() {
  // Folders are looked at under the lock, so that of two programs the later one has the last word.
  Transaction transaction = PL_TRY(Transaction::begin(database_));
  std::map<std::string, std::string> known;
  sqlite::Statement stamps = PL_TRY(database_.query("SELECT folder, stamp FROM run"));
  PL_TRY((stamps.each<std::string, std::string>(
      [&](const std::string& folder, const std::string& stamp) { known[folder] = stamp; })));
  folders_.clear();
  for (const fs::path& folder : PL_TRY(run_folders(root_))) {
    folders_.insert(folder.string());
    const std::string stamp = stamp_of(root_ / folder / "run.json");
    const auto before = known.find(folder.string());
    const bool is_known = before != known.end() && before->second == stamp;
    if (is_known) {
      known.erase(before);
      continue;
    }
    const auto run = read_indexed_run(root_, folder);
    if (!run) {
      notes_.push_back(folder.string() + " is left out: " + run.error().to_string());
      continue;
    }
    PL_TRY(forget(run->folder));
    PL_TRY(write(*run, stamp));
    if (before != known.end()) known.erase(before);
  }
  for (const auto& [folder, stamp] : known) PL_TRY(forget(folder));
  return transaction.commit();
}

Result<void> RunIndex::rebuild() {
  Transaction transaction = PL_TRY(Transaction::begin(database_));
  PL_TRY(database_.execute("DELETE FROM metric; DELETE FROM run;"));
  PL_TRY(transaction.commit());
  return refresh();
}

Result<std::vector<IndexedRun>> RunIndex::runs() {
  std::map<std::string, std::vector<IndexedMetric>> metrics;
  sqlite::Statement values = PL_TRY(
      database_.query("SELECT folder, name, unit, value, n FROM metric ORDER BY folder, place"));
  PL_TRY((values.each<std::string, std::string, std::string, double, std::int64_t>(
      [&](const std::string& folder, const std::string& name, const std::string& unit, double value,
          std::int64_t n) {
        metrics[folder].push_back({name, unit, value, n});
      })));
  sqlite::Statement rows = PL_TRY(database_.query(
      "SELECT id, folder, experiment, state, exit_code, model, program, device, device_name, host, "
      "version, \"commit\", started, ended, fingerprint, disturbance FROM run ORDER BY started "
      "DESC, folder DESC"));
  std::vector<IndexedRun> runs;
  while (PL_TRY(rows.step())) {
    IndexedRun run = PL_TRY(read_row(rows));
    if (!folders_.contains(run.folder)) continue;
    run.metrics = std::move(metrics[run.folder]);
    const bool says_running = run.state == "running";
    if (says_running && FolderLock(root_ / run.folder, FolderLock::Kind::Look).is_held()) {
      run.state = "killed";
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace profline::run_index
