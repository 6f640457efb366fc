#include "analysis/ranks/matching.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/core.h>

#include "analysis/ranks/internal/quantile.h"
#include "base/figures.h"

namespace profline::ranks {
namespace {

/// The visits of one capture to one communicator, in order.
struct Sequence {
  std::uint32_t capture = 0;
  std::vector<std::uint32_t> visits;
  bool has_numbers = true;
};

using Shift = std::ptrdiff_t;

/// Collectives that every rank must enter with equally many bytes.
bool has_equal_bytes(CollectiveKind kind) {
  return kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather ||
         kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::Broadcast ||
         kind == CollectiveKind::Reduce;
}

bool can_be_same(const Visit& a, const Visit& b) {
  if (a.kind != b.kind) return false;
  return !has_equal_bytes(a.kind) || a.bytes == 0 || b.bytes == 0 || a.bytes == b.bytes;
}

/// Two captures of one communicator, one visit against the other.
class Comparison {
 public:
  Comparison(const Capture& a, const Sequence& as, const Capture& b, const Sequence& bs)
      : a_(a), as_(as), b_(b), bs_(bs) {}

  /// b's visit number i + shift is a's visit number i. Nothing if they agree under no shift.
  std::optional<Shift> find_shift() const {
    const Shift longest = static_cast<Shift>(std::max(as_.visits.size(), bs_.visits.size()));
    const std::int64_t at_once_ns = disagreement_ns(0);
    if (as_.visits.size() == bs_.visits.size() && at_once_ns <= kCloseNs) return 0;
    std::vector<Candidate> found;
    if (at_once_ns != kNever) found.push_back({0, at_once_ns});
    constexpr Shift kFarthest = 4096;
    constexpr std::size_t kMostCandidates = 64;
    for (Shift by = 1; by < std::min(longest, kFarthest) && found.size() < kMostCandidates; ++by) {
      for (const Shift shift : {by, -by}) {
        const std::int64_t ns = disagreement_ns(shift);
        if (ns != kNever) found.push_back({shift, ns});
      }
    }
    return best_of(found);
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kCloseNs = 20'000;
  struct Candidate {
    Shift shift;
    std::int64_t disagreement_ns;
  };

  const Visit& a(std::size_t i) const { return a_.visits[as_.visits[i]]; }
  const Visit& b(std::size_t i) const { return b_.visits[bs_.visits[i]]; }

  /// How far the times from one end to the next differ, in the middle of all; whatever their
  /// clocks, they are equal for the same collectives. kNever if the sequences differ or hardly
  /// overlap.
  std::int64_t disagreement_ns(Shift shift) const {
    const Shift begin = std::max<Shift>(0, -shift);
    const Shift end = std::min(static_cast<Shift>(as_.visits.size()),
                               static_cast<Shift>(bs_.visits.size()) - shift);
    const std::size_t shorter = std::min(as_.visits.size(), bs_.visits.size());
    if (end <= begin || 3 * static_cast<std::size_t>(end - begin) < 2 * shorter) return kNever;
    for (Shift i = begin; i < end; ++i) {
      if (!can_be_same(a(static_cast<std::size_t>(i)), b(static_cast<std::size_t>(i + shift)))) {
        return kNever;
      }
    }
    constexpr Shift kMostLookedAt = 512;
    const Shift stride = std::max<Shift>(1, (end - begin) / kMostLookedAt);
    std::vector<std::int64_t> differences;
    for (Shift i = begin; i + 1 < end; i += stride) {
      const auto at = static_cast<std::size_t>(i);
      const auto other = static_cast<std::size_t>(i + shift);
      differences.push_back(
          std::abs((a(at + 1).end_ns - a(at).end_ns) - (b(other + 1).end_ns - b(other).end_ns)));
    }
    if (differences.empty()) return 0;
    const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
    std::nth_element(differences.begin(), middle, differences.end());
    return *middle;
  }

  /// No shift unless another one is clearly better: more clearly if there are few collectives, of
  /// which some shift may fit by chance, and if the clocks of the captures agree without a shift.
  /// Among those that are as good, the one that the clocks suggest.
  std::optional<Shift> best_of(const std::vector<Candidate>& found) const {
    if (found.empty()) return std::nullopt;
    std::int64_t least_ns = kNever;
    for (const Candidate& candidate : found) {
      least_ns = std::min(least_ns, candidate.disagreement_ns);
    }
    const std::int64_t as_good_ns = 2 * least_ns + kCloseNs;
    const double factor =
        clocks_agree() ? 16 : 2 + 8 / std::sqrt(static_cast<double>(as_.visits.size()));
    const auto unshifted_ns =
        static_cast<std::int64_t>(factor * static_cast<double>(least_ns)) + kCloseNs;
    std::optional<Shift> best;
    std::int64_t best_apart_ns = kNever;
    for (const Candidate& candidate : found) {
      const bool is_unshifted = candidate.shift == 0 && as_.visits.size() == bs_.visits.size();
      if (is_unshifted && candidate.disagreement_ns <= unshifted_ns) return 0;
      if (candidate.disagreement_ns > as_good_ns) continue;
      const std::int64_t apart_ns = clocks_apart_ns(candidate.shift);
      if (!best || apart_ns < best_apart_ns) {
        best = candidate.shift;
        best_apart_ns = apart_ns;
      }
    }
    return best;
  }

  /// Whether the ends of equally many collectives are at the same times by the clocks of both: the
  /// clocks differ by much less than the time from one collective to the next.
  bool clocks_agree() const {
    if (!a_.origin_ns || !b_.origin_ns || as_.visits.size() != bs_.visits.size()) return false;
    std::vector<std::int64_t> apart;
    std::vector<std::int64_t> periods;
    for (std::size_t i = 0; i < as_.visits.size(); ++i) {
      apart.push_back(std::abs((*a_.origin_ns + a(i).end_ns) - (*b_.origin_ns + b(i).end_ns)));
      if (i > 0) periods.push_back(a(i).end_ns - a(i - 1).end_ns);
    }
    return 16 * internal::quantile(apart, 0.5) <= internal::quantile(periods, 0.5);
  }

  /// How far the clocks would be apart with this shift; without clocks, how far it shifts.
  std::int64_t clocks_apart_ns(Shift shift) const {
    if (!a_.origin_ns || !b_.origin_ns) return std::abs(static_cast<std::int64_t>(shift));
    const auto at = static_cast<std::size_t>(std::max<Shift>(0, -shift));
    const auto other = static_cast<std::size_t>(std::max<Shift>(0, shift));
    return std::abs((*a_.origin_ns + a(at).end_ns) - (*b_.origin_ns + b(other).end_ns));
  }

  const Capture& a_;
  const Sequence& as_;
  const Capture& b_;
  const Sequence& bs_;
};

/// Unnamed communicators: each kind of collective is a sequence.
using Key = std::tuple<std::string, std::string, CollectiveKind>;

struct Group {
  Communicator about;
  std::vector<Sequence> sequences;  // by capture
};

std::map<Key, Group> groups_of(std::span<const Capture> captures) {
  std::map<Key, Group> groups;
  for (std::uint32_t c = 0; c < captures.size(); ++c) {
    const Capture& capture = captures[c];
    std::map<std::pair<std::uint32_t, CollectiveKind>, Sequence*> known;
    for (std::uint32_t v = 0; v < capture.visits.size(); ++v) {
      const Visit& visit = capture.visits[v];
      const Communicator& about = capture.communicators[visit.communicator];
      const CollectiveKind kind = about.group.empty() ? visit.kind : CollectiveKind::Unknown;
      Sequence*& sequence = known[{visit.communicator, kind}];
      if (sequence == nullptr) {
        Group& group = groups[{about.group, about.members, kind}];
        if (group.sequences.empty()) group.about = about;
        group.about.ranks = std::max(group.about.ranks, about.ranks);
        if (group.sequences.empty() || group.sequences.back().capture != c) {
          group.sequences.push_back({c, {}, true});
          // References to the sequences of this capture stay valid until the next capture.
        }
        sequence = &group.sequences.back();
      }
      sequence->visits.push_back(v);
      sequence->has_numbers = sequence->has_numbers && visit.sequence >= 0;
    }
  }
  return groups;
}

class Matcher {
 public:
  explicit Matcher(std::span<const Capture> captures) : captures_(captures) {}

