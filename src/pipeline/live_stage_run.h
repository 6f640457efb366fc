#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "pipeline/run_journal.h"
#include "pipeline/stage.h"
#include "pipeline/time_account.h"
#include "process/interrupt.h"

namespace profline::pipeline {

/// The world as a run sees it.
struct RunServices {
  ProcessRunner& processes;
  const Interrupt& interrupt;
  Progress& progress;
  Log log;
  const Clock& clock;
};

/// The StageRun of a real run: keeps everything in the stage's record, and run.json up to date with
/// what is running.
class LiveStageRun final : public StageRun {
 public:
  /// `timeout` is the stage's: commands are ended when it is over. What is run after that, to keep
  /// what was captured, gets kAfterTimeout each.
  LiveStageRun(const RunServices& services, RunJournal& journal, TimeAccount& account,
               StageRecord& record, std::optional<std::chrono::milliseconds> timeout);

  Result<Exit> execute(const PlannedCommand& planned, RunObserver* observer) override;
  ProcessRunner& processes() override { return services_.processes; }
  Progress& progress() override { return services_.progress; }
  const Log& log() override { return log_; }
  void tell(Finding finding) override;
  void remember_session(const std::string& name) override;

  bool timed_out() const { return timed_out_; }
  bool cancelled() const { return cancelled_; }
  /// A Problem was told.
  bool has_problem() const { return has_problem_; }
  /// Why the record could not be kept, if it could not.
  const std::optional<Error>& journal_error() const { return journal_error_; }

  static constexpr std::chrono::milliseconds kAfterTimeout = std::chrono::minutes(2);

 private:
  std::optional<std::chrono::milliseconds> time_left() const;
  void settle(const PlannedCommand& planned);
  void note_end(CommandRecord& record, const PlannedCommand& planned, const Exit& exit);
  void tell_timeout(const PlannedCommand& planned);
  void save();
  void keep(Result<void> written);

  RunServices services_;
  Log log_;
  RunJournal& journal_;
  TimeAccount& account_;
  StageRecord& record_;
  std::optional<Clock::Steady> deadline_;
  std::optional<std::chrono::milliseconds> timeout_;
  bool timed_out_ = false;
  bool cancelled_ = false;
  bool has_problem_ = false;
  std::optional<Error> journal_error_;
};

}  // namespace profline::pipeline
