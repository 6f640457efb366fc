#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "records/run_record.h"

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

}  // namespace profline::pipeline
