#include "base/internal/progress_render.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

constexpr std::size_t kStateWidth = 10;  // `running   `
constexpr std::size_t kLeastBar = 8;
constexpr std::size_t kMostBar = 40;

// SGR parameters of ECMA-48.
constexpr std::string_view kRed = "31";
constexpr std::string_view kGreen = "32";
constexpr std::string_view kYellow = "33";
constexpr std::string_view kCyan = "36";

std::string paint(std::string_view text, std::string_view color, const ProgressStyle& style) {
  if (!style.color) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", color, text);
}

std::string name_column(std::string_view name, const ProgressStyle& style) {
  std::string text = printable(name);
  // A name that fills its column still needs a gap after it.
  if (display_width(text) >= style.name_width) return text + "  ";
  return pad_width(text, style.name_width);
}

std::string count_text(const LoopState& loop) {
  if (loop.total) return fmt::format("{}/{}", loop.done, *loop.total);
  return std::to_string(loop.done);
}

/// Between 0 and 1; a loop with nothing to do is complete.
double share_done(const LoopState& loop) {
  if (!loop.total) return 0;
  if (loop.done >= *loop.total) return 1;
  return static_cast<double>(loop.done) / static_cast<double>(*loop.total);
}

bool is_measurable(const LoopState& loop) {
  return loop.done > 0 && loop.elapsed.count() > 0;
}

/// `9.0 s left` at the mean speed so far, or the time it took where no end is known.
std::string time_text(const LoopState& loop) {
  if (!loop.total || loop.done >= *loop.total) return human_elapsed(loop.elapsed);
  if (!is_measurable(loop)) return {};
  const double per_item =
      static_cast<double>(loop.elapsed.count()) / static_cast<double>(loop.done);
  const auto left = static_cast<double>(*loop.total - loop.done);
  return human_elapsed(FractionalNanoseconds(per_item * left)) + " left";
}

std::string rate_text(const LoopState& loop) {
  if (!is_measurable(loop)) return {};
  const double seconds = static_cast<double>(loop.elapsed.count()) / 1e9;
  return human_rate(static_cast<double>(loop.done) / seconds, printable(loop.unit));
}

/// The facts to show, the most important first.
std::vector<std::string> facts_of(const ProgressState& state) {
  const LoopState& outer = state.loops.front();
  std::vector<std::string> facts = {count_text(outer) + " " + printable(outer.unit)};
  for (std::string& text : std::vector{time_text(outer), rate_text(outer)}) {
    if (!text.empty()) facts.push_back(std::move(text));
  }
  if (state.loops.size() > 1) {
    const LoopState& inner = state.loops.back();
    facts.push_back(printable(inner.unit) + " " + count_text(inner));
  }
  return facts;
}

std::string bar(double share, std::size_t cells, const ProgressStyle& style) {
  if (!style.unicode) cells -= 2;  // the brackets
  const auto full = static_cast<std::size_t>(share * static_cast<double>(cells));
  std::string done;
  std::string rest;
  for (std::size_t i = 0; i < full; ++i) done += style.unicode ? "█" : "#";
  for (std::size_t i = full; i < cells; ++i) rest += style.unicode ? "░" : ".";
  if (!done.empty()) done = paint(done, kCyan, style);
  return style.unicode ? done + rest : "[" + done + rest + "]";
}

std::string running_text(const ProgressState& state) {
  return pad_width("running", kStateWidth) + human_elapsed(state.elapsed);
}

std::string_view ellipsis(const ProgressStyle& style) {
  return style.unicode ? "…" : "...";
}

/// A step whose work another program does: a bar if its note is a count, its time, its note.
std::string render_noted(const ProgressState& state, const std::string& name, std::size_t width,
                         const ProgressStyle& style) {
  constexpr std::size_t kNoteBar = 20;
  const std::string note = "  " + printable(state.note);
  const std::string time = "  " + human_elapsed(state.elapsed);
  const auto share = share_in_note(state.note);
  if (share && display_width(name + time + note) + kNoteBar <= width) {
    return name + bar(*share, kNoteBar, style) + time + note;
  }
  return fit_width(name + running_text(state) + note, width, ellipsis(style));
}

struct OutcomeLook {
  std::string_view word, color;
};

