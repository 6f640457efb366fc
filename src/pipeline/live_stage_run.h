#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "pipeline/stage.h"
#include "process/interrupt.h"
#include "records/run_record.h"
#include "run/run_journal.h"

namespace profline::pipeline {

/// Where a run's time goes: every moment belongs to one activity, the innermost that is open.
class TimeAccount {
 public:
  enum class Activity : std::uint8_t { Own, Child, Reading, Digesting, Reporting };

  explicit TimeAccount(const Clock& clock);

  /// An activity for as long as this lives.
  class Span {
   public:
    Span(TimeAccount& account, Activity activity) : account_(account) { account.open(activity); }
    ~Span() { account_.close(); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    TimeAccount& account_;
  };

  /// All so far.
  RunTiming timing() const;

 private:
  static constexpr std::size_t kActivities = 5;

  void open(Activity activity);
  void close();
  void charge();

  const Clock& clock_;
  Clock::Steady start_;
  Clock::Steady last_;
  std::vector<Activity> open_{Activity::Own};
  std::array<std::int64_t, kActivities> spent_ns_{};
  std::int64_t own_since_child_ns_ = 0;
  std::int64_t between_children_ns_ = 0;
  bool had_child_ = false;
};

/// What was spent after `before`, of a stage.
StageTiming spent_since(const RunTiming& before, const RunTiming& now);

/// The world as a run sees it.
struct RunServices {
  ProcessRunner& processes;
  const Interrupt& interrupt;
  Progress& progress;
  Log log;
  const Clock& clock;
};

/// A capture that a stage has read, for the reports.
struct KeptCapture {
  std::string sqlite;  ///< from the stage's folder
  Timeline timeline;
};

/// The StageRun of a real run: keeps everything in the stage's record, and run.json up to date with
/// what is running.
class LiveStageRun final : public StageRun {
 public:
  /// `timeout` is the stage's: commands are ended when it is over. What is run after that, to keep
  /// what was captured, gets kAfterTimeout each.
  LiveStageRun(const RunServices& services, run::RunJournal& journal, TimeAccount& account,
               StageRecord& record, std::optional<std::chrono::milliseconds> timeout);

  Result<Exit> execute(const PlannedCommand& planned, RunObserver* observer) override;
  ProcessRunner& processes() override { return services_.processes; }
  Progress& progress() override { return services_.progress; }
  const Log& log() override { return log_; }
  void tell(Finding finding) override;
  void remember_session(const std::string& name) override;
  void keep_capture(std::string sqlite, Timeline capture) override;

  enum class CommandEnd : std::uint8_t { NeverRan, Cancelled, Other };
  /// How the last command ended; nothing before the first.
  std::optional<CommandEnd> last_end() const { return last_end_; }
  bool timed_out() const { return timed_out_; }
  bool cancelled() const { return cancelled_; }
  /// A Problem was told.
  bool has_problem() const { return has_problem_; }
  std::vector<KeptCapture> take_captures() { return std::move(captures_); }
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
  run::RunJournal& journal_;
  TimeAccount& account_;
  StageRecord& record_;
  std::optional<Clock::Steady> deadline_;
  std::optional<std::chrono::milliseconds> timeout_;
  std::optional<CommandEnd> last_end_;
  bool timed_out_ = false;
  bool cancelled_ = false;
  bool has_problem_ = false;
  std::vector<KeptCapture> captures_;
  std::optional<Error> journal_error_;
};

}  // namespace profline::pipeline
