#include "analysis/ranks/analysis.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include <fmt/core.h>

#include "analysis/ranks/clocks.h"
#include "analysis/ranks/internal/quantile.h"
#include "analysis/ranks/matching.h"
#include "analysis/timeline/transfers.h"
#include "base/figures.h"

namespace profline::ranks {
namespace {

using internal::quantile;

/// A matched collective, measured.
struct Measured {
  const Match* match = nullptr;
  std::vector<std::int64_t> arrivals_ns;  // by member; before the common end if not aligned
  std::int64_t begin_ns = 0;              // of the reference, if aligned
  std::int64_t length_ns = 0;             // first arrival to end
  std::int64_t skew_ns = 0;
  std::int64_t shortest_ns = 0;  // duration on the rank that it was shortest on
  std::optional<std::int64_t> uncertainty_ns;
  std::size_t first = 0;  // members
  std::size_t last = 0;
  std::int64_t lead_ns = 0;  // the last but one's arrival to the last one's
  std::int64_t lead_uncertainty_ns = 0;
  CollectiveClass kind = CollectiveClass::Inconclusive;
  bool is_complete = true;
};

std::string of_ranks(std::uint64_t captured, std::uint64_t ranks) {
  return fmt::format("{} of its {} ranks were captured", captured, ranks);
}

/// What a rank did to the others in collectives that it entered last.
struct Leads {
  std::vector<std::int64_t> ns;                // from the last but one's arrival to its own
  std::vector<std::int64_t> uncertainties_ns;  // of these

  /// The time in all of them, if the longest ones were no longer than the next: they may be
  /// hiccups.
  std::int64_t consistent_ns(std::size_t hiccups) const;
  std::int64_t all_ns() const { return std::accumulate(ns.begin(), ns.end(), std::int64_t{0}); }
};

std::int64_t Leads::consistent_ns(std::size_t hiccups) const {
  if (ns.size() <= hiccups) return 0;
  std::vector<std::int64_t> sorted = ns;
  const auto next = sorted.begin() + static_cast<std::ptrdiff_t>(hiccups);
  std::nth_element(sorted.begin(), next, sorted.end(), std::greater<>());
  const std::int64_t most_ns = *next;
  std::int64_t sum_ns = 0;
  for (const std::int64_t lead_ns : ns) sum_ns += std::min(lead_ns, most_ns);
  return sum_ns;
}

/// What ranks lost in the collectives of one phase, or of all.
struct Lateness {
  std::uint64_t collectives = 0;
  std::map<std::uint32_t, Leads> leads;  // by capture
};

/// The rank that causes most wait, and how much the next one causes.
struct Latest {
  std::uint32_t capture = 0;
  std::int64_t ns = 0;
  std::int64_t second_ns = 0;
};

template <typename NsOf>
Latest latest_of(const Lateness& lateness, NsOf ns_of) {
  Latest latest;
  for (const auto& [capture, leads] : lateness.leads) {
    const std::int64_t ns = ns_of(leads);
    if (ns > latest.ns) {
      latest = {capture, ns, latest.ns};
    } else {
      latest.second_ns = std::max(latest.second_ns, ns);
    }
  }
  return latest;
}

/// Of up to four waits for a rank, or 1 % of all, one cannot say more than that they happened; less
/// in short captures, where they are not few.
std::size_t hiccups_in(std::uint64_t collectives) {
  constexpr std::uint64_t kMost = 4;
  constexpr std::uint64_t kOneIn = 8;
  return std::max(std::min(kMost, collectives / kOneIn), collectives / 100);
}

Latest consistently_latest(const Lateness& lateness) {
  const std::size_t hiccups = hiccups_in(lateness.collectives);
  return latest_of(lateness, [&](const Leads& leads) { return leads.consistent_ns(hiccups); });
}

/// The most that a rank other than this one causes, hiccups included.
std::int64_t most_of_others(const Lateness& lateness, std::uint32_t late) {
  std::int64_t most_ns = 0;
  for (const auto& [capture, leads] : lateness.leads) {
    if (capture != late) most_ns = std::max(most_ns, leads.all_ns());
  }
  return most_ns;
}

/// Whether a rank is last more often, by two standard deviations, than if each rank were as likely.
bool is_more_than_chance(std::size_t last, std::uint64_t collectives, std::size_t ranks) {
  const double share = 1.0 / static_cast<double>(ranks);
  const double expected = static_cast<double>(collectives) * share;
  return static_cast<double>(last) > expected + 2 * std::sqrt(expected * (1 - share));
}

class Analyst {
 public:
  explicit Analyst(std::span<const Capture> captures)
      : captures_(captures), matches_(match(captures)), clocks_(align(captures, matches_)) {}

