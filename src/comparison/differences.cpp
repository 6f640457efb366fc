#include "comparison/internal/differences.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analysis/requests/series.h"
#include "base/figures.h"
#include "base/strings.h"
#include "schema/diff.h"
#include "statistics/steady_state.h"

namespace profline::comparison {
namespace {

using statistics::Steadiness;

/// `gpus.0.sm_mhz`: the clocks at the moment when the run began.
bool is_momentary(std::string_view key) {
  return key == "cpu.mhz" || key.ends_with(".sm_mhz") || key.ends_with(".memory_mhz");
}

std::vector<Difference> differences(const std::optional<Node>& a, const std::optional<Node>& b,
                                    bool (*is_left_out)(std::string_view)) {
  std::vector<Difference> found;
  const Node nothing = Node::map();
  if (!a && !b) return found;
  for (schema::Change& change : schema::diff(a.value_or(nothing), b.value_or(nothing))) {
    if (is_left_out(change.path)) continue;
    found.push_back({std::move(change.path), std::move(change.before), std::move(change.after)});
  }
  return found;
}

std::string text_at(const Node& entry, std::string_view key) {
  const Node* value = entry.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

/// The inputs, by name: the digest of each image, or of each file of a user's command.
std::map<std::string, std::string> digests(const Node& inputs) {
  std::map<std::string, std::string> found;
  if (!inputs.is_map()) return found;
  for (const auto& [key, list] : inputs.as_map()) {
    if (!list.is_list()) continue;
    for (const Node& entry : list.as_list()) {
      if (!entry.is_map()) continue;
      const std::string image = text_at(entry, "image");
      const std::string name = image.empty() ? text_at(entry, "path") : image;
      const std::string digest = text_at(entry, "sha256");
      found[name] = digest.empty() ? text_at(entry, "problem") : digest;
    }
  }
  return found;
}

std::vector<Difference> input_differences(const Node& a, const Node& b) {
  const auto first = digests(a);
  const auto second = digests(b);
  std::vector<Difference> found;
  for (const auto& [name, digest] : first) {
    const auto other = second.find(name);
    if (other == second.end()) {
      found.push_back({name, digest, std::nullopt});
    } else if (other->second != digest) {
      found.push_back({name, digest, other->second});
    }
  }
  for (const auto& [name, digest] : second) {
    if (!first.contains(name)) found.push_back({name, std::nullopt, digest});
  }
  return found;
}

// Keys of the config that describe a load.
constexpr std::string_view kLoadKey = "pipeline.workload.load.";
constexpr std::string_view kPromptKeys[] = {"prompts.", "seed"};
constexpr std::string_view kArrivalKeys[] = {"arrival.", "endpoint", "extra_body"};
constexpr std::string_view kSloKeys[] = {"slo."};

bool is_below(std::string_view key, std::span<const std::string_view> parts) {
  if (!key.starts_with(kLoadKey)) return false;
  key.remove_prefix(kLoadKey.size());
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return key.starts_with(part); });
}

/// `arrival.rate 4.0 and 8.0, endpoint …`, of the keys that differ; empty: none does.
std::string load_differences(const Differences& differences,
                             std::span<const std::string_view> parts) {
  std::vector<std::string> texts;
  for (const Difference& difference : differences.config) {
    if (!is_below(difference.key, parts)) continue;
    texts.push_back(fmt::format("{}: {} and {}", difference.key.substr(kLoadKey.size()),
                                difference.a.value_or("not set"),
                                difference.b.value_or("not set")));
  }
  return join(texts, ", ");
}

/// How the loads on two servers differ.
void note_loads(const RunMeasurements& a, const RunMeasurements& b, const Differences& differences,
                std::vector<std::string>& notes) {
  if (a.is_load != b.is_load) {
    notes.emplace_back("one side is a load on a server and the other is not");
  }
  if (const std::string found = load_differences(differences, kArrivalKeys); !found.empty()) {
    notes.push_back("the sides were under different loads (" + found +
                    "), so a change may come from the load");
  }
  if (const std::string found = load_differences(differences, kSloKeys); !found.empty()) {
    notes.push_back("the sides have different SLOs (" + found +
                    "), so their goodput cannot be compared");
  }
  constexpr double kSameTokens = 0.01;
  if (!a.load_tokens || !b.load_tokens) return;
  if (std::abs(*b.load_tokens - *a.load_tokens) <= kSameTokens * *a.load_tokens) return;
  notes.push_back(fmt::format(
      "the sides generated {:.1f} and {:.1f} tokens per request: e2e_ms is not for the same work",
      *a.load_tokens, *b.load_tokens));
}

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

/// The effect of a busy machine on the runs, in one sentence; empty if it was negligible.
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
  const std::string share = disturbed.size() == 1 ? percent((*most)->disturbance) + " of its"
                                                  : percent((*least)->disturbance) + " to " +
                                                        percent((*most)->disturbance) + " of their";
  return who + ": steps of more than 5 times the median took " + share + " steps' time";
}

std::uint64_t requests_not_steady(std::span<const RunMeasurements> side) {
  std::uint64_t count = 0;
  for (const RunMeasurements& run : side) {
    if (run.steadiness != Steadiness::TooShort) count += run.requests - run.steady_requests;
  }
  return count;
}

std::uint64_t count_of(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b,
                       Steadiness verdict) {
  std::uint64_t count = 0;
  for (const auto side : {a, b}) {
    for (const RunMeasurements& run : side) {
      if (run.requests > 0 && run.steadiness == verdict) ++count;
    }
  }
  return count;
}