  Matches run() {
    for (auto& [key, group] : groups_of(captures_)) add(group);
    return std::move(result_);
  }

 private:
  void add(const Group& group) {
    if (group.sequences.size() < 2) return;
    const auto number = static_cast<std::uint32_t>(result_.communicators.size());
    SharedCommunicator shared;
    shared.about = group.about;
    for (const Sequence& sequence : group.sequences) shared.captures.push_back(sequence.capture);
    result_.communicators.push_back(std::move(shared));
    const bool numbered =
        std::all_of(group.sequences.begin(), group.sequences.end(),
                    [](const Sequence& sequence) { return sequence.has_numbers; });
    if (!numbered || !match_by_number(group, number)) match_by_order(group, number);
  }

  /// False if numbers occur twice or name different collectives, as they do if they count
  /// something else.
  bool match_by_number(const Group& group, std::uint32_t communicator) {
    std::map<std::int64_t, Match> found;
    for (const Sequence& sequence : group.sequences) {
      for (const std::uint32_t v : sequence.visits) {
        const Visit& visit = captures_[sequence.capture].visits[v];
        Match& match = found[visit.sequence];
        match.communicator = communicator;
        if (!match.members.empty()) {
          const Member& first = match.members.front();
          if (match.members.back().capture == sequence.capture ||
              !can_be_same(captures_[first.capture].visits[first.visit], visit)) {
            return false;
          }
        }
        match.members.push_back({sequence.capture, v});
      }
    }
    for (auto& [sequence, match] : found) {
      if (match.members.size() > 1) result_.matches.push_back(std::move(match));
    }
    return true;
  }