OutcomeLook look_of(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::Ok:
      return {"ok", kGreen};
    case StepOutcome::Failed:
      return {"failed", kRed};
    case StepOutcome::Skipped:
      return {"skipped", kYellow};
    case StepOutcome::Cancelled:
      return {"cancelled", kYellow};
  }
  return {"failed", kRed};
}

bool is_utf8(std::string encoding) {
  for (char& c : encoding) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return encoding.find("utf-8") != std::string::npos || encoding.find("utf8") != std::string::npos;
}

bool wants_color(ColorMode mode, const DisplayFacts& facts, bool can_draw) {
  switch (mode) {
    case ColorMode::Always:
      return true;
    case ColorMode::Never:
      return false;
    case ColorMode::Auto:
      break;
  }
  return can_draw && facts.no_color.empty();
}

}  // namespace

std::string render_bar(const ProgressState& state, std::size_t width, const ProgressStyle& style) {
  constexpr std::string_view kGap = "  ";
  const std::string name = name_column(state.name, style);
  if (state.loops.empty() && !state.note.empty()) return render_noted(state, name, width, style);
  if (state.loops.empty()) {
    const std::string plain = name + running_text(state);
    if (display_width(plain) > width) return fit_width(plain, width, ellipsis(style));
    return name + paint("running", kCyan, style) + running_text(state).substr(7);
  }
  const LoopState& outer = state.loops.front();
  const std::size_t least_bar = outer.total ? kLeastBar + kGap.size() : 0;
  std::vector<std::string> facts = facts_of(state);
  const auto used = [&] { return display_width(name + join(facts, kGap)); };
  while (facts.size() > 1 && used() + least_bar > width) facts.pop_back();
  if (!outer.total || used() + least_bar > width) {
    return fit_width(name + join(facts, kGap), width, ellipsis(style));
  }
  const std::size_t cells = std::min(kMostBar, width - used() - kGap.size());
  facts.insert(facts.begin(), bar(share_done(outer), cells, style));
  return name + join(facts, kGap);
}

std::string render_line(const ProgressState& state, const ProgressStyle& style) {
  const std::string name = name_column(state.name, style);
  if (state.loops.empty()) return name + running_text(state);
  std::vector<std::string> facts = facts_of(state);
  if (state.loops.front().total) {
    facts.front() += fmt::format(" ({:.0f} %)", std::floor(100 * share_done(state.loops.front())));
  }
  return name + join(facts, "  ");
}

std::string render_note(const ProgressState& state, const ProgressStyle& style) {
  return name_column(state.name, style) + printable(state.note);
}

std::optional<double> share_in_note(std::string_view text) {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, done);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, total);
  if (second.ec != std::errc() || total == 0 || (second.ptr != end && *second.ptr != ' ')) {
    return std::nullopt;
  }
  return static_cast<double>(std::min(done, total)) / static_cast<double>(total);
}

std::string render_start(std::string_view name, const ProgressStyle& style) {
  return name_column(name, style) + "started";
}

std::string render_end(const ProgressState& state, StepOutcome outcome, std::string_view note,
                       const ProgressStyle& style) {
  const OutcomeLook look = look_of(outcome);
  std::string line = name_column(state.name, style) + paint(look.word, look.color, style);
  line.append(kStateWidth - look.word.size(), ' ');
  line += human_elapsed(state.elapsed);
  if (!note.empty()) line += "  " + printable(note);
  return line;
}

std::string render_remark(Remark remark, std::string_view text, const ProgressStyle& style) {
  std::string out;
  if (remark == Remark::Warning) out = paint("warning:", kYellow, style) + " ";
  if (remark == Remark::Error) out = paint("error:", kRed, style) + " ";
  for (const std::string_view line : lines(text)) out += printable(line) + "\n";
  if (text.empty()) out += "\n";
  return out;
}

DisplayChoice choose_display(const ProgressOptions& options, const DisplayFacts& facts) {
  const bool can_draw = facts.is_terminal && !facts.term.empty() && facts.term != "dumb";
  DisplayChoice choice;
  choice.kind = can_draw ? DisplayChoice::Kind::Bar : DisplayChoice::Kind::Lines;
  if (options.verbosity == Verbosity::Quiet) choice.kind = DisplayChoice::Kind::Remarks;
  choice.style.color = wants_color(options.color, facts, can_draw);
  choice.style.unicode = is_utf8(facts.encoding);
  choice.style.name_width = options.name_width;
  return choice;
}

}  // namespace profline
