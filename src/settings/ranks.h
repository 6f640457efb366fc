#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"
#include "schema/field.h"
#include "schema/problems.h"
#include "schema/read.h"

/// `pipeline.workload.ranks`: a program of several processes, each of which is a rank.
namespace profline::settings {

constexpr std::uint32_t kMostRanks = 4'096;
constexpr std::uint32_t kMostRanksPerNode = 256;

enum class RankLauncher { Srun, Torchrun, Mpirun };
constexpr auto names(std::type_identity<RankLauncher>) {
  return std::array{named(RankLauncher::Srun, "srun"), named(RankLauncher::Torchrun, "torchrun"),
                    named(RankLauncher::Mpirun, "mpirun")};
}

/// Which ranks profilers observe.
struct RankChoice {
  enum class Kind { All, OnePerNode, Listed };
  Kind kind = Kind::All;
  std::vector<std::uint32_t> listed{};

  bool operator==(const RankChoice&) const = default;
};

struct Ranks {
  std::optional<RankLauncher> launcher{};
  std::optional<std::uint32_t> n{};
  std::optional<std::uint32_t> per_node{};
  RankChoice profile{};
  std::vector<std::string> args{};

  bool operator==(const Ranks&) const = default;

  /// Whether the program has ranks.
  bool is_on() const { return launcher.has_value(); }
  std::uint32_t count() const { return n.value_or(1); }
  /// The ranks that profilers observe, in order. Ranks of a node have consecutive numbers, as every
  /// launcher places them by default.
  std::vector<std::uint32_t> profiled() const;
  bool is_profiled(std::uint32_t rank) const;
};

}  // namespace profline::settings

namespace profline::schema {

template <>
struct Codec<settings::RankChoice> {
  static constexpr Kinds kKinds{Node::Kind::String, Node::Kind::List};
  static std::string text(const Limits&) {
    return "one of all, one_per_node, or a list of ranks such as [0, 3]";
  }
  static void read(const Node& node, settings::RankChoice& value, Reader& reader);
  static Node write(const settings::RankChoice& value);
};

}  // namespace profline::schema

namespace profline::settings {

constexpr auto fields(std::type_identity<Ranks>) {
  return field_list(
      field("launcher", &Ranks::launcher,
            "what starts the program once per rank; null: it is started once"),
      field("n", &Ranks::n, "number of ranks").range(1, kMostRanks),
      field("per_node", &Ranks::per_node, "ranks on each node; null: the launcher decides")
          .range(1, kMostRanksPerNode),
      field("profile", &Ranks::profile,
            "the ranks that profilers observe; the others run without one. The baseline records "
            "all ranks"),
      field("args", &Ranks::args,
            "further options of the launcher, such as [--gpus-per-task=1, --partition=gpu]"));
}
Checks validate(const Ranks& ranks);

}  // namespace profline::settings
