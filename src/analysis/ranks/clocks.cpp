#include "analysis/ranks/clocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "analysis/ranks/internal/quantile.h"
#include "base/error.h"
#include "base/figures.h"

namespace profline::ranks {
namespace {

using internal::quantile;

constexpr std::size_t kFewestPairs = 5;
constexpr std::size_t kPairsForRate = 20;
constexpr std::int64_t kSpanForRateNs = 100'000'000;
constexpr double kLargestRate = 1e-3;  // quartz is within 1e-4
/// Ends that are this close need no comparison with the length of the collectives.
constexpr std::int64_t kCloseEndsNs = 200'000;
constexpr double kMostImpossible = 0.25;
/// Nine in ten normally distributed values are within this many times their median distance; unlike
/// the quantile itself, this ignores outliers.
constexpr double kNineInTen = 2.44;
constexpr std::int64_t kResolutionNs = 1000;  // of profilers' times

std::int64_t rounded(double ns) {
  return static_cast<std::int64_t>(std::llround(ns));
}

/// How far the ends of each pair are apart on the other clock.
std::vector<std::int64_t> distances(std::span<const ClockPair> pairs, const ClockMap& map) {
  std::vector<std::int64_t> distances;
  distances.reserve(pairs.size());
  for (const ClockPair& pair : pairs) {
    distances.push_back(std::abs(map.apply(pair.own_end_ns) - pair.to_end_ns));
  }
  return distances;
}

ClockMap map_with_rate(std::span<const ClockPair> pairs, double rate) {
  ClockMap map;
  map.rate = rate;
  std::vector<std::int64_t> times;
  for (const ClockPair& pair : pairs) times.push_back(pair.own_end_ns);
  map.at_ns = quantile(std::move(times), 0.5);
  std::vector<std::int64_t> offsets;
  for (const ClockPair& pair : pairs) {
    offsets.push_back(pair.to_end_ns - pair.own_end_ns -
                      rounded(rate * static_cast<double>(pair.own_end_ns - map.at_ns)));
  }
  map.offset_ns = quantile(std::move(offsets), 0.5);
  return map;
}

/// The median slope between pairs that are half of the capture apart (Theil's incomplete method):
/// linear in the number of pairs, and robust.
std::optional<double> median_rate(std::vector<ClockPair> pairs) {
  if (pairs.size() < kPairsForRate) return std::nullopt;
  std::sort(pairs.begin(), pairs.end(),
            [](const ClockPair& a, const ClockPair& b) { return a.own_end_ns < b.own_end_ns; });
  if (pairs.back().own_end_ns - pairs.front().own_end_ns < kSpanForRateNs) return std::nullopt;
  const std::size_t half = pairs.size() / 2;
  std::vector<double> slopes;
  for (std::size_t i = 0; i + half < pairs.size(); ++i) {
    const ClockPair& a = pairs[i];
    const ClockPair& b = pairs[i + half];
    const std::int64_t own_ns = b.own_end_ns - a.own_end_ns;
    if (own_ns <= 0) continue;
    slopes.push_back(static_cast<double>(b.to_end_ns - a.to_end_ns - own_ns) /
                     static_cast<double>(own_ns));
  }
  if (slopes.empty()) return std::nullopt;
  return quantile(std::move(slopes), 0.5);
}

Error refusal(std::string why) {
  return {ErrorKind::Parse, std::move(why)};
}

}  // namespace

std::int64_t ClockMap::apply(std::int64_t own_ns) const {
  if (rate == 0) return own_ns + offset_ns;
  return own_ns + offset_ns + rounded(rate * static_cast<double>(own_ns - at_ns));
}

Result<ClockFit> fit_clock(std::span<const ClockPair> pairs) {
  if (pairs.size() < kFewestPairs) {
    return refusal(fmt::format("only {} matched; {} are needed",
                               counted(pairs.size(), "collective was", "collectives were"),
                               kFewestPairs));
  }
  ClockFit fit;
  fit.pairs = pairs.size();
  fit.map = map_with_rate(pairs, 0);
  std::vector<std::int64_t> apart = distances(pairs, fit.map);
  if (const auto rate = median_rate({pairs.begin(), pairs.end()})) {
    const ClockMap with_rate = map_with_rate(pairs, *rate);
    std::vector<std::int64_t> then = distances(pairs, with_rate);
    constexpr double kBetter = 0.9;
    if (std::abs(*rate) <= kLargestRate &&
        static_cast<double>(quantile(then, 0.5)) <
            kBetter * static_cast<double>(quantile(apart, 0.5))) {
      fit.map = with_rate;
      apart = std::move(then);
    }
  }
  fit.uncertainty_ns =
      std::max(kResolutionNs, rounded(kNineInTen * static_cast<double>(quantile(apart, 0.5))));
  std::vector<std::int64_t> shorter;
  std::size_t impossible = 0;
  const std::int64_t tolerance_ns = 2 * quantile(apart, 0.5);
  for (const ClockPair& pair : pairs) {
    shorter.push_back(
        std::min(pair.own_end_ns - pair.own_start_ns, pair.to_end_ns - pair.to_start_ns));
    const std::int64_t start_ns = fit.map.apply(pair.own_start_ns);
    const std::int64_t end_ns = fit.map.apply(pair.own_end_ns);
    if (end_ns + tolerance_ns < pair.to_start_ns || pair.to_end_ns + tolerance_ns < start_ns) {
      ++impossible;
    }
  }
  const std::int64_t apart_ns = quantile(apart, 0.75);
  const std::int64_t length_ns = quantile(std::move(shorter), 0.5);
  if (apart_ns > std::max(kCloseEndsNs, length_ns)) {
    return refusal(fmt::format(
        "the ends of its collectives disagree: a quarter of them by more than {}, although the "
        "transfers take {}",
        duration(apart_ns), duration(length_ns)));
  }
  if (static_cast<double>(impossible) > kMostImpossible * static_cast<double>(pairs.size())) {
    return refusal(
        fmt::format("{} of {} collectives would end on one rank ahead of the other's arrival",
                    impossible, pairs.size()));
  }
  return fit;
}

namespace {

/// Kinds that no rank leaves before all have arrived. A broadcast's root, for one, may leave early.
bool ends_together(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllGather:
    case CollectiveKind::AllToAll:
      return true;
    default:
      return false;
  }
}

class Aligner {
 public:
  Aligner(std::span<const Capture> captures, const Matches& matches) : captures_(captures) {
    for (std::uint32_t m = 0; m < matches.matches.size(); ++m) {
      const Match& match = matches.matches[m];
      const Member& first = match.members.front();
      const Visit& visit = captures[first.capture].visits[first.visit];
      const bool is_barrier =
          captures[first.capture].names.text(visit.name).find("barrier") != std::string::npos;
      if (!ends_together(visit.kind) && !is_barrier) continue;
      useful_.push_back(&match);
    }
    of_capture_.resize(captures.size());
    for (std::uint32_t m = 0; m < useful_.size(); ++m) {
      for (const Member& member : useful_[m]->members) {
        of_capture_[member.capture].push_back(m);
      }
    }
  }

