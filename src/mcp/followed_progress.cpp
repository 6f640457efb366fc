#include "mcp/internal/followed_progress.h"

#include <chrono>
#include <string>
#include <utility>

namespace profline::mcp {
namespace {

std::string_view name_of(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::Ok:
      return "ok";
    case StepOutcome::Failed:
      return "failed";
    case StepOutcome::Skipped:
      return "skipped";
    case StepOutcome::Cancelled:
      return "cancelled";
  }
  return "";
}

class FollowedProgress final : public Progress {
 public:
  FollowedProgress(Follower follower, std::unique_ptr<Progress> shown)
      : follower_(std::move(follower)), shown_(std::move(shown)) {}

  void begin_step(std::string_view name) override {
    step_ = name;
    tell("started");
    shown_->begin_step(name);
  }
  void end_step(StepOutcome outcome, std::string_view note) override {
    tell(name_of(outcome));
    step_.clear();
    shown_->end_step(outcome, note);
  }
  void begin_loop(std::string_view unit, std::optional<std::uint64_t> total) override {
    shown_->begin_loop(unit, total);
  }
  void advance(std::uint64_t count) override {
    tell_now_and_then();
    shown_->advance(count);
  }
  void end_loop() override { shown_->end_loop(); }
  void tick() override {
    tell_now_and_then();
    shown_->tick();
  }
  void note(std::string_view text) override {
    tell_now_and_then();
    shown_->note(text);
  }
  void detail(std::string_view text) override { shown_->detail(text); }
  void message(std::string_view text) override { shown_->message(text); }
  void warning(std::string_view text) override { shown_->warning(text); }
  void error(std::string_view text) override { shown_->error(text); }

 private:
  using Clock = std::chrono::steady_clock;

  void tell(std::string_view what) {
    told_at_ = Clock::now();
    follower_(step_ + ' ' + std::string(what));
  }
  /// Clients give up on a request that they hear nothing of.
  void tell_now_and_then() {
    constexpr std::chrono::seconds kOften{5};
    if (!step_.empty() && Clock::now() - told_at_ >= kOften) tell("running");
  }

  Follower follower_;
  std::unique_ptr<Progress> shown_;
  std::string step_;
  Clock::time_point told_at_{};
};

}  // namespace

std::unique_ptr<Progress> followed_by(Follower follower, std::unique_ptr<Progress> shown) {
  return std::make_unique<FollowedProgress>(std::move(follower), std::move(shown));
}

}  // namespace profline::mcp
