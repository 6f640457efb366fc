#pragma once

#include <filesystem>

#include "base/result.h"
#include "records/run_record.h"

namespace profline::pipeline {

/// The record of a run and its file: whatever becomes of us, run.json holds the state of the last
/// save() in one piece. A little of the disk is held back for it, so that a run that filled the
/// disk can still say so.
class RunJournal {
 public:
  /// Holds disk space back; the folder is there.
  RunJournal(std::filesystem::path folder, RunRecord record);
  /// Gives the space back.
  ~RunJournal();
  RunJournal(const RunJournal&) = delete;
  RunJournal& operator=(const RunJournal&) = delete;

  RunRecord& record() { return record_; }
  const RunRecord& record() const { return record_; }
  const std::filesystem::path& folder() const { return folder_; }

  Result<void> save();
  /// Writes a small file of the run under the same rule.
  Result<void> write(const std::filesystem::path& name, std::string_view bytes);

 private:
  std::filesystem::path reserve() const { return folder_ / ".reserve"; }

  std::filesystem::path folder_;
  RunRecord record_;
};

}  // namespace profline::pipeline
