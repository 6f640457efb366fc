#include "comparison/notes.h"

#include <algorithm>

#include <fmt/format.h>

#include "comparison/differences.h"
#include "comparison/withholding.h"

namespace profline::comparison {
namespace {

std::string input_note(const Differences& differences) {
  std::size_t changed = 0;
  std::size_t only_a = 0;
  std::size_t only_b = 0;
  for (const Difference& difference : differences.inputs) {
    if (!difference.b) {
      ++only_a;
    } else if (!difference.a) {
      ++only_b;
    } else {
      ++changed;
    }
  }
  return fmt::format(
      "the sides read different inputs ({} changed, {} only in A, {} only in B), so their times "
      "are "
      "not for the same work",
      changed, only_a, only_b);
}

/// What a busy machine took of the runs, in one sentence; nothing when it left them alone.
std::string disturbance_note(std::span<const RunMeasurements> a,
                             std::span<const RunMeasurements> b) {
  std::vector<const RunMeasurements*> disturbed;
  for (const auto side : {a, b}) {
    for (const RunMeasurements& run : side) {
      if (is_disturbed(run)) disturbed.push_back(&run);
    }
  }
  if (disturbed.empty()) return "";
  const auto [least, most] = std::minmax_element(
      disturbed.begin(), disturbed.end(),
      [](const auto* x, const auto* y) { return x->disturbance < y->disturbance; });
  const std::string who =
      disturbed.size() == 1
          ? disturbed.front()->run.folder + " was disturbed"
          : fmt::format("{} of {} runs were disturbed", disturbed.size(), a.size() + b.size());
  const std::string share =
      disturbed.size() == 1 ? fmt::format("{:.0f} % of its", 100 * (*most)->disturbance)
                            : fmt::format("{:.0f} to {:.0f} % of their",
                                          100 * (*least)->disturbance, 100 * (*most)->disturbance);
  return who + ": decode steps of more than 5 times the median took " + share + " decode time";
}

}  // namespace

std::optional<double> mean_clock(std::span<const RunMeasurements> side) {
  double sum = 0;
  for (const RunMeasurements& run : side) {
    if (!run.run.sm_clock_mhz) return std::nullopt;
    sum += *run.run.sm_clock_mhz;
  }
  return sum / static_cast<double>(side.size());
}

std::vector<std::string> notes_of(std::span<const RunMeasurements> a,
                                  std::span<const RunMeasurements> b,
                                  const Differences& differences) {
  std::vector<std::string> notes;
  for (const RunMeasurements& run : a) {
    const bool is_on_both = std::any_of(b.begin(), b.end(), [&](const RunMeasurements& other) {
      return other.run.folder == run.run.folder;
    });
    if (is_on_both) notes.push_back(run.run.folder + " is on both sides");
  }
  if (differences.same_inputs == std::optional(false)) notes.push_back(input_note(differences));
  if (!differences.same_inputs) notes.emplace_back("one side did not record its inputs");
  for (const auto side : {a, b}) {
    for (std::string& note : disagreements(side)) notes.push_back(std::move(note));
    for (const RunMeasurements& run : side) {
      if (run.run.state != "ok") notes.push_back(run.run.folder + " is " + run.run.state);
      notes.insert(notes.end(), run.notes.begin(), run.notes.end());
    }
  }
  if (std::string note = disturbance_note(a, b); !note.empty()) notes.push_back(std::move(note));
  const auto& tokens_a = a.front().new_tokens;
  const auto& tokens_b = b.front().new_tokens;
  if (tokens_a && tokens_b && *tokens_a != *tokens_b) {
    notes.push_back(
        fmt::format("the sides generated {} and {} tokens: request_ms and decode_ms are not for "
                    "the same work, token_ms is",
                    *tokens_a, *tokens_b));
  }
  const auto clock_a = mean_clock(a);
  const auto clock_b = mean_clock(b);
  if (clock_a && clock_b) {
    notes.push_back(
        fmt::format("the SM clock was {:.0f} MHz and {:.0f} MHz on average: 'at equal clocks' is "
                    "the change that remains if time scales with the clock, which memory-bound "
                    "work does not",
                    *clock_a, *clock_b));
  }
  return notes;
}

}  // namespace profline::comparison
