#include "run/run_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <map>
#include <thread>

#include "base/atomic_file.h"
#include "base/digests.h"
#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "process/process_table.h"
#include "records/run_record.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "run/run_journal.h"

namespace profline::run {

std::string host_name() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

std::string boot_id() {
  return std::string(trim(read_file("/proc/sys/kernel/random/boot_id").value_or("")));
}

bool is_alive(const ProcessRecord& process) {
  ProcessStat stat;
  return process.pid > 1 && read_process(static_cast<pid_t>(process.pid), stat) &&
         stat.start_ticks == process.start_ticks && !stat.is_zombie();
}

ProcessRecord own_process() {
  ProcessStat stat;
  if (!read_process(::getpid(), stat)) return {};
  return {stat.pid, stat.start_ticks};
}

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLeastFree = std::uint64_t{8} << 20U;
constexpr std::uint64_t kCaptureFree = std::uint64_t{1} << 30U;

fs::path with_suffix(const fs::path& folder, int n) {
  return n == 1 ? folder : fs::path(folder.string() + "-" + std::to_string(n));
}

/// The most recent first; folders that are not empty stay.
void remove_folders(const std::vector<fs::path>& made) {
  for (auto path = made.rbegin(); path != made.rend(); ++path) ::rmdir(path->c_str());
}

Error holds_a_run(const fs::path& folder) {
  return Error(ErrorKind::Config, "hydra.run.dir: '" + folder.string() +
                                      "' already holds a run; choose another folder, or resume "
                                      "it: --resume " +
                                      folder.string())
      .with_reason("run_exists");
}

bool is_there(const fs::path& path) {
  std::error_code failure;
  return fs::symlink_status(path, failure).type() != fs::file_type::not_found;
}

/// Missing parents of `path`, outermost first.
std::vector<fs::path> missing_above(const fs::path& path) {
  std::vector<fs::path> missing;
  for (fs::path at = path.parent_path(); !at.empty() && !is_there(at); at = at.parent_path()) {
    missing.push_back(at);
  }
  std::reverse(missing.begin(), missing.end());
  return missing;
}

/// False if another run has it.
Result<bool> try_lock(const FileDescriptor& folder, const fs::path& path) {
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  // On a file system without locks, only the pids in run.json remain.
  if (errno == ENOLCK || errno == EOPNOTSUPP || errno == EINVAL || errno == EBADF) return true;
  return os_error("lock", path, errno);
}

Result<FileDescriptor> open_folder(const fs::path& path) {
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return os_error("open", path, errno);
  return folder;
}

Error in_use(const fs::path& path) {
  return Error(ErrorKind::Config,
               "run folder '" + path.string() + "' is in use by another profline");
}

/// Whether the process that wrote the record is still running on this machine.
bool is_run_here(const RunRecord& record) {
  return record.host == host_name() && record.boot_id == boot_id() && is_alive(record.process);
}

constexpr std::string_view kNewLatest = ".latest-";

/// A link that a killed process, whose pid is in its name, created but did not rename.
bool is_dead_link(std::string_view name) {
  if (!name.starts_with(kNewLatest)) return false;
  name.remove_prefix(kNewLatest.size());
  pid_t pid = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), pid);
  const bool is_pid = status == std::errc() && end == name.data() + name.size() && pid > 0;
  return is_pid && ::kill(pid, 0) != 0 && errno == ESRCH;
}

void clear_unfinished_start(const fs::path& folder, const Clock& clock) {
  const auto opened = open_folder(folder);
  if (!opened || !try_lock(*opened, folder).value_or(false)) return;
  const auto removed = remove_stale_temporaries(folder, clock);
  if (removed && !removed->empty()) ::rmdir(folder.c_str());  // only if nothing else is in it
}

}  // namespace

Result<fs::path> free_run_folder(const FolderRequest& request) {
  if (request.given) {
    if (is_there(request.folder / files::kRecord)) return holds_a_run(request.folder);
    return request.folder;
  }
  int n = 1;
  while (is_there(with_suffix(request.folder, n))) ++n;
  return with_suffix(request.folder, n);
}

Result<RunFolder> RunFolder::claim(const FolderRequest& request) {
  const UnfinishedWork::Lock made_and_noted = UnfinishedWork::lock();
  RunFolder claimed(request.folder);
  std::vector<fs::path> made = missing_above(request.folder);
  PL_TRY(create_folders(request.folder.parent_path()));
  claimed.made_ = made;
  for (int n = 1;; ++n) {
    claimed.path_ = with_suffix(request.folder, n);
    if (::mkdir(claimed.path_.c_str(), 0777) == 0) {
      claimed.made_.push_back(claimed.path_);
      break;
    }
    if (errno != EEXIST) return os_error("create", claimed.path_, errno);
    if (request.given) break;
  }
  claimed.unfinished_ = UnfinishedWork([made = claimed.made_] { remove_folders(made); });
  claimed.lock_ = PL_TRY(open_folder(claimed.path_));
  if (!PL_TRY(try_lock(claimed.lock_, claimed.path_))) return in_use(claimed.path_);
  if (is_there(claimed.path_ / files::kRecord)) return holds_a_run(claimed.path_);
  return claimed;
}

