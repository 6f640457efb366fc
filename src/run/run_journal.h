#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/redaction.h"
#include "base/result.h"
#include "records/run_record.h"

namespace profline::run {

/// Writes run.json of a run without a journal, readable by its owner only.
Result<void> write_record(const std::filesystem::path& folder, const RunRecord& record);

/// The record of a run and its file: whatever happens to us, run.json holds the complete state of
/// the last save(). Some disk space is reserved for it, so that a run that filled the disk can
/// still record that. If an interrupt ends the program in the middle of its own work, the record
/// says so too.
class RunJournal {
 public:
  /// Reserves disk space; the folder must exist. Files are readable by their owner only, and
  /// contain nothing that the redactor takes for a secret.
  RunJournal(std::filesystem::path folder, RunRecord record, Redactor redactor = {});
  /// Frees the reserved space.
  ~RunJournal();
  RunJournal(const RunJournal&) = delete;
  RunJournal& operator=(const RunJournal&) = delete;

  RunRecord& record() { return record_; }
  const RunRecord& record() const { return record_; }
  const std::filesystem::path& folder() const { return folder_; }
  const Redactor& redactor() const { return redactor_; }

  Result<void> save();
  /// Writes the status.json of a stage later.
  Result<void> defer_status(const StageRecord& stage);
  /// Writes a small file of the run later: making it durable takes time, and there is plenty while
  /// the next child runs.
  void defer(std::filesystem::path name, std::string bytes);
  Result<void> write_deferred();

 private:
  struct Deferred {
    std::filesystem::path name;
    std::string bytes;
  };

  void hold_back();

  std::filesystem::path folder_;
  RunRecord record_;
  Redactor redactor_;
  std::vector<Deferred> deferred_;
  UnfinishedWork unfinished_;
};

}  // namespace profline::run
