#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/document.h"
#include "schema/field.h"

/// One program on many ranks, compared: what `profline ranks` prints and `summary.json` contains.
/// docs/formats/ranks.md describes every field.
namespace profline {

/// Where the time of a rank went. Each nanosecond is counted once: compute_ns + copy_ns +
/// exposed_ns + idle_ns equals wall_ns.
struct RankTime {
  std::int64_t wall_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t copy_ns = 0;
  std::int64_t exposed_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t overlapped_ns = 0;  ///< part of compute_ns

  std::int64_t busy_ns() const { return wall_ns - idle_ns; }
  std::int64_t communication_ns() const { return exposed_ns + overlapped_ns; }
  /// Nothing if there is no time at all.
  std::optional<double> exposed_share() const {
    if (wall_ns <= 0) return std::nullopt;
    return static_cast<double>(exposed_ns) / static_cast<double>(wall_ns);
  }
  RankTime& operator+=(const RankTime& other) {
    wall_ns += other.wall_ns;
    compute_ns += other.compute_ns;
    copy_ns += other.copy_ns;
    exposed_ns += other.exposed_ns;
    idle_ns += other.idle_ns;
    overlapped_ns += other.overlapped_ns;
    return *this;
  }
  bool operator==(const RankTime&) const = default;
};
constexpr auto fields(std::type_identity<RankTime>) {
  return field_list(
      field("wall_ns", &RankTime::wall_ns, "captured").required(),
      field("compute_ns", &RankTime::compute_ns, "a kernel other than a collective ran").required(),
      field("copy_ns", &RankTime::copy_ns, "only copies and fills ran").required(),
      field("exposed_ns", &RankTime::exposed_ns, "a collective ran and no other kernel").required(),
      field("idle_ns", &RankTime::idle_ns, "nothing ran").required(),
      field("overlapped_ns", &RankTime::overlapped_ns, "the part of compute_ns with a collective")
          .required());
}

/// How a rank's times were brought onto the clock of the reference rank.
enum class ClockState {
  Reference,  ///< it is the one
  Aligned,
  NotAligned,  ///< compared by durations only
};
constexpr auto names(std::type_identity<ClockState>) {
  return std::array{named(ClockState::Reference, "reference"),
                    named(ClockState::Aligned, "aligned"),
                    named(ClockState::NotAligned, "not-aligned")};
}

struct RankClock {
  ClockState state = ClockState::NotAligned;
  std::optional<std::int64_t> ahead_ns;
  double rate_ppm = 0;
  std::int64_t uncertainty_ns = 0;
  std::uint64_t matched = 0;
  std::string why_not;

  bool operator==(const RankClock&) const = default;
};
constexpr auto fields(std::type_identity<RankClock>) {
  return field_list(
      field("state", &RankClock::state, "reference, aligned or not-aligned").required(),
      field("ahead_ns", &RankClock::ahead_ns,
            "of the reference's clock, at the beginning; null: not aligned, or the captures do not "
            "say when they began"),
      field("rate_ppm", &RankClock::rate_ppm,
            "how much faster it runs, in parts per million; 0: "
            "no difference was found"),
      field("uncertainty_ns", &RankClock::uncertainty_ns,
            "nine in ten matched collectives end within this of each other, outliers apart"),
      field("matched", &RankClock::matched, "collectives that the alignment is from"),
      field("why_not", &RankClock::why_not, "empty: it is aligned"));
}

/// A named part of the program on one rank.
struct RankPhase {
  std::string name;
  std::uint64_t instances = 0;
  RankTime time;

  bool operator==(const RankPhase&) const = default;
};
constexpr auto fields(std::type_identity<RankPhase>) {
  return field_list(field("name", &RankPhase::name, "of its ranges").required(),
                    field("instances", &RankPhase::instances, "how often it ran"),
                    field("time", &RankPhase::time, "where it went").required());
}

struct RankRow {
  std::int64_t rank = 0;
  std::string source;
  std::string tool;
  std::string node;
  std::string end;
  RankTime time;
  RankClock clock;
  std::uint64_t collectives = 0;
  std::uint64_t matched = 0;
  std::int64_t waited_ns = 0;
  std::uint64_t last = 0;
  std::int64_t caused_ns = 0;
  std::vector<RankPhase> phases;
  std::vector<std::string> losses;

