#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace profline {

enum class StepOutcome { Ok, Failed, Skipped, Cancelled };

/// Shows the user what the program is doing. Everything but the result and the final error goes
/// through this interface. On a terminal the running step is one line that redraws itself;
/// elsewhere all output is lines. There is no thread: the display changes only in these calls, so a
/// long wait calls tick() now and then.
///
///   nsys      running   12.3 s
///   baseline  ████████░░░░░░░░░░░░  16/40 images  9.0 s left  2.67 images/s
///   nsys      ok        14.0 s
///
/// Text may be untrusted: control characters in it are escaped. Callers use Step and Loop, which
/// end what they began.
class Progress {
 public:
  virtual ~Progress() = default;

  /// One step at a time (a stage of a run, say).
  virtual void begin_step(std::string_view name) = 0;
  /// Ends the step, and the loops in it. The note, if any, follows the time: `no GPU`.
  virtual void end_step(StepOutcome outcome, std::string_view note) = 0;
  /// A loop inside the step, or inside its innermost loop, over `total` of `unit` (`images`).
  virtual void begin_loop(std::string_view unit, std::optional<std::uint64_t> total) = 0;
  /// `count` more are done in the innermost loop.
  virtual void advance(std::uint64_t count) = 0;
  virtual void end_loop() = 0;
  /// Nothing happened, but time passed.
  virtual void tick() = 0;
  /// The last output of the program that does the step's work. On a terminal it follows the step,
  /// with a bar if it is a count (`16/40 images  9.0 s left`); elsewhere counts are lines and
  /// everything else is a detail.
  virtual void note(std::string_view text) = 0;

  /// Shown only with -v.
  virtual void detail(std::string_view text) = 0;
  virtual void message(std::string_view text) = 0;
  virtual void warning(std::string_view text) = 0;
  virtual void error(std::string_view text) = 0;
};

/// A step for as long as this lives. A Step destroyed without end() has failed, which is what an
/// early return with an Error means.
class Step {
 public:
  Step(Progress& progress, std::string_view name) : progress_(progress) {
    progress.begin_step(name);
  }
  ~Step() {
    if (!ended_) progress_.end_step(StepOutcome::Failed, {});
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Call at most once.
  void end(StepOutcome outcome, std::string_view note = {}) {
    ended_ = true;
    progress_.end_step(outcome, note);
  }

 private:
  Progress& progress_;
  bool ended_ = false;
};

/// A loop for as long as this lives.
class Loop {
 public:
  Loop(Progress& progress, std::string_view unit, std::optional<std::uint64_t> total)
      : progress_(progress) {
    progress.begin_loop(unit, total);
  }
  ~Loop() { progress_.end_loop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void advance(std::uint64_t count = 1) { progress_.advance(count); }

 private:
  Progress& progress_;
};

/// Shows nothing.
class NullProgress final : public Progress {
 public:
  void begin_step(std::string_view) override {}
  void end_step(StepOutcome, std::string_view) override {}
  void begin_loop(std::string_view, std::optional<std::uint64_t>) override {}
  void advance(std::uint64_t) override {}
  void end_loop() override {}
  void tick() override {}
  void note(std::string_view) override {}
  void detail(std::string_view) override {}
  void message(std::string_view) override {}
  void warning(std::string_view) override {}
  void error(std::string_view) override {}
};

enum class Verbosity { Quiet, Normal, Verbose };  ///< -q: warnings and errors only; -v: details
enum class ColorMode { Auto, Always, Never };     ///< --color

struct ProgressOptions {
  Verbosity verbosity = Verbosity::Normal;
  ColorMode color = ColorMode::Auto;
  std::size_t name_width = 10;  ///< columns for the names of steps, so that what follows lines up
};

/// The Progress that suits the descriptor (usually standard error) and the environment: TERM,
/// NO_COLOR, COLUMNS and the locale's encoding. Borrows `fd` and the clock. Output that cannot be
/// written is dropped: a closed terminal must not end a measurement.
std::unique_ptr<Progress> make_progress(const ProgressOptions& options, int fd, const Clock& clock);

}  // namespace profline