Result<RunFolder> RunFolder::reopen(const fs::path& folder) {
  using namespace std::chrono_literals;
  constexpr auto kStep = 100ms;
  constexpr auto kPatience = 20s;  // as long as a guardian takes to end a child
  if (!holds_run(folder)) PL_TRY(read_record(folder));  // for its Error
  std::error_code failure;
  RunFolder reopened(fs::canonical(folder, failure));
  reopened.lock_ = PL_TRY(open_folder(reopened.path_));
  for (auto waited = 0ms; !PL_TRY(try_lock(reopened.lock_, folder)); waited += kStep) {
    if (waited >= kPatience || is_run_here(PL_TRY(read_record(folder)))) return in_use(folder);
    std::this_thread::sleep_for(kStep);
  }
  reopened.record_ = PL_TRY(read_record(folder));
  return reopened;
}

RunFolder::~RunFolder() {
  remove_folders(made_);
}

FolderLock::FolderLock(const std::filesystem::path& folder, Kind kind)
    : folder_(open_descriptor(folder.c_str(), O_RDONLY | O_DIRECTORY)) {
  const int operation = kind == Kind::Own ? LOCK_EX : LOCK_SH;
  if (!folder_.is_open()) return;
  held_ = ::flock(folder_.get(), operation | LOCK_NB) == 0;
  taken_ = !held_ && errno == EWOULDBLOCK;
}

std::optional<Finding> point_latest_at(const fs::path& run) {
  const fs::path link = run.parent_path() / folders::kLatest;
  const auto note = [&](const std::string& why) {
    return Finding{Severity::Note, "no_latest_link",
                   "cannot create the link " + link.string() + ": " + why};
  };
  std::error_code failure;
  const fs::file_status status = fs::symlink_status(link, failure);
  if (fs::exists(status) && !fs::is_symlink(status)) return note("something else has that name");
  const fs::path fresh = run.parent_path() / (std::string(kNewLatest) + std::to_string(::getpid()));
  const UnfinishedWork::Lock made_and_renamed = UnfinishedWork::lock();
  fs::remove(fresh, failure);
  fs::create_directory_symlink(run.filename(), fresh, failure);
  if (!failure) fs::rename(fresh, link, failure);
  if (!failure) return std::nullopt;
  std::error_code ignored;
  fs::remove(fresh, ignored);
  return note(failure.message());
}

void clear_unfinished_starts(const fs::path& run, bool has_siblings, const Clock& clock) {
  static_cast<void>(remove_stale_temporaries(run, clock));  // harmless if it stays
  if (!has_siblings) return;
  std::error_code failure;
  for (fs::directory_iterator at(run.parent_path(), failure), end; !failure && at != end;
       at.increment(failure)) {
    const fs::path& path = at->path();
    std::error_code ignored;
    if (at->is_symlink(ignored)) {
      if (is_dead_link(path.filename().string())) fs::remove(path, ignored);
    } else if (at->is_directory(ignored) && path != run && !is_there(path / files::kRecord)) {
      clear_unfinished_start(path, clock);
    }
  }
}

std::optional<Finding> check_space(const fs::path& folder, bool captures) {
  if (is_out_of_inodes(folder)) {
    return Finding{Severity::Problem, "inodes_used_up",
                   "no inodes left on the disk of " + folder.string() +
                       ": it has free space but cannot hold more files",
                   "remove files there, or choose another folder: hydra.run.dir=FOLDER",
                   ErrorKind::Io};
  }
  const auto free = free_bytes(folder);
  if (!free) return std::nullopt;  // creating the folder will report the problem
  const std::string seen = human_bytes(*free) + " left on the disk of " + folder.string();
  const std::string fix = "free some space, or choose another folder: hydra.run.dir=FOLDER";
  if (*free < kLeastFree) {
    return Finding{Severity::Problem, "disk_full",
                   seen + ", and a run needs " + human_bytes(kLeastFree), fix, ErrorKind::Io};
  }
  if (captures && *free < kCaptureFree) {
    return Finding{Severity::Warning, "disk_low", seen + ": captures may not fit", fix};
  }
  return std::nullopt;
}

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