  bool operator==(const RankRow&) const = default;
};
constexpr auto fields(std::type_identity<RankRow>) {
  return field_list(
      field("rank", &RankRow::rank, "its number").required(),
      field("source", &RankRow::source, "file").required(),
      field("tool", &RankRow::tool, "that captured it"),
      field("node", &RankRow::node, "where it ran; empty: not known"),
      field("end", &RankRow::end, "how its process ended; empty: not known"),
      field("time", &RankRow::time, "where it went").required(),
      field("clock", &RankRow::clock, "how it was aligned").required(),
      field("collectives", &RankRow::collectives, "in its capture"),
      field("matched", &RankRow::matched, "of those, with the same one on other ranks"),
      field("waited_ns", &RankRow::waited_ns, "in matched collectives, for the last to arrive"),
      field("last", &RankRow::last, "matched collectives that it was the last to enter"),
      field("caused_ns", &RankRow::caused_ns,
            "in those, from the last but one's arrival to its own"),
      field("phases", &RankRow::phases, "longest first"),
      field("losses", &RankRow::losses, "what its capture lacks"));
}

/// What the time of a collective is.
enum class CollectiveClass {
  Transfer,      ///< mostly after the last rank arrived
  Skew,          ///< mostly waiting for the last rank
  Mixed,         ///< some of both
  Inconclusive,  ///< it cannot be said
};
constexpr auto names(std::type_identity<CollectiveClass>) {
  return std::array{named(CollectiveClass::Transfer, "transfer-dominated"),
                    named(CollectiveClass::Skew, "skew-dominated"),
                    named(CollectiveClass::Mixed, "mixed"),
                    named(CollectiveClass::Inconclusive, "inconclusive")};
}
/// `transfer-dominated`
std::string_view to_text(CollectiveClass what);

/// Matched collectives of one class each, counted.
struct ClassCounts {
  std::uint64_t transfer = 0;
  std::uint64_t skew = 0;
  std::uint64_t mixed = 0;
  std::uint64_t inconclusive = 0;

  void add(CollectiveClass what);
  std::uint64_t all() const { return transfer + skew + mixed + inconclusive; }
  /// The class of at least two thirds of them, else mixed; inconclusive if half of them are.
  CollectiveClass overall() const;
  bool operator==(const ClassCounts&) const = default;
};
constexpr auto fields(std::type_identity<ClassCounts>) {
  return field_list(
      field("transfer", &ClassCounts::transfer, "transfer-dominated").required(),
      field("skew", &ClassCounts::skew, "skew-dominated").required(),
      field("mixed", &ClassCounts::mixed, "some of both").required(),
      field("inconclusive", &ClassCounts::inconclusive, "it cannot be said").required());
}

/// Matched collectives of one kind, size and communicator.
struct RankCollective {
  std::string name;
  std::string communicator;
  std::uint64_t ranks = 0;
  std::uint64_t captured = 0;
  std::optional<std::uint64_t> bytes;
  std::uint64_t instances = 0;
  double mean_ns = 0;
  double transfer_ns = 0;
  double skew_median_ns = 0;
  double skew_p90_ns = 0;
  std::optional<double> gb_per_s;
  std::optional<double> bus_gb_per_s;
  ClassCounts classes;
  CollectiveClass kind = CollectiveClass::Inconclusive;
  std::string evidence;

  bool operator==(const RankCollective&) const = default;
};
constexpr auto fields(std::type_identity<RankCollective>) {
  return field_list(
      field("name", &RankCollective::name, "as the first rank wrote it").required(),
      field("communicator", &RankCollective::communicator, "its group; empty: not recorded"),
      field("ranks", &RankCollective::ranks, "of the communicator; 0: not recorded"),
      field("captured", &RankCollective::captured, "of those, with a capture").required(),
      field("bytes", &RankCollective::bytes, "of one; null: not recorded"),
      field("instances", &RankCollective::instances, "that were matched").required(),
      field("mean_ns", &RankCollective::mean_ns, "from the first arrival to the end").required(),
      field("transfer_ns", &RankCollective::transfer_ns,
            "mean of the shortest duration on any rank: that of the last to arrive")
          .required(),
      field("skew_median_ns", &RankCollective::skew_median_ns,
            "from the first arrival to the last"),
      field("skew_p90_ns", &RankCollective::skew_p90_ns, "nine in ten are shorter"),
      field("gb_per_s", &RankCollective::gb_per_s, "bytes during transfer_ns; null: size unknown"),
      field("bus_gb_per_s", &RankCollective::bus_gb_per_s, "the same as nccl-tests count it"),
      field("classes", &RankCollective::classes, "of each instance").required(),
      field("class", &RankCollective::kind, "of most of them").required(),
      field("evidence", &RankCollective::evidence, "for the class"));
}

/// One matched collective.
struct RankInstance {
  std::string name;
  std::string communicator;
  std::string phase;
  std::optional<std::int64_t> begin_ns;
  std::int64_t ns = 0;
  std::int64_t skew_ns = 0;
  std::optional<std::int64_t> uncertainty_ns;
  std::int64_t first = 0;
  std::int64_t last = 0;
  CollectiveClass kind = CollectiveClass::Inconclusive;
  std::string evidence;

