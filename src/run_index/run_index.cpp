#include "run_index/run_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "run_index/folder_lock.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::Transaction;

constexpr std::int64_t kVersion = 1;
constexpr const char* kTables = R"(
CREATE TABLE run (
  folder TEXT PRIMARY KEY, stamp TEXT NOT NULL, id TEXT NOT NULL, experiment TEXT NOT NULL,
  state TEXT NOT NULL, exit_code INTEGER, model TEXT NOT NULL, device TEXT NOT NULL,
  device_name TEXT NOT NULL, host TEXT NOT NULL, version TEXT NOT NULL, "commit" TEXT NOT NULL,
  started TEXT NOT NULL, ended TEXT NOT NULL, fingerprint TEXT NOT NULL);
CREATE TABLE metric (
  folder TEXT NOT NULL REFERENCES run(folder) ON DELETE CASCADE,
  name TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL, n INTEGER NOT NULL,
  place INTEGER NOT NULL, PRIMARY KEY (folder, name));
CREATE INDEX run_fingerprint ON run(fingerprint);
PRAGMA user_version = 1;
)";

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

/// Makes the tables where they are missing or of another version. Whoever comes second finds them.
Result<void> settle(Database& database) {
  constexpr const char* kAsk = "PRAGMA user_version";
  if (PL_TRY(database.query_value<std::int64_t>(kAsk)) == kVersion) return {};
  Transaction transaction = PL_TRY(Transaction::begin(database));
  if (PL_TRY(database.query_value<std::int64_t>(kAsk)) == kVersion) return transaction.commit();
  PL_TRY(database.execute("DROP TABLE IF EXISTS metric; DROP TABLE IF EXISTS run;"));
  PL_TRY(database.execute(kTables));
  return transaction.commit();
}

Result<Database> open_settled(const fs::path& file) {
  constexpr sqlite::OpenOptions kPatient{.busy_timeout = std::chrono::seconds(20)};
  Database database = PL_TRY(Database::open_read_write(file, sqlite::Create::Yes, kPatient));
  PL_TRY(settle(database));
  // Damage may lie behind a first page that is whole.
  const std::vector<std::string> damage = PL_TRY(database.quick_check());
  if (!damage.empty()) return Error(ErrorKind::Parse, file.string() + ": " + damage.front());
  return database;
}

Result<void> check_root(const fs::path& root) {
  std::error_code failure;
  if (fs::is_directory(root, failure)) return {};
  return Error(ErrorKind::NotFound, "there is no folder '" + root.string() +
                                        "'; --root names the one that runs are written to");
}

void remove_index(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(file, ignored))) return;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    fs::remove(file.string() + suffix, ignored);
  }
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
  if (keep == Keep::IfThere && !fs::exists(file, failure)) {
    Database nowhere = PL_TRY(Database::in_memory());
    PL_TRY(settle(nowhere));
    return RunIndex(root, std::move(nowhere));
  }
  auto database = open_settled(file);
  if (!database && database.error().kind() == ErrorKind::Parse) {
    remove_index(file);
    database = open_settled(file);
  }
  if (database) return RunIndex(root, std::move(*database));
  Database kept = PL_TRY(Database::in_memory());
  PL_TRY(settle(kept));
  RunIndex index(root, std::move(kept));
  index.notes_.push_back("the index is not kept: " + database.error().to_string());
  return index;
}

Result<void> RunIndex::write(const IndexedRun& run, const std::string& stamp) {
  sqlite::Statement row = PL_TRY(database_.query(
      "INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      std::string_view(run.folder), std::string_view(stamp), std::string_view(run.id),
      std::string_view(run.experiment), std::string_view(run.state), run.exit_code,
      std::string_view(run.model), std::string_view(run.device), std::string_view(run.device_name),
      std::string_view(run.host), std::string_view(run.version), std::string_view(run.commit),
      std::string_view(run.started), std::string_view(run.ended),
      std::string_view(run.fingerprint)));
  PL_TRY(row.step());
  sqlite::Statement forget =
      PL_TRY(database_.query("DELETE FROM metric WHERE folder = ?", std::string_view(run.folder)));
  PL_TRY(forget.step());
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

Result<void> RunIndex::refresh() {
  // Folders are looked at under the lock, so that of two programs the later one has the last word.
  Transaction transaction = PL_TRY(Transaction::begin(database_));
  std::map<std::string, std::string> known;
  sqlite::Statement stamps = PL_TRY(database_.query("SELECT folder, stamp FROM run"));
  PL_TRY((stamps.each<std::string, std::string>(
      [&](const std::string& folder, const std::string& stamp) { known[folder] = stamp; })));
  for (const fs::path& folder : PL_TRY(run_folders(root_))) {
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
    PL_TRY(write(*run, stamp));
    if (before != known.end()) known.erase(before);
  }
  for (const auto& [folder, stamp] : known) {
    sqlite::Statement gone =
        PL_TRY(database_.query("DELETE FROM run WHERE folder = ?", std::string_view(folder)));
    PL_TRY(gone.step());
  }
  return transaction.commit();
}

Result<void> RunIndex::rebuild() {
  Transaction transaction = PL_TRY(Transaction::begin(database_));
  PL_TRY(database_.execute("DELETE FROM run"));
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
      "SELECT id, folder, experiment, state, exit_code, model, device, device_name, host, version, "
      "\"commit\", started, ended, fingerprint FROM run ORDER BY started DESC, folder DESC"));
  std::vector<IndexedRun> runs;
  while (PL_TRY(rows.step())) {
    IndexedRun run;
    int column = 0;
    for (std::string* text : {&run.id, &run.folder, &run.experiment, &run.state}) {
      *text = PL_TRY(rows.get<std::string>(column++));
    }
    run.exit_code = PL_TRY(rows.get<std::optional<std::int64_t>>(column++));
    for (std::string* text : {&run.model, &run.device, &run.device_name, &run.host, &run.version,
                              &run.commit, &run.started, &run.ended, &run.fingerprint}) {
      *text = PL_TRY(rows.get<std::string>(column++));
    }
    run.metrics = std::move(metrics[run.folder]);
    const bool says_running = run.state == "running";
    if (says_running && FolderLock(root_ / run.folder, FolderLock::Kind::Look).is_held()) {
      run.state = "killed";
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<std::optional<statistics::RunSpread>> RunIndex::spread(
    std::string_view metric, std::span<const std::string> fingerprints) {
  std::vector<std::vector<double>> groups;
  for (const std::string& fingerprint :
       std::set<std::string>(fingerprints.begin(), fingerprints.end())) {
    std::vector<double>& group = groups.emplace_back();
    sqlite::Statement rows = PL_TRY(database_.query(
        "SELECT value FROM run JOIN metric USING (folder) WHERE fingerprint = ? AND name = ? AND "
        "state = 'ok' AND value > 0 ORDER BY folder",
        std::string_view(fingerprint), metric));
    PL_TRY(rows.each<double>([&](double value) { group.push_back(value); }));
  }
  return statistics::spread_within(groups);
}

}  // namespace profline::run_index