/// What was left out of the unprofiled runs, or why nothing could be.
void note_steadiness(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b,
                     std::vector<std::string>& notes) {
  const std::uint64_t of_a = requests_not_steady(a);
  const std::uint64_t of_b = requests_not_steady(b);
  if (of_a + of_b > 0) {
    notes.push_back(
        fmt::format("one-time costs and warm-up are not compared: {} of A and {} of B have such",
                    counted(of_a, "request"), counted(of_b, "request")));
  }
  const std::size_t runs = a.size() + b.size();
  if (const auto few = count_of(a, b, Steadiness::TooShort); few > 0) {
    notes.push_back(fmt::format(
        "{} of {} runs have fewer than {} requests, too few to tell which of them are steady: all "
        "of their requests are compared",
        few, runs, statistics::kEnoughToTell));
  }
  if (const auto drifting = count_of(a, b, Steadiness::Drifting); drifting > 0) {
    notes.push_back(
        fmt::format("the times of {} of {} runs still change from request to request, so longer "
                    "runs may give different ones",
                    drifting, runs));
  }
}

/// `request_ms and decode_ms are not for the same work, token_ms is`.
std::string unequal_work(const RunMeasurements& run) {
  std::vector<std::string> sums;
  std::string each;
  for (const Series& series : run.series) {
    if (series.family != Family::Metric) continue;
    if (series.per_step == requests::PerStep::Sum) sums.push_back(series.name);
    if (series.per_step == requests::PerStep::Each && each.empty()) each = series.name;
  }
  if (sums.empty()) return "times are not for the same work";
  const std::string last = sums.back();
  sums.pop_back();
  const std::string first = join(sums, ", ");
  return (first.empty() ? last + " is" : first + " and " + last + " are") +
         " not for the same work" + (each.empty() ? "" : ", " + each + " is");
}

using Side = std::span<const RunMeasurements>;

/// Fewer runs show their spread too poorly to leave one out.
constexpr std::ptrdiff_t kEnough = 3;

double disturbed_share(Side side) {
  return static_cast<double>(std::count_if(side.begin(), side.end(), is_disturbed)) /
         static_cast<double>(side.size());
}

const RunMeasurements* find(Side a, Side b, bool (*holds)(const RunMeasurements&)) {
  for (const Side side : {a, b}) {
    const auto found = std::find_if(side.begin(), side.end(), holds);
    if (found != side.end()) return &*found;
  }
  return nullptr;
}

bool opens_series(const RunMeasurements& run) {
  return run.opens_series;
}

}  // namespace

Differences differences_between(const RunMeasurements& a, const RunMeasurements& b) {
  Differences found;
  found.config = differences(a.config, b.config, [](std::string_view) { return false; });
  if (a.is_load && b.is_load) {  // its inputs are the prompts, which the config describes
    for (const Difference& difference : found.config) {
      if (is_below(difference.key, kPromptKeys)) found.inputs.push_back(difference);
    }
    found.same_inputs = found.inputs.empty();
  }
  found.environment = differences(a.environment, b.environment, is_momentary);
  if (a.inputs && b.inputs) {
    found.inputs = input_differences(*a.inputs, *b.inputs);
    found.same_inputs = found.inputs.empty();
  }
  return found;
}

std::vector<std::string> disagreements(std::span<const RunMeasurements> side) {
  std::vector<std::string> notes;
  for (const RunMeasurements& other : side.subspan(1)) {
    const Differences found = differences_between(side.front(), other);
    std::vector<std::string> of;
    if (!found.config.empty()) of.push_back("config (" + found.config.front().key + ")");
    if (!found.environment.empty()) {
      of.push_back("environment (" + found.environment.front().key + ")");
    }
    if (!found.inputs.empty()) of.push_back("inputs");
    if (of.empty()) continue;
    notes.push_back("the runs of one side are not alike: " + other.run.folder + " differs from " +
                    side.front().run.folder + " in " + join(of, ", "));
  }
  return notes;
}

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
  note_loads(a.front(), b.front(), differences, notes);
  note_steadiness(a, b, notes);
  if (std::string note = disturbance_note(a, b); !note.empty()) notes.push_back(std::move(note));
  const auto& tokens_a = a.front().new_tokens;
  const auto& tokens_b = b.front().new_tokens;
  if (tokens_a && tokens_b && *tokens_a != *tokens_b) {
    notes.push_back(fmt::format("the sides generated {} and {} tokens: {}", *tokens_a, *tokens_b,
                                unequal_work(a.front())));
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

bool is_disturbed(const RunMeasurements& run) {
  return run.disturbance > requests::kDisturbedShare;
}

std::string disturbed_reason(Side a, Side b) {
  const RunMeasurements* disturbed = find(a, b, is_disturbed);
  if (disturbed == nullptr) return "";
  if (a.size() == 1 || b.size() == 1) return disturbed->run.folder + " was disturbed";
  constexpr double kFarMore = 0.5;
  const double more = disturbed_share(b) - disturbed_share(a);
  if (std::abs(more) <= kFarMore) return "";
  return more > 0 ? "the runs of B were disturbed and those of A were not"
                  : "the runs of A were disturbed and those of B were not";
}

std::string spread_reason(Side a, Side b, KnownSpread::Basis basis) {
  if (basis == KnownSpread::Basis::Given) return "";
  if (basis == KnownSpread::Basis::Assumed) {
    return "too few runs to know the run-to-run spread";
  }
  const RunMeasurements* opener = find(a, b, opens_series);
  if (opener == nullptr) return "";
  return opener->run.folder + " is the first run after a pause, which is often slower";
}

void leave_out_openers(std::span<RunMeasurements> side) {
  const auto others = std::count_if(side.begin(), side.end(),
                                    [](const RunMeasurements& run) { return !run.opens_series; });
  if (others < kEnough) return;
  for (RunMeasurements& run : side) run.run.left_out = run.opens_series;
}

}  // namespace profline::comparison
