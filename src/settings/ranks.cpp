#include "settings/ranks.h"

#include <algorithm>

namespace profline::settings {
namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kOnePerNode = "one_per_node";

}  // namespace

std::vector<std::uint32_t> Ranks::profiled() const {
  if (profile.kind == RankChoice::Kind::Listed) return profile.listed;
  const std::uint32_t step =
      profile.kind == RankChoice::Kind::OnePerNode ? per_node.value_or(count()) : 1;
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < count(); rank += step) ranks.push_back(rank);
  return ranks;
}

bool Ranks::is_profiled(std::uint32_t rank) const {
  const std::vector<std::uint32_t> chosen = profiled();
  return std::find(chosen.begin(), chosen.end(), rank) != chosen.end();
}

Checks validate(const Ranks& ranks) {
  Checks checks;
  if (!ranks.is_on()) {
    if (ranks.n) checks.fail(ranks.n, "needs launcher: srun, torchrun or mpirun");
    return checks;
  }
  if (!ranks.n) checks.fail(ranks.n, "must say how many ranks the launcher starts");
  if (ranks.per_node && ranks.n && *ranks.per_node > *ranks.n) {
    checks.fail(ranks.per_node, "must not be greater than n, " + std::to_string(*ranks.n));
  }
  const bool is_one_node = !ranks.per_node || !ranks.n || *ranks.per_node == *ranks.n;
  if (ranks.launcher == RankLauncher::Torchrun && !is_one_node) {
    checks.fail(ranks.per_node,
                "must be null or n with torchrun, which starts the ranks of one node; use srun or "
                "mpirun for several");
  }
  if (ranks.profile.kind == RankChoice::Kind::OnePerNode && !ranks.per_node &&
      ranks.launcher != RankLauncher::Torchrun) {
    checks.fail(ranks.profile, "one_per_node needs per_node");
  }
  if (ranks.profile.kind != RankChoice::Kind::Listed) return checks;
  if (ranks.profile.listed.empty()) checks.fail(ranks.profile, "must name at least one rank");
  for (const std::uint32_t rank : ranks.profile.listed) {
    if (!ranks.n || rank < *ranks.n) continue;
    checks.fail(ranks.profile, "names rank " + std::to_string(rank) + ", but the ranks are 0 to " +
                                   std::to_string(*ranks.n - 1));
    break;
  }
  return checks;
}

}  // namespace profline::settings

namespace profline::schema {

using settings::RankChoice;

void Codec<RankChoice>::read(const Node& node, RankChoice& value, Reader& reader) {
  value = {};
  if (node.is_string()) {
    if (node.as_string() == settings::kOnePerNode) {
      value.kind = RankChoice::Kind::OnePerNode;
    } else if (node.as_string() != settings::kAll) {
      reader.mismatch(node);
    }
    return;
  }
  value.kind = RankChoice::Kind::Listed;
  for (const Node& item : node.as_list()) {
    const bool is_rank =
        item.is_int() && item.as_int() >= 0 && item.as_int() < settings::kMostRanks;
    if (!is_rank) {
      reader.mismatch(item);
      return;
    }
    value.listed.push_back(static_cast<std::uint32_t>(item.as_int()));
  }
  std::sort(value.listed.begin(), value.listed.end());
  value.listed.erase(std::unique(value.listed.begin(), value.listed.end()), value.listed.end());
}

Node Codec<RankChoice>::write(const RankChoice& value) {
  if (value.kind == RankChoice::Kind::All) return Node::string(std::string(settings::kAll));
  if (value.kind == RankChoice::Kind::OnePerNode) {
    return Node::string(std::string(settings::kOnePerNode));
  }
  Node list = Node::list();
  for (const std::uint32_t rank : value.listed) list.as_list().push_back(Node::integer(rank));
  return list;
}

}  // namespace profline::schema