  std::vector<CollectiveClass> classes() {
    measure();
    std::vector<CollectiveClass> classes;
    for (const Measured& one : measured_) classes.push_back(one.kind);
    return classes;
  }

  RankAnalysis run() {
    measure();
    add_ranks();
    add_stragglers();
    add_collectives();
    add_longest();
    add_totals();
    add_notes();
    add_findings();
    return std::move(result_);
  }

 private:
  const Capture& capture(const Member& member) const { return captures_[member.capture]; }
  const Visit& visit(const Member& member) const {
    return captures_[member.capture].visits[member.visit];
  }
  std::int64_t rank(const Member& member) const { return captures_[member.capture].rank; }
  const SharedCommunicator& communicator(const Match& match) const {
    return matches_.communicators[match.communicator];
  }
  /// How many ranks take part. If it is not recorded, each rank without a capture may be one.
  std::uint64_t ranks_of(const Match& match) const {
    const SharedCommunicator& shared = communicator(match);
    const std::uint64_t captured = shared.captures.size();
    if (shared.about.ranks > 0) return std::max<std::uint64_t>(shared.about.ranks, captured);
    return captured + not_captured();
  }
  std::uint64_t world_size() const;
  std::uint64_t not_captured() const {
    return world_size() > captures_.size() ? world_size() - captures_.size() : 0;
  }
  const std::string& phase_of(const Match& match) const {
    return capture(match.members.front()).names.text(visit(match.members.front()).phase);
  }
  const std::string& name_of(const Match& match) const {
    return capture(match.members.front()).names.text(visit(match.members.front()).name);
  }

  void measure();
  Measured measured(const Match& match) const;
  void add_ranks();
  RankClock clock_of(std::size_t c) const;
  void add_stragglers();
  RankStraggler straggler_of(const std::string& phase, const Lateness& lateness) const;
  void find_cause(std::uint32_t late, RankStraggler& straggler) const;
  bool did_the_same() const;
  void find_longest(RankStraggler& straggler) const;
  void add_collectives();
  void add_longest();
  void add_totals();
  void add_notes();
  void add_findings();
  void add_clock_finding();
  std::string evidence_of(const Measured& measured) const;

