#include "run/run_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "formats/json.h"
#include "records/run_record.h"
#include "run/names/artifact_names.h"
#include "run/run.h"

namespace profline::run {
namespace {

constexpr off_t kReserveBytes = off_t{512} * 1024;

std::filesystem::path reserve_of(const std::filesystem::path& folder) {
  return folder / ".reserve";
}

/// Records what an interrupted run was doing, apart from its children.
void record_interruption(RunRecord& record) {
  bool was_in_a_stage = false;
  for (StageRecord& stage : record.stages) {
    if (stage.state != StageState::Running) continue;
    was_in_a_stage = true;
    stage.state = StageState::Interrupted;
    stage.ended = record.ended;
    stage.findings.push_back({Severity::Warning, "interrupted",
                              "interrupted while profline was processing its captures",
                              "profline run --resume runs it again"});
  }
  const bool is_pending =
      std::any_of(record.stages.begin(), record.stages.end(),
                  [](const StageRecord& stage) { return stage.state == StageState::Pending; });
  if (was_in_a_stage || is_pending) return;
  record.findings.push_back({Severity::Warning, "interrupted",
                             "interrupted before all reports were written",
                             "profline report writes them"});
}

/// For a run that an interrupt ends without its executor: uses the record on disk, because the one
/// in memory belongs to another thread. A record with an exit code is final.
void close_as_interrupted(const std::filesystem::path& folder) {
  ::unlink(reserve_of(folder).c_str());
  Result<RunRecord> record = read_record(folder);
  if (!record || record->exit_code) return;
  record->state = RunState::Interrupted;
  record->exit_code = static_cast<int>(ExitCode::Interrupted);
  record->ended = utc_timestamp(SystemClock().wall_now());
  record_interruption(*record);
  static_cast<void>(write_record(folder, *record));
}

}  // namespace

Result<void> write_record(const std::filesystem::path& folder, const RunRecord& record) {
  return write_private_file(folder / files::kRecord, PL_TRY(write_json(to_node(record))));
}

RunJournal::RunJournal(std::filesystem::path folder, RunRecord record, Redactor redactor)
    : folder_(std::move(folder)),
      record_(std::move(record)),
      redactor_(std::move(redactor)),
      unfinished_([at = folder_] { close_as_interrupted(at); }) {
  hold_back();
}

void RunJournal::hold_back() {
  const FileDescriptor file =
      open_descriptor(reserve_of(folder_).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  // If no space can be reserved, a full disk loses only the last state.
  if (file.is_open()) static_cast<void>(::posix_fallocate(file.get(), 0, kReserveBytes));
}

RunJournal::~RunJournal() {
  ::unlink(reserve_of(folder_).c_str());
}

Result<void> RunJournal::save() {
  const std::string text = PL_TRY(write_json(to_node(redacted(record_, redactor_))));
  auto written = write_private_file(folder_ / files::kRecord, text);
  if (written || ::unlink(reserve_of(folder_).c_str()) != 0) return written;
  written = write_private_file(folder_ / files::kRecord, text);
  hold_back();  // the old file's space is free now: reserve it
  return written;
}

Result<void> RunJournal::defer_status(const StageRecord& stage) {
  defer(std::filesystem::path(stage.name) / files::kStatus,
        PL_TRY(write_json(to_node(redacted(stage, redactor_)))));
  return {};
}

void RunJournal::defer(std::filesystem::path name, std::string bytes) {
  deferred_.push_back({std::move(name), std::move(bytes)});
}

Result<void> RunJournal::write_deferred() {
  for (const Deferred& file : std::exchange(deferred_, {})) {
    PL_TRY(write_private_file(folder_ / file.name, file.bytes));
  }
  return {};
}

}  // namespace profline::run
