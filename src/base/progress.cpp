#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <string>
#include <vector>

#include <stdlib.h>

#include "base/error.h"
#include "base/files.h"
#include "base/internal/progress_render.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

using namespace std::chrono_literals;

constexpr auto kRedrawInterval = 100ms;
constexpr auto kLeastBetweenLines = 1s;  // a short loop leaves two lines, not ten
constexpr auto kMostBetweenLines = 30s;  // shows a reader of the log that it is alive
constexpr std::uint64_t kLinesPerLoop = 10;
constexpr std::size_t kDefaultColumns = 80;
constexpr std::string_view kClearLine = "\r\x1b[K";  // first column, then clear to the line's end

std::string variable(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Lines that are wider than the terminal, broken between words.
std::string wrap_wide_lines(std::string_view text, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  std::string out;
  for (const std::string_view line : lines(text)) {
    out += display_width(line) <= width ? std::string(line) : wrap_words(line, width, kIndent);
    out += '\n';
  }
  return out;
}

/// The end of a step, its note in a column of its own if that is wide enough.
std::string wrap_end(const ProgressState& state, StepOutcome outcome, std::string_view note,
                     const ProgressStyle& style, std::size_t width) {
  const std::string head = render_end(state, outcome, {}, style) + "  ";
  const std::string line = render_end(state, outcome, note, style);
  const std::size_t indent = display_width(head);
  if (display_width(line) <= width) return line + "\n";
  if (indent > width / 2) return wrap_wide_lines(line, width);
  return head + wrap_words(printable(note), width, indent) + "\n";
}

/// The running step and its loops, with their times.
class Tracker {
 public:
  explicit Tracker(const Clock& clock) : clock_(clock) {}

  void begin_step(std::string_view name) {
    PL_ASSERT(!is_in_step_, "steps follow each other");
    is_in_step_ = true;
    state_ = ProgressState{std::string(name), {}, {}};
    step_start_ = clock_.now();
    loop_starts_.clear();
  }
  /// The state of the step at its end.
  ProgressState end_step() {
    PL_ASSERT(is_in_step_, "a step that ends has begun");
    is_in_step_ = false;
    ProgressState last = state();
    state_.loops.clear();
    loop_starts_.clear();
    return last;
  }
  void begin_loop(std::string_view unit, std::optional<std::uint64_t> total) {
    PL_ASSERT(is_in_step_, "a loop is part of a step");
    state_.loops.push_back({std::string(unit), 0, total, {}});
    loop_starts_.push_back(clock_.now());
  }
  void advance(std::uint64_t count) {
    PL_ASSERT(!state_.loops.empty(), "what advances is a loop");
    state_.loops.back().done += count;
  }
  /// False when the end of the step has already ended it.
  bool end_loop() {
    if (state_.loops.empty()) return false;
    state_.loops.pop_back();
    loop_starts_.pop_back();
    return true;
  }

  void note(std::string_view text) {
    if (is_in_step_) state_.note = text;
  }

  bool is_in_step() const { return is_in_step_; }
  std::size_t depth() const { return loop_starts_.size(); }
  const LoopState& outermost() const { return state_.loops.front(); }
  ProgressState state() const {
    ProgressState now = state_;
    now.elapsed = clock_.now() - step_start_;
    for (std::size_t i = 0; i < now.loops.size(); ++i) {
      now.loops[i].elapsed = clock_.now() - loop_starts_[i];
    }
    return now;
  }

 private:
  const Clock& clock_;
  bool is_in_step_ = false;
  ProgressState state_;
  Clock::Steady step_start_;
  std::vector<Clock::Steady> loop_starts_;
};

/// A line that redraws itself below lines that stay. Never hides the cursor or changes a mode of
/// the terminal, so a killed program leaves the terminal intact.
class TerminalProgress final : public Progress {
 public:
  TerminalProgress(int fd, ProgressStyle style, bool is_verbose, const Clock& clock)
      : fd_(fd), style_(style), is_verbose_(is_verbose), clock_(clock), tracker_(clock) {}
  ~TerminalProgress() override {
    if (is_drawn_) static_cast<void>(write_all(fd_, kClearLine));
  }
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void begin_step(std::string_view name) override {
    tracker_.begin_step(name);
    print({});
  }
  void end_step(StepOutcome outcome, std::string_view note) override {
    print(wrap_end(tracker_.end_step(), outcome, note, style_, columns() - 1));
  }
  void begin_loop(std::string_view unit, std::optional<std::uint64_t> total) override {
    tracker_.begin_loop(unit, total);
    tick();
  }
  void advance(std::uint64_t count) override {
    tracker_.advance(count);
    tick();
  }
  void end_loop() override {
    if (tracker_.end_loop()) tick();
  }
  void tick() override {
    if (tracker_.is_in_step() && clock_.now() - last_drawn_ >= kRedrawInterval) print({});
  }
  void note(std::string_view text) override {
    tracker_.note(text);
    tick();
  }
  void detail(std::string_view text) override {
    if (is_verbose_) message(text);
  }
  void message(std::string_view text) override { remark(Remark::Plain, text); }
  void warning(std::string_view text) override { remark(Remark::Warning, text); }
  void error(std::string_view text) override { remark(Remark::Error, text); }

 private:
  void remark(Remark kind, std::string_view text) {
    print(wrap_wide_lines(render_remark(kind, text, style_), columns() - 1));
  }

  /// Prints whole lines above the running one and redraws that; in one write, to avoid flicker.
  void print(const std::string& whole_lines) {
    std::string out;
    if (is_drawn_) out += kClearLine;
    out += whole_lines;
    is_drawn_ = tracker_.is_in_step();
    if (is_drawn_) {
      // The last column stays free: in some terminals writing there moves to the next line.
      out += render_bar(tracker_.state(), columns() - 1, style_);
      last_drawn_ = clock_.now();
    }
    if (!out.empty()) static_cast<void>(write_all(fd_, out));
  }

  /// Queried each time, because windows are resized.
  std::size_t columns() const {
    winsize size{};
    if (::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const std::string text = variable("COLUMNS");
    std::size_t count = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
    return parsed.ec == std::errc() && count > 0 && count < 10000 ? count : kDefaultColumns;
  }

  int fd_;
  ProgressStyle style_;
  bool is_verbose_;
  const Clock& clock_;
  Tracker tracker_;
  bool is_drawn_ = false;
  Clock::Steady last_drawn_;
};

/// Lines only, few enough to keep: the start and end of steps and outermost loops, and in between
/// one line per tenth of a loop or per half minute.
class LineProgress final : public Progress {
 public:
  LineProgress(int fd, ProgressStyle style, bool is_verbose, const Clock& clock)
      : fd_(fd), style_(style), is_verbose_(is_verbose), clock_(clock), tracker_(clock) {}

  void begin_step(std::string_view name) override {
    tracker_.begin_step(name);
    print_line(render_start(name, style_));
  }
  void end_step(StepOutcome outcome, std::string_view note) override {
    print_line(render_end(tracker_.end_step(), outcome, note, style_));
  }
  void begin_loop(std::string_view unit, std::optional<std::uint64_t> total) override {
    tracker_.begin_loop(unit, total);
    if (tracker_.depth() == 1) last_part_ = 0;
  }
  void advance(std::uint64_t count) override {
    tracker_.advance(count);
    tick();
  }
  void end_loop() override {
    if (tracker_.depth() == 1) print_line(render_line(tracker_.state(), style_));
    static_cast<void>(tracker_.end_loop());
  }
  void tick() override {
    if (!tracker_.is_in_step()) return;
    const auto silent = clock_.now() - last_line_;
    const bool is_due =
        silent >= kMostBetweenLines || (silent >= kLeastBetweenLines && part() > last_part_);
    // The end of the loop, which comes next, reports the last part.
    const bool is_complete = tracker_.depth() > 0 && part() == kLinesPerLoop;
    if (is_due && !is_complete) print_line(render_line(tracker_.state(), style_));
  }
  void note(std::string_view text) override {
    tracker_.note(text);
    if (tracker_.is_in_step() && share_in_note(text)) {
      print_line(render_note(tracker_.state(), style_));
    } else {
      detail(text);
    }
  }
  void detail(std::string_view text) override {
    if (is_verbose_) message(text);
  }
  void message(std::string_view text) override { remark(Remark::Plain, text); }
  void warning(std::string_view text) override { remark(Remark::Warning, text); }
  void error(std::string_view text) override { remark(Remark::Error, text); }

 private:
  /// Completed tenths of the outermost loop.
  std::uint64_t part() const {
    if (tracker_.depth() == 0) return 0;
    const LoopState& loop = tracker_.outermost();
    if (!loop.total) return 0;
    if (loop.done >= *loop.total) return kLinesPerLoop;
    return static_cast<std::uint64_t>(static_cast<double>(loop.done) /
                                      static_cast<double>(*loop.total) * kLinesPerLoop);
  }
  void print_line(const std::string& line) {
    last_part_ = part();
    last_line_ = clock_.now();
    static_cast<void>(write_all(fd_, line + "\n"));
  }
  void remark(Remark kind, std::string_view text) {
    static_cast<void>(write_all(fd_, render_remark(kind, text, style_)));
  }

  int fd_;
  ProgressStyle style_;
  bool is_verbose_;
  const Clock& clock_;
  Tracker tracker_;
  Clock::Steady last_line_;
  std::uint64_t last_part_ = 0;
};

/// Warnings and errors only.
class QuietProgress final : public Progress {
 public:
  QuietProgress(int fd, ProgressStyle style) : fd_(fd), style_(style) {}

  void begin_step(std::string_view) override {}
  void end_step(StepOutcome, std::string_view) override {}
  void begin_loop(std::string_view, std::optional<std::uint64_t>) override {}
  void advance(std::uint64_t) override {}
  void end_loop() override {}
  void tick() override {}
  void note(std::string_view) override {}
  void detail(std::string_view) override {}
  void message(std::string_view) override {}
  void warning(std::string_view text) override { remark(Remark::Warning, text); }
  void error(std::string_view text) override { remark(Remark::Error, text); }

 private:
  void remark(Remark kind, std::string_view text) {
    static_cast<void>(write_all(fd_, render_remark(kind, text, style_)));
  }

  int fd_;
  ProgressStyle style_;
};

DisplayFacts facts_about(int fd) {
  DisplayFacts facts{::isatty(fd) == 1, variable("TERM"), variable("NO_COLOR"), {}};
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (facts.encoding.empty()) facts.encoding = variable(name);
  }
  return facts;
}

}  // namespace

std::unique_ptr<Progress> make_progress(const ProgressOptions& options, int fd,
                                        const Clock& clock) {
  const DisplayChoice choice = choose_display(options, facts_about(fd));
  const bool is_verbose = options.verbosity == Verbosity::Verbose;
  switch (choice.kind) {
    case DisplayChoice::Kind::Bar:
      return std::make_unique<TerminalProgress>(fd, choice.style, is_verbose, clock);
    case DisplayChoice::Kind::Lines:
      return std::make_unique<LineProgress>(fd, choice.style, is_verbose, clock);
    case DisplayChoice::Kind::Remarks:
      break;
  }
  return std::make_unique<QuietProgress>(fd, choice.style);
}

}  // namespace profline
