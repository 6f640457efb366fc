#include "pipeline/time_account.h"

#include "base/assert.h"

namespace profline::pipeline {
namespace {

std::int64_t nanoseconds(Clock::Steady from, Clock::Steady to) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

}  // namespace

TimeAccount::TimeAccount(const Clock& clock) : clock_(clock), start_(clock.now()), last_(start_) {}

void TimeAccount::charge() {
  const Clock::Steady now = clock_.now();
  const std::int64_t passed = nanoseconds(last_, now);
  last_ = now;
  spent_ns_[static_cast<std::size_t>(open_.back())] += passed;
  if (open_.back() == Activity::Own) own_since_child_ns_ += passed;
}

void TimeAccount::open(Activity activity) {
  charge();
  if (activity == Activity::Child) {
    if (had_child_) between_children_ns_ += own_since_child_ns_;
    had_child_ = true;
  }
  open_.push_back(activity);
}

void TimeAccount::close() {
  PL_ASSERT(open_.size() > 1, "what is closed was opened");
  charge();
  if (open_.back() == Activity::Child) own_since_child_ns_ = 0;
  open_.pop_back();
}

RunTiming TimeAccount::timing() const {
  TimeAccount now = *this;
  now.charge();
  const auto spent = [&](Activity activity) {
    return now.spent_ns_[static_cast<std::size_t>(activity)];
  };
  RunTiming timing;
  timing.total_ns = nanoseconds(start_, now.last_);
  timing.children_ns = spent(Activity::Child);
  timing.reading_ns = spent(Activity::Reading);
  timing.digesting_ns = spent(Activity::Digesting);
  timing.reporting_ns = spent(Activity::Reporting);
  timing.between_children_ns = between_children_ns_;
  return timing;
}

StageTiming spent_since(const RunTiming& before, const RunTiming& now) {
  StageTiming timing;
  timing.total_ns = now.total_ns - before.total_ns;
  timing.children_ns = now.children_ns - before.children_ns;
  timing.reading_ns = now.reading_ns - before.reading_ns;
  timing.digesting_ns = now.digesting_ns - before.digesting_ns;
  return timing;
}

}  // namespace profline::pipeline
