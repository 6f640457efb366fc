#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"

namespace profline {

// How progress looks: pure functions from the current state to text, one line each, without a line
// end. Names and units in the state are untrusted; the output is safe to print.

struct LoopState {
  std::string unit;
  std::uint64_t done = 0;
  std::optional<std::uint64_t> total;
  std::chrono::nanoseconds elapsed{0};
};

struct ProgressState {
  std::string name;  // of the step
  std::chrono::nanoseconds elapsed{0};
  std::vector<LoopState> loops;  // outermost first
  std::string note{};            // from another program; shown where there are no loops
};

/// The completed share, between 0 and 1, of a note that begins with a count (`16/40 images`).
std::optional<double> share_in_note(std::string_view text);

struct ProgressStyle {
  bool color = false;
  bool unicode = true;
  std::size_t name_width = 10;
};

/// The line that is redrawn, at most `width` columns. The outermost loop has the bar, the innermost
/// follows it. What does not fit is dropped, from the end; then the bar; then the text is cut.
///
///   baseline  ██████░░░░  16/40 images  9.0 s left  2.67 images/s  tokens 35/256
std::string render_bar(const ProgressState& state, std::size_t width, const ProgressStyle& style);

/// The same for output that is kept: complete, without a bar, with the completed share.
///
///   baseline  16/40 images (40 %)  9.0 s left  2.67 images/s
std::string render_line(const ProgressState& state, const ProgressStyle& style);

/// `baseline  16/40 images (40 %)`, for a note that is a count.
std::string render_note(const ProgressState& state, const ProgressStyle& style);

/// `nsys      started`.
std::string render_start(std::string_view name, const ProgressStyle& style);

/// `nsys      ok        14.0 s  3 reports`.
std::string render_end(const ProgressState& state, StepOutcome outcome, std::string_view note,
                       const ProgressStyle& style);

enum class Remark { Plain, Warning, Error };

/// `warning: …`; a text of several lines keeps them, each ending in a line feed.
std::string render_remark(Remark remark, std::string_view text, const ProgressStyle& style);

/// What the environment says about the display.
struct DisplayFacts {
  bool is_terminal = false;
  std::string term;      // TERM
  std::string no_color;  // NO_COLOR: anything but nothing switches colours off
  std::string encoding;  // the first that is set of LC_ALL, LC_CTYPE, LANG: `en_US.UTF-8`
};

struct DisplayChoice {
  enum class Kind { Bar, Lines, Remarks } kind = Kind::Lines;
  ProgressStyle style;
};

/// Bar on a terminal that can move its cursor, Lines elsewhere, Remarks alone when quiet.
DisplayChoice choose_display(const ProgressOptions& options, const DisplayFacts& facts);

}  // namespace profline
