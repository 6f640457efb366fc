#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/redaction.h"
#include "base/result.h"
#include "pipeline/child_output.h"
#include "pipeline/executor.h"
#include "pipeline/plan.h"
#include "pipeline/stage.h"
#include "process/interrupt.h"
#include "records/run_record.h"
#include "run/run.h"
#include "run/run_journal.h"

namespace profline::pipeline {

/// Prepares the log of a child that has ended for keeping: of a long one only the beginning and the
/// end (kLogHeadBytes, kLogTailBytes) with a line between them that says so, and without the
/// redactor's secrets. A log that needs neither is left alone, and so is one that no longer exists.
/// Returns the number of bytes left out.
Result<std::uint64_t> settle_log(const std::filesystem::path& log, const Redactor& redactor);

/// Accounts for a run's time: every moment belongs to one activity, the innermost open one.
class TimeAccount {
 public:
  enum class Activity : std::uint8_t { Own, Child, Reading, Digesting, Reporting };

  explicit TimeAccount(const Clock& clock);

  /// Charges time to an activity while this object lives.
  class Span {
   public:
    Span(TimeAccount& account, Activity activity) : account_(account) { account.open(activity); }
    ~Span() { account_.close(); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    TimeAccount& account_;
  };

  /// The totals so far.
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

/// The time of a stage since `before`.
StageTiming spent_since(const RunTiming& before, const RunTiming& now);

/// A capture that a stage has read, for the reports.
struct KeptCapture {
  std::string sqlite;  ///< relative to the stage's folder
  Timeline timeline;
};

/// The StageRun of a real run: records everything in the stage's record, and keeps run.json up to
/// date with what is running.
class LiveStageRun final : public StageRun {
 public:
  /// `timeout` is the stage's: commands are stopped when it expires. Commands that run after that,
  /// to keep what was captured, get kAfterTimeout each.
  LiveStageRun(const RunServices& services, run::RunJournal& journal, TimeAccount& account,
               StageRecord& record, std::optional<std::chrono::milliseconds> timeout);

  Result<Exit> execute(const PlannedCommand& planned, RunObserver* observer) override;
  Result<std::unique_ptr<StageChild>> start(const PlannedCommand& planned,
                                            RunObserver* observer) override;
  const Interrupt& interrupt() const override { return services_.interrupt; }
  bool is_out_of_time() override;
  void transition(const std::string& name, const std::string& note) override;
  ProcessRunner& processes() override { return services_.processes; }
  Progress& progress() override { return services_.progress; }
  const Log& log() override { return log_; }
  void report(Finding finding) override;
  void skip(Finding why) override;
  bool has_problem() const override { return has_problem_; }
  void remember_session(const std::string& name) override;
  void keep_capture(std::string sqlite, Timeline capture) override;
  const Timeline* kept_capture(std::string_view sqlite) const override;
  void read(const std::function<void()>& reading) override;

  enum class CommandEnd : std::uint8_t { NeverRan, Cancelled, Other };
  /// How the last command ended; nothing before the first.
  std::optional<CommandEnd> last_end() const { return last_end_; }
  bool timed_out() const { return timed_out_; }
  bool skipped() const { return skipped_; }
  bool cancelled() const { return cancelled_; }
  std::vector<KeptCapture> take_captures() { return std::move(captures_); }
  /// Why the record could not be saved, if it could not.
  const std::optional<Error>& journal_error() const { return journal_error_; }

  static constexpr std::chrono::milliseconds kAfterTimeout = std::chrono::minutes(2);

 private:
  class Child;

  /// Prepares folders, and records that the command starts; returns its index.
  Result<std::size_t> enter(const PlannedCommand& planned);
  void enter_process(std::size_t index, const ProcessId& child);
  std::optional<std::chrono::milliseconds> time_left() const;
  void settle(const PlannedCommand& planned);
  void note_end(CommandRecord& record, const PlannedCommand& planned, const Exit& exit);
  void report_timeout(const PlannedCommand& planned);
  void save();
  void keep(Result<void> written);

  RunServices services_;
  Log log_;
  run::RunJournal& journal_;
  TimeAccount& account_;
  StageRecord& record_;
  Clock::Steady started_;
  std::optional<Clock::Steady> deadline_;
  std::optional<std::chrono::milliseconds> timeout_;
  std::optional<CommandEnd> last_end_;
  bool timed_out_ = false;
  bool skipped_ = false;
  bool cancelled_ = false;
  bool has_problem_ = false;
  std::vector<KeptCapture> captures_;
  std::optional<Error> journal_error_;
};

}  // namespace profline::pipeline