  bool operator==(const RankInstance&) const = default;
};
constexpr auto fields(std::type_identity<RankInstance>) {
  return field_list(
      field("name", &RankInstance::name, "as the first rank wrote it").required(),
      field("communicator", &RankInstance::communicator, "its group; empty: not recorded"),
      field("phase", &RankInstance::phase, "that launched it; empty: none"),
      field("begin_ns", &RankInstance::begin_ns,
            "first arrival, since the reference's capture began; null: not aligned"),
      field("ns", &RankInstance::ns, "from the first arrival to the end").required(),
      field("skew_ns", &RankInstance::skew_ns, "from the first arrival to the last").required(),
      field("uncertainty_ns", &RankInstance::uncertainty_ns, "of skew_ns; null: not aligned"),
      field("first", &RankInstance::first, "rank that arrived first").required(),
      field("last", &RankInstance::last, "rank that arrived last").required(),
      field("class", &RankInstance::kind, "what its time is").required(),
      field("evidence", &RankInstance::evidence, "for the class"));
}

/// Who is late, in one phase or overall.
struct RankStraggler {
  std::string phase;
  std::optional<std::int64_t> rank;
  std::uint64_t collectives = 0;
  std::uint64_t last = 0;
  std::int64_t caused_ns = 0;
  double share = 0;
  std::string cause;
  std::string evidence;

  bool operator==(const RankStraggler&) const = default;
};
constexpr auto fields(std::type_identity<RankStraggler>) {
  return field_list(
      field("phase", &RankStraggler::phase, "empty: the whole capture").required(),
      field("rank", &RankStraggler::rank, "that is late; null: no rank is late consistently"),
      field("collectives", &RankStraggler::collectives, "that were matched").required(),
      field("last", &RankStraggler::last, "of those, that it entered last").required(),
      field("caused_ns", &RankStraggler::caused_ns,
            "what would be saved if it were as early as the last but one")
          .required(),
      field("share", &RankStraggler::share, "of the captured time, 0 to 1").required(),
      field("cause", &RankStraggler::cause, "compute, host, copies, or empty: not known"),
      field("evidence", &RankStraggler::evidence, "for rank and cause"));
}

/// Skews of all matched collectives.
struct RankSkew {
  std::uint64_t collectives = 0;
  double median_ns = 0;
  double p90_ns = 0;
  double max_ns = 0;

  bool operator==(const RankSkew&) const = default;
};
constexpr auto fields(std::type_identity<RankSkew>) {
  return field_list(field("collectives", &RankSkew::collectives, "that were matched").required(),
                    field("median_ns", &RankSkew::median_ns, "from the first arrival to the last"),
                    field("p90_ns", &RankSkew::p90_ns, "nine in ten are shorter"),
                    field("max_ns", &RankSkew::max_ns, "the longest"));
}

struct RankAnalysis {
  static constexpr DocumentKind kKind{"rank_analysis", 1};

  std::string ranks_from;
  std::string captured_by;
  std::uint64_t world_size = 0;
  std::vector<std::string> findings;
  std::optional<double> exposed_share;
  RankSkew skew;
  ClassCounts classes;
  std::vector<RankRow> ranks;
  std::vector<RankStraggler> stragglers;
  std::vector<RankCollective> collectives;
  std::vector<RankInstance> longest_skews;
  std::vector<std::string> notes;

  bool operator==(const RankAnalysis&) const = default;

  /// The rank that is late overall; nothing if none is.
  std::optional<std::int64_t> straggler() const {
    return stragglers.empty() ? std::nullopt : stragglers.front().rank;
  }
};
constexpr auto fields(std::type_identity<RankAnalysis>) {
  return field_list(
      field("ranks_from", &RankAnalysis::ranks_from, "how each capture's rank is known").required(),
      field("captured_by", &RankAnalysis::captured_by,
            "the stage whose captures these are; empty: "
            "files from elsewhere"),
      field("world_size", &RankAnalysis::world_size, "ranks of the job; 0: not known"),
      field("findings", &RankAnalysis::findings, "the result, in sentences").required(),
      field("exposed_share", &RankAnalysis::exposed_share,
            "of all ranks' captured time: communication without computation"),
      field("skew", &RankAnalysis::skew, "of all matched collectives").required(),
      field("classes", &RankAnalysis::classes, "of all matched collectives").required(),
      field("ranks", &RankAnalysis::ranks, "one per capture").required(),
      field("stragglers", &RankAnalysis::stragglers, "overall first, then by phase").required(),
      field("collectives", &RankAnalysis::collectives, "most time first").required(),
      field("longest_skews", &RankAnalysis::longest_skews, "the ten longest"),
      field("notes", &RankAnalysis::notes, "what a reader must know").required());
}

}  // namespace profline