  void match_by_order(const Group& group, std::uint32_t communicator) {
    const Sequence& base = *std::max_element(
        group.sequences.begin(), group.sequences.end(),
        [](const Sequence& a, const Sequence& b) { return a.visits.size() < b.visits.size(); });
    std::vector<Match> found(base.visits.size());
    for (Match& match : found) match.communicator = communicator;
    for (const Sequence& sequence : group.sequences) {
      std::optional<Shift> shift = 0;
      if (&sequence != &base) {
        shift = Comparison(captures_[base.capture], base, captures_[sequence.capture], sequence)
                    .find_shift();
      }
      if (!shift) {
        result_.notes.push_back(fmt::format(
            "the collectives of rank {}{} differ from those of rank {} and are not matched",
            captures_[sequence.capture].rank, of_group(group), captures_[base.capture].rank));
        continue;
      }
      if (*shift != 0) note_shift(group, sequence, base, *shift);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const Shift at = static_cast<Shift>(i) + *shift;
        if (at < 0 || at >= static_cast<Shift>(sequence.visits.size())) continue;
        found[i].members.push_back(
            {sequence.capture, sequence.visits[static_cast<std::size_t>(at)]});
      }
    }
    for (Match& match : found) {
      if (match.members.size() > 1) result_.matches.push_back(std::move(match));
    }
  }

  static std::string of_group(const Group& group) {
    return group.about.group.empty() ? "" : " in group " + group.about.group;
  }

  void note_shift(const Group& group, const Sequence& sequence, const Sequence& base, Shift shift) {
    const auto by = static_cast<std::uint64_t>(std::abs(shift));
    result_.notes.push_back(fmt::format(
        "the capture of rank {} begins {} {} than that of rank {}{}: matched by the times between "
        "their ends",
        captures_[sequence.capture].rank, counted(by, "collective"),
        shift < 0 ? "later" : "earlier", captures_[base.capture].rank, of_group(group)));
  }

  std::span<const Capture> captures_;
  Matches result_;
};

}  // namespace

Matches match(std::span<const Capture> captures) {
  return Matcher(captures).run();
}

}  // namespace profline::ranks