  std::vector<Alignment> run() {
    std::vector<Alignment> best = from(0);
    std::size_t most = count(best);
    // A capture that is aligned to the first leads to the same set.
    std::vector<bool> tried(captures_.size());
    for (std::uint32_t start = 0; start < captures_.size() && most < captures_.size(); ++start) {
      if (start == 0 || tried[start]) continue;
      if (best[start].is_aligned()) continue;
      std::vector<Alignment> found = from(start);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].is_aligned()) tried[i] = true;
      }
      if (count(found) > most) {
        most = count(found);
        best = std::move(found);
      }
    }
    return best;
  }

 private:
  static std::size_t count(const std::vector<Alignment>& alignments) {
    return static_cast<std::size_t>(
        std::count_if(alignments.begin(), alignments.end(),
                      [](const Alignment& alignment) { return alignment.is_aligned(); }));
  }

  /// Everything that can be related to one capture, nearest first.
  std::vector<Alignment> from(std::uint32_t start) const {
    std::vector<Alignment> alignments(captures_.size());
    for (Alignment& alignment : alignments) {
      alignment.why_not = "no collective of it was matched with one of an aligned rank";
    }
    alignments[start].state = ClockState::Reference;
    alignments[start].why_not.clear();
    std::vector<std::uint32_t> queue = {start};
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const std::uint32_t to = queue[next];
      for (auto& [own, pairs] : pairs_with(to, alignments)) {
        Alignment& alignment = alignments[own];
        Result<ClockFit> fit = fit_clock(pairs);
        if (!fit) {
          alignment.why_not = fit.error().message();
          alignment.pairs = pairs.size();
          continue;
        }
        alignment = {ClockState::Aligned, fit->map,
                     fit->uncertainty_ns + alignments[to].uncertainty_ns, fit->pairs, ""};
        queue.push_back(own);
      }
    }
    return alignments;
  }

  /// By capture that is not aligned so far: its collectives with this one.
  std::map<std::uint32_t, std::vector<ClockPair>> pairs_with(
      std::uint32_t to, const std::vector<Alignment>& alignments) const {
    std::map<std::uint32_t, std::vector<ClockPair>> pairs;
    const ClockMap& map = alignments[to].map;
    for (const std::uint32_t m : of_capture_[to]) {
      const std::vector<Member>& members = useful_[m]->members;
      const auto self = std::find_if(members.begin(), members.end(),
                                     [&](const Member& member) { return member.capture == to; });
      const Visit& there = captures_[to].visits[self->visit];
      for (const Member& member : members) {
        if (alignments[member.capture].is_aligned()) continue;
        const Visit& own = captures_[member.capture].visits[member.visit];
        pairs[member.capture].push_back(
            {own.start_ns, own.end_ns, map.apply(there.start_ns), map.apply(there.end_ns)});
      }
    }
    return pairs;
  }

  std::span<const Capture> captures_;
  std::vector<const Match*> useful_;
  std::vector<std::vector<std::uint32_t>> of_capture_;  // indices of useful_
};

}  // namespace

std::vector<Alignment> align(std::span<const Capture> captures, const Matches& matches) {
  if (captures.empty()) return {};
  return Aligner(captures, matches).run();
}

}  // namespace profline::ranks
