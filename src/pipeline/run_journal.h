#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unfinished_work.h"
#include "records/run_record.h"

namespace profline::pipeline {

/// The record of a run and its file: whatever becomes of us, run.json holds the state of the last
/// save() in one piece. A little of the disk is held back for it, so that a run that filled the
/// disk can still say so. If an interrupt ends the program in the middle of work of its own, the
/// record says so too.
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
  /// A small file of the run that can wait: making it durable takes time, and there is plenty while
  /// the next child runs.
  void defer(std::filesystem::path name, std::string bytes);
  Result<void> write_deferred();

 private:
  struct Deferred {
    std::filesystem::path name;
    std::string bytes;
  };

  Result<void> write(const std::filesystem::path& name, std::string_view bytes);

  std::filesystem::path folder_;
  RunRecord record_;
  std::vector<Deferred> deferred_;
  UnfinishedWork unfinished_;
};

}  // namespace profline::pipeline