  std::span<const Capture> captures_;
  Matches matches_;
  std::vector<Alignment> clocks_;
  std::vector<Measured> measured_;
  RankAnalysis result_;
};

/// 0: not known.
std::uint64_t Analyst::world_size() const {
  std::int64_t size = 0;
  for (const Capture& capture : captures_) size = std::max(size, capture.world_size);
  return static_cast<std::uint64_t>(size);
}

void Analyst::measure() {
  measured_.reserve(matches_.matches.size());
  for (const Match& match : matches_.matches) measured_.push_back(measured(match));
}

/// With aligned clocks, arrivals are where they are. Without, a rank arrived as long before the end
/// as it took, because all leave together.
Measured Analyst::measured(const Match& match) const {
  Measured found;
  found.match = &match;
  const bool aligned =
      std::all_of(match.members.begin(), match.members.end(),
                  [&](const Member& member) { return clocks_[member.capture].is_aligned(); });
  std::vector<std::int64_t> ends_ns;
  found.shortest_ns = visit(match.members.front()).duration_ns();
  for (const Member& member : match.members) {
    const Visit& own = visit(member);
    const ClockMap& map = clocks_[member.capture].map;
    found.arrivals_ns.push_back(aligned ? map.apply(own.start_ns) : -own.duration_ns());
    ends_ns.push_back(aligned ? map.apply(own.end_ns) : 0);
    found.shortest_ns = std::min(found.shortest_ns, own.duration_ns());
  }
  const auto [first, last] =
      std::minmax_element(found.arrivals_ns.begin(), found.arrivals_ns.end());
  found.first = static_cast<std::size_t>(first - found.arrivals_ns.begin());
  found.last = static_cast<std::size_t>(last - found.arrivals_ns.begin());
  found.skew_ns = *last - *first;
  std::size_t last_but_one = found.first;
  for (std::size_t i = 0; i < found.arrivals_ns.size(); ++i) {
    if (i != found.last && found.arrivals_ns[i] > found.arrivals_ns[last_but_one]) last_but_one = i;
  }
  found.lead_ns = *last - found.arrivals_ns[last_but_one];
  found.length_ns = quantile(ends_ns, 0.5) - *first;
  if (aligned) {
    found.begin_ns = *first;
    const auto uncertainty_ns = [&](std::size_t member) {
      return clocks_[match.members[member].capture].uncertainty_ns;
    };
    found.uncertainty_ns = uncertainty_ns(found.first) + uncertainty_ns(found.last);
    found.lead_uncertainty_ns = uncertainty_ns(last_but_one) + uncertainty_ns(found.last);
  }
  found.is_complete = match.members.size() >= ranks_of(match);
  found.kind = class_of(found.length_ns, found.skew_ns, found.uncertainty_ns, found.is_complete);
  return found;
}

RankClock Analyst::clock_of(std::size_t c) const {
  const Alignment& alignment = clocks_[c];
  RankClock clock;
  clock.state = alignment.state;
  clock.matched = alignment.pairs;
  clock.why_not = alignment.why_not;
  if (!alignment.is_aligned()) return clock;
  clock.uncertainty_ns = alignment.uncertainty_ns;
  // Its clock runs fast if the reference's time grows less than its own.
  clock.rate_ppm = -alignment.map.rate * 1e6;
  const auto reference = std::find_if(clocks_.begin(), clocks_.end(), [](const Alignment& other) {
    return other.state == ClockState::Reference;
  });
  const Capture& other = captures_[static_cast<std::size_t>(reference - clocks_.begin())];
  if (captures_[c].origin_ns && other.origin_ns) {
    const std::int64_t own_ns = *captures_[c].origin_ns;
    clock.ahead_ns = own_ns - *other.origin_ns - alignment.map.apply(0);
  }
  return clock;
}

void Analyst::add_ranks() {
  for (std::size_t c = 0; c < captures_.size(); ++c) {
    const Capture& capture = captures_[c];
    RankRow row;
    row.rank = capture.rank;
    row.source = capture.source;
    row.tool = capture.tool;
    row.time = capture.time;
    row.clock = clock_of(c);
    row.collectives = capture.visits.size();
    row.phases = capture.phases;
    row.losses = capture.losses;
    result_.ranks.push_back(std::move(row));
  }
  for (const Measured& one : measured_) {
    const std::vector<Member>& members = one.match->members;
    for (std::size_t i = 0; i < members.size(); ++i) {
      RankRow& row = result_.ranks[members[i].capture];
      ++row.matched;
      row.waited_ns += one.arrivals_ns[one.last] - one.arrivals_ns[i];
      if (i != one.last) continue;
      ++row.last;
      row.caused_ns += one.lead_ns;
    }
  }
}

void Analyst::add_stragglers() {
  Lateness all;
  std::map<std::string, Lateness> phases;
  for (const Measured& one : measured_) {
    const std::uint32_t late = one.match->members[one.last].capture;
    for (Lateness* lateness : {&all, &phases[phase_of(*one.match)]}) {
      ++lateness->collectives;
      lateness->leads[late].ns.push_back(one.lead_ns);
      lateness->leads[late].uncertainties_ns.push_back(one.lead_uncertainty_ns);
    }
  }
  result_.stragglers.push_back(straggler_of("", all));
  if (all.collectives < kFewestCollectives) find_longest(result_.stragglers.front());
  // By what is consistent: one long hiccup does not make a phase the one that costs most.
  std::vector<std::pair<std::int64_t, const std::string*>> order;
  for (const auto& [phase, lateness] : phases) {
    if (phase.empty() || lateness.collectives < kFewestCollectives) continue;
    order.emplace_back(-consistently_latest(lateness).ns, &phase);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr std::size_t kMostPhases = 16;
  if (order.size() > kMostPhases) order.resize(kMostPhases);
  for (const auto& [ns, phase] : order) {
    result_.stragglers.push_back(straggler_of(*phase, phases.at(*phase)));
  }
}

/// A rank is late consistently if it causes at least twice the wait of any other, and more than the
/// clocks' uncertainty and chance explain. Hiccups are left out of the comparison: a few long waits
/// for one rank must not hide that another one is always late.
RankStraggler Analyst::straggler_of(const std::string& phase, const Lateness& lateness) const {
  RankStraggler straggler;
  straggler.phase = phase;
  straggler.collectives = lateness.collectives;
  const Latest any = latest_of(lateness, [](const Leads& leads) { return leads.all_ns(); });
  if (lateness.collectives < kFewestCollectives || any.ns == 0) {
    straggler.caused_ns = any.ns;
    straggler.evidence = lateness.collectives < kFewestCollectives
                             ? "too few collectives were matched to say"
                             : "no rank waits for another";
    return straggler;
  }
  const Latest consistent = consistently_latest(lateness);
  const std::uint32_t late = consistent.ns > 0 ? consistent.capture : any.capture;
  const Leads& leads = lateness.leads.at(late);
  straggler.last = leads.ns.size();
  straggler.caused_ns = leads.all_ns();
  std::int64_t wall_ns = 0;
  for (const Capture& capture : captures_) wall_ns = std::max(wall_ns, capture.time.wall_ns);
  straggler.share =
      wall_ns > 0 ? static_cast<double>(straggler.caused_ns) / static_cast<double>(wall_ns) : 0;
  const auto times = static_cast<double>(leads.ns.size());
  const std::string evidence =
      fmt::format("the last in {} of {}, {} after the last but one on average", straggler.last,
                  counted(lateness.collectives, "collective"),
                  duration(static_cast<double>(straggler.caused_ns) / times));
  const bool is_often = consistent.ns > 0 && leads.ns.size() >= kFewestCollectives;
  const bool is_alone =
      leads.all_ns() >= 2 * most_of_others(lateness, late) ||
      (consistent.ns >= 2 * consistent.second_ns &&
       is_more_than_chance(leads.ns.size(), lateness.collectives, captures_.size()));
  const bool is_long = static_cast<double>(consistent.ns) / times >
                       static_cast<double>(quantile(leads.uncertainties_ns, 0.5));
  if (is_alone && is_often && is_long) {
    straggler.rank = captures_[late].rank;
    straggler.evidence = evidence;
    find_cause(late, straggler);
    return straggler;
  }
  straggler.evidence = fmt::format("rank {} is {}{}", captures_[late].rank, evidence,
                                   !is_often   ? ", which may be chance"
                                   : !is_alone ? ", but other ranks are late as much"
                                               : ", which is within the uncertainty of the clocks");
  return straggler;
}

/// What the late rank does longer than the others, in the phase or overall. All ranks wait for it,
/// so what it does longer is about as long as the wait it causes.
void Analyst::find_cause(std::uint32_t late, RankStraggler& straggler) const {
  struct Part {
    std::string_view name;
    std::int64_t RankTime::*value;
    std::string_view what;
  };
  const bool has_device = captures_[late].has_device_work;
  const Part parts[] = {
      {"compute", &RankTime::compute_ns, "computes"},
      {"host", &RankTime::idle_ns,
       has_device ? "leaves its device idle" : "neither computes nor communicates"},
      {"copies", &RankTime::copy_ns, "copies"},
  };
  const auto time_of = [&](std::size_t c) -> const RankTime* {
    if (straggler.phase.empty()) return &captures_[c].time;
    for (const RankPhase& phase : captures_[c].phases) {
      if (phase.name == straggler.phase) return &phase.time;
    }
    return nullptr;
  };
  const RankTime* own = time_of(late);
  if (own == nullptr) return;
  std::int64_t most_ns = 0;
  for (const Part& part : parts) {
    std::vector<std::int64_t> others;
    for (std::size_t c = 0; c < captures_.size(); ++c) {
      const RankTime* time = c == late ? nullptr : time_of(c);
      if (time != nullptr) others.push_back(time->*part.value);
    }
    if (others.empty()) continue;
    const std::int64_t usual_ns = quantile(others, 0.5);
    const std::int64_t more_ns = own->*part.value - usual_ns;
    if (more_ns <= most_ns || 2 * more_ns < straggler.caused_ns) continue;
    most_ns = more_ns;
    straggler.cause = part.name;
    straggler.evidence.resize(std::min(straggler.evidence.size(), straggler.evidence.find(';')));
    straggler.evidence += fmt::format("; it {} for {}, the others for {}", part.what,
                                      duration(own->*part.value), duration(usual_ns));
  }
}

/// Whether all ranks ran their longest phase equally often, and no collective.
bool Analyst::did_the_same() const {
  return std::all_of(captures_.begin(), captures_.end(), [&](const Capture& capture) {
    return capture.visits.empty() && capture.pairwise == 0 && !capture.phases.empty() &&
           !captures_.front().phases.empty() &&
           capture.phases.front().name == captures_.front().phases.front().name &&
           capture.phases.front().instances == captures_.front().phases.front().instances;
  });
}

/// Without collectives it is unknown who waits, but a rank may compute for clearly longer.
void Analyst::find_longest(RankStraggler& straggler) const {
  if (captures_.size() < 2 || !did_the_same()) return;
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t c = 0; c < captures_.size(); ++c) {
    order.emplace_back(captures_[c].time.compute_ns, c);
  }
  std::sort(order.rbegin(), order.rend());
  std::vector<std::int64_t> others;
  for (std::size_t i = 1; i < order.size(); ++i) others.push_back(order[i].first);
  const std::int64_t usual_ns = quantile(others, 0.5);
  const std::int64_t more_ns = order[0].first - usual_ns;
  constexpr double kClearly = 0.05;
  if (static_cast<double>(more_ns) < kClearly * static_cast<double>(usual_ns)) return;
  if (more_ns < 2 * (order[1].first - usual_ns)) return;
  const Capture& late = captures_[order[0].second];
  straggler.rank = late.rank;
  straggler.caused_ns = more_ns;
  straggler.share = late.time.wall_ns > 0
                        ? static_cast<double>(more_ns) / static_cast<double>(late.time.wall_ns)
                        : 0;
  straggler.cause = "compute";
  straggler.evidence =
      fmt::format("it computes for {}, the others for {}; no collectives show who waits",
                  duration(order[0].first), duration(usual_ns));
}

std::string Analyst::evidence_of(const Measured& measured) const {
  const std::string skew =
      measured.uncertainty_ns
          ? fmt::format("skew {} ± {} of {}", duration(measured.skew_ns),
                        duration(*measured.uncertainty_ns), duration(measured.length_ns))
          : fmt::format("skew {} of {} by durations, clocks not aligned",
                        duration(measured.skew_ns), duration(measured.length_ns));
  if (measured.is_complete) return skew;
  return skew + "; " + of_ranks(measured.match->members.size(), ranks_of(*measured.match));
}

void Analyst::add_collectives() {
  using Key = std::tuple<std::uint32_t, std::string, std::uint64_t, std::string>;
  std::map<Key, std::vector<const Measured*>> groups;
  for (const Measured& one : measured_) {
    const Visit& first = visit(one.match->members.front());
    const Names& names = capture(one.match->members.front()).names;
    groups[{one.match->communicator, name_of(*one.match), first.bytes, names.text(first.dtype)}]
        .push_back(&one);
  }
  for (const auto& [key, group] : groups) {
    RankCollective row;
    const Match& match = *group.front()->match;
    row.name = std::get<1>(key);
    row.communicator = communicator(match).about.group;
    row.ranks = communicator(match).about.ranks;
    row.captured = communicator(match).captures.size();
    if (std::get<2>(key) > 0) row.bytes = std::get<2>(key);
    row.instances = group.size();
    std::vector<std::int64_t> skews;
    for (const Measured* one : group) {
      row.mean_ns += static_cast<double>(one->length_ns);
      row.transfer_ns += static_cast<double>(one->shortest_ns);
      skews.push_back(one->skew_ns);
      row.classes.add(one->kind);
    }
    row.mean_ns /= static_cast<double>(group.size());
    row.transfer_ns /= static_cast<double>(group.size());
    row.skew_median_ns = static_cast<double>(quantile(skews, 0.5));
    row.skew_p90_ns = static_cast<double>(quantile(skews, 0.9));
    const auto factor = timeline::bus_factor(row.name, static_cast<std::uint32_t>(row.ranks));
    if (row.bytes && row.transfer_ns > 0) {
      row.gb_per_s = static_cast<double>(*row.bytes) / row.transfer_ns;
      if (factor) row.bus_gb_per_s = *row.gb_per_s * *factor;
    }
    row.kind = row.classes.overall();
    row.evidence = fmt::format("median skew {} of {} on average", duration(row.skew_median_ns),
                               duration(row.mean_ns));
    if (ranks_of(match) > row.captured) {
      row.evidence += "; " + of_ranks(row.captured, ranks_of(match));
    }
    result_.collectives.push_back(std::move(row));
  }
  std::stable_sort(result_.collectives.begin(), result_.collectives.end(),
                   [](const RankCollective& a, const RankCollective& b) {
                     return a.mean_ns * static_cast<double>(a.instances) >
                            b.mean_ns * static_cast<double>(b.instances);
                   });
}

void Analyst::add_longest() {
  std::vector<const Measured*> order;
  for (const Measured& one : measured_) order.push_back(&one);
  constexpr std::size_t kMost = 10;
  const std::size_t shown = std::min(kMost, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [](const Measured* a, const Measured* b) {
                      return std::pair(b->skew_ns, a) < std::pair(a->skew_ns, b);
                    });
  for (std::size_t i = 0; i < shown; ++i) {
    const Measured& one = *order[i];
    const std::vector<Member>& members = one.match->members;
    RankInstance row;
    row.name = name_of(*one.match);
    row.communicator = communicator(*one.match).about.group;
    row.phase = phase_of(*one.match);
    if (one.uncertainty_ns) row.begin_ns = one.begin_ns;
    row.ns = one.length_ns;
    row.skew_ns = one.skew_ns;
    row.uncertainty_ns = one.uncertainty_ns;
    row.first = rank(members[one.first]);
    row.last = rank(members[one.last]);
    row.kind = one.kind;
    row.evidence = evidence_of(one);
    result_.longest_skews.push_back(std::move(row));
  }
}

void Analyst::add_totals() {
  RankTime all;
  for (const Capture& capture : captures_) all += capture.time;
  result_.world_size = world_size();
  result_.exposed_share = all.exposed_share();
  std::vector<std::int64_t> skews;
  for (const Measured& one : measured_) {
    skews.push_back(one.skew_ns);
    result_.classes.add(one.kind);
  }
  result_.skew.collectives = skews.size();
  if (skews.empty()) return;
  result_.skew.median_ns = static_cast<double>(quantile(skews, 0.5));
  result_.skew.p90_ns = static_cast<double>(quantile(skews, 0.9));
  result_.skew.max_ns = static_cast<double>(*std::max_element(skews.begin(), skews.end()));
}

void Analyst::add_notes() {
  result_.notes = matches_.notes;
  std::uint64_t pairwise = 0;
  std::uint64_t unnamed = 0;
  for (const Capture& capture : captures_) {
    pairwise += capture.pairwise;
    for (const Visit& visit : capture.visits) {
      if (capture.communicators[visit.communicator].group.empty()) ++unnamed;
    }
  }
  if (pairwise > 0) {
    result_.notes.push_back(counted(pairwise, "send or receive", "sends and receives") +
                            " between two ranks: counted as communication, not matched");
  }
  if (unnamed > 0) {
    result_.notes.push_back(
        counted(unnamed, "collective does not say which communicator it belongs",
                "collectives do not say which communicator they belong") +
        " to: matched by order, each kind on its own; those of different groups may be confused");
  }
  if (not_captured() > 0) {
    result_.notes.push_back(fmt::format(
        "{} of {} ranks were captured: a rank that was not may be later than those shown",
        captures_.size(), result_.world_size));
  }
}

void Analyst::add_clock_finding() {
  std::uint64_t aligned = 0;
  std::int64_t worst_ns = 0;
  std::int64_t reference = 0;
  for (const RankRow& row : result_.ranks) {
    if (row.clock.state == ClockState::Reference) reference = row.rank;
    if (row.clock.state == ClockState::NotAligned) continue;
    ++aligned;
    worst_ns = std::max(worst_ns, row.clock.uncertainty_ns);
  }
  if (aligned > 1) {
    result_.findings.push_back(
        fmt::format("The clocks of {} of {} ranks are aligned to that of rank {}, within ±{}.",
                    aligned, result_.ranks.size(), reference, duration(worst_ns)));
  }
  for (const RankRow& row : result_.ranks) {
    if (row.clock.state != ClockState::NotAligned) continue;
    result_.findings.push_back(fmt::format(
        "The clock of rank {} could not be aligned, so it is compared by durations only: {}.",
        row.rank, row.clock.why_not));
  }
}

void Analyst::add_findings() {
  if (captures_.size() > 1) {
    const RankStraggler& overall = result_.stragglers.front();
    if (!overall.rank) {
      result_.findings.push_back("No rank is late consistently: " + overall.evidence + ".");
    } else if (overall.collectives == 0) {
      result_.findings.push_back(
          fmt::format("Rank {} takes longest: {}.", *overall.rank, overall.evidence));
    } else {
      result_.findings.push_back(fmt::format("Rank {} is late: {}. That costs {}, {} of the time.",
                                             *overall.rank, overall.evidence,
                                             duration(overall.caused_ns), percent(overall.share)));
    }
  }
  RankTime all;
  for (const RankRow& row : result_.ranks) all += row.time;
  if (all.communication_ns() > 0) {
    result_.findings.push_back(fmt::format(
        "Communication is exposed for {} of the time; another {} overlaps with computation.",
        percent_of(all.exposed_ns, all.wall_ns), percent_of(all.overlapped_ns, all.wall_ns)));
  }
  if (result_.classes.all() > 0) {
    const ClassCounts& classes = result_.classes;
    result_.findings.push_back(fmt::format(
        "Of {}, {} are transfer-dominated, {} skew-dominated, {} mixed and {} inconclusive.",
        counted(classes.all(), "matched collective"), classes.transfer, classes.skew, classes.mixed,
        classes.inconclusive));
  }
  add_clock_finding();
}

}  // namespace

CollectiveClass class_of(std::int64_t length_ns, std::int64_t skew_ns,
                         std::optional<std::int64_t> uncertainty_ns, bool is_complete) {
  if (!uncertainty_ns || length_ns <= 0) return CollectiveClass::Inconclusive;
  const auto of_share = [&](std::int64_t ns) {
    constexpr double kThird = 1.0 / 3;
    const double share = static_cast<double>(ns) / static_cast<double>(length_ns);
    if (share <= kThird) return CollectiveClass::Transfer;
    return share >= 2 * kThird ? CollectiveClass::Skew : CollectiveClass::Mixed;
  };
  const CollectiveClass least = of_share(skew_ns - *uncertainty_ns);
  if (least != of_share(skew_ns + *uncertainty_ns)) return CollectiveClass::Inconclusive;
  // A rank that was not captured may have arrived later: then there is even more skew.
  if (!is_complete && least != CollectiveClass::Skew) return CollectiveClass::Inconclusive;
  return least;
}

std::vector<CollectiveClass> classes_of(std::span<const Capture> captures) {
  return Analyst(captures).classes();
}

RankAnalysis analyse(std::span<const Capture> captures) {
  return Analyst(captures).run();
}

}  // namespace profline::ranks
