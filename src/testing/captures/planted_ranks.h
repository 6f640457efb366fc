#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A program on several ranks whose clocks, straggler and collectives are known.
namespace profline::testing {

/// What the time of a collective shall be.
enum class PlantedClass { Transfer, Skew, Mixed };

struct PlantedRanks {
  int ranks = 8;
  int steps = 50;
  int collectives_per_step = 4;  ///< the first half in `forward`, the others in `backward`
  std::uint64_t seed = 1;
  std::int64_t compute_ns = 2'000'000;  ///< ahead of each collective
  std::int64_t jitter_ns = 20'000;      ///< of computation: standard deviation
  std::int64_t end_jitter_ns = 4'000;   ///< of the ends of a collective: standard deviation
  std::int64_t transfer_ns = 600'000;
  /// The rank that computes longer in `backward`, and by how much.
  std::optional<int> straggler = {};
  std::int64_t late_ns = 200'000;
  /// A rank that computes longer by hiccup_ns in the first collectives of the program, this many.
  std::optional<int> hiccups_of = {};
  int hiccups = 2;
  std::int64_t hiccup_ns = 50'000'000;
  /// Each collective is of a random class; otherwise by the values above.
  bool random_classes = false;
  std::vector<std::int64_t> ahead_ns = {};  ///< of each clock; empty: all are right
  std::vector<double> rate_ppm = {};        ///< of each clock; empty: all run at the same rate
  /// Share of collectives whose end on a rank other than the first is wrong by up to 20 ms.
  double outliers = 0;
  /// A rank whose ends have nothing to do with those of others.
  std::optional<int> scattered = {};
  /// Collectives at the beginning that a rank's capture lacks.
  std::vector<int> missing_at_start = {};
  bool names_groups = true;      ///< collectives say which group they belong to
  bool numbers = false;          ///< and which number they have in it
  bool states_rank = true;       ///< the trace says its rank
  int operators_per_kernel = 1;  ///< more make the trace larger
};

struct PlantedCollective {
  PlantedClass kind = PlantedClass::Transfer;
  std::int64_t skew_ns = 0;
  std::int64_t length_ns = 0;
  int last = 0;
};

/// The traces, as Kineto writes them, and what is in them; equal for equal options.
struct PlantedTraces {
  std::vector<std::string> traces;  ///< by rank
  std::vector<PlantedCollective> collectives;
};
PlantedTraces planted_traces(const PlantedRanks& options);

/// The same for traces that do not fit into memory: they go to `sink`, part by part.
using RankSink = std::function<void(int rank, std::string_view text)>;
PlantedTraces planted_traces(const PlantedRanks& options, const RankSink& sink);

}  // namespace profline::testing
