#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/redaction.h"
#include "base/result.h"
#include "records/run_record.h"

namespace profline::run {

/// Writes run.json of a run that no journal is kept of, for its owner alone.
Result<void> write_record(const std::filesystem::path& folder, const RunRecord& record);

/// The record of a run and its file: whatever becomes of us, run.json holds the state of the last
/// save() in one piece. A little of the disk is held back for it, so that a run that filled the
/// disk can still say so. If an interrupt ends the program in the middle of work of its own, the
/// record says so too.
class RunJournal {
 public:
  /// Holds disk space back; the folder is there. Files are for their owner alone, and without what
  /// the redactor takes for a secret.
  RunJournal(std::filesystem::path folder, RunRecord record, Redactor redactor = {});
  /// Gives the space back.
  ~RunJournal();
  RunJournal(const RunJournal&) = delete;
  RunJournal& operator=(const RunJournal&) = delete;

  RunRecord& record() { return record_; }
  const RunRecord& record() const { return record_; }
  const std::filesystem::path& folder() const { return folder_; }
  const Redactor& redactor() const { return redactor_; }

  Result<void> save();
  /// status.json of a stage, which can wait.
  Result<void> defer_status(const StageRecord& stage);
  /// A small file of the run that can wait: making it durable takes time, and there is plenty while
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
