#include "workloads/ranks/launch.h"

#include <algorithm>

#include "base/strings.h"
#include "schema/read.h"

namespace profline::ranks {
namespace {

using settings::RankLauncher;

/// The variables that name a rank. Open MPI's come first for mpirun; the others are MPICH's and
/// those of MPIs derived from it.
struct Variables {
  const char* rank;
  const char* local_rank;
};
constexpr Variables kSlurm[] = {{"SLURM_PROCID", "SLURM_LOCALID"}};
constexpr Variables kMpi[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"},
                              {"PMIX_RANK", "MPI_LOCALRANKID"},
                              {"PMI_RANK", "MPI_LOCALRANKID"}};
constexpr Variables kTorch[] = {{"RANK", "LOCAL_RANK"}};

std::vector<Variables> variables_of(RankLauncher launcher) {
  switch (launcher) {
    case RankLauncher::Srun:
      return {std::begin(kSlurm), std::end(kSlurm)};
    case RankLauncher::Mpirun:
      return {std::begin(kMpi), std::end(kMpi)};
    case RankLauncher::Torchrun:
      break;
  }
  return {std::begin(kTorch), std::end(kTorch)};
}

std::string option(const char* name, std::uint32_t value) {
  return std::string(name) + "=" + std::to_string(value);
}

std::vector<std::string> own_words(const settings::Ranks& ranks) {
  const std::string n = std::to_string(ranks.count());
  switch (*ranks.launcher) {
    case RankLauncher::Srun: {
      // One failed rank ends the others, and so does one Ctrl-C.
      std::vector<std::string> words = {"srun", option("--ntasks", ranks.count())};
      if (ranks.per_node) {
        const std::uint32_t nodes = (ranks.count() + *ranks.per_node - 1) / *ranks.per_node;
        words.push_back(option("--nodes", nodes));
        words.push_back(option("--ntasks-per-node", *ranks.per_node));
        // `profile: one_per_node` counts on consecutive ranks; a site may deal them out in turn.
        words.emplace_back("--distribution=block");
      }
      words.insert(words.end(), {"--kill-on-bad-exit=1", "--quit-on-interrupt", "--input=none"});
      return words;
    }
    case RankLauncher::Mpirun: {
      std::vector<std::string> words = {"mpirun", "-n", n};
      if (ranks.per_node) {
        words.insert(words.end(), {"--map-by", "ppr:" + std::to_string(*ranks.per_node) + ":node"});
      }
      return words;
    }
    case RankLauncher::Torchrun:
      break;
  }
  return {"torchrun", "--standalone", "--nnodes=1", "--nproc-per-node=" + n, "--max-restarts=0"};
}

}  // namespace

std::vector<std::string> launcher_words(const settings::Ranks& ranks,
                                        const std::vector<std::string>& wrapper) {
  std::vector<std::string> words = own_words(ranks);
  words.insert(words.end(), ranks.args.begin(), ranks.args.end());
  if (ranks.launcher == RankLauncher::Torchrun) words.emplace_back("--no-python");
  words.insert(words.end(), wrapper.begin(), wrapper.end());
  return words;
}

std::vector<std::string> wrapper_words(const std::filesystem::path& profline,
                                       const std::filesystem::path& launch_file,
                                       const std::vector<std::string>& program) {
  std::vector<std::string> words = {profline.string(), "rank-exec", launch_file.string(), "--"};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::vector<std::string> words_ahead(const std::vector<std::string>& command,
                                     const std::vector<std::string>& program) {
  const auto ahead = static_cast<std::ptrdiff_t>(command.size() - program.size());
  return {command.begin(), command.begin() + ahead};
}

Result<RankPlace> place_of(RankLauncher launcher, Variable variable) {
  const std::vector<Variables> known = variables_of(launcher);
  for (const Variables& names : known) {
    const auto rank = whole_number<std::uint32_t>(variable(names.rank).value_or(""));
    if (!rank) continue;
    RankPlace place{.rank = *rank};
    const auto local = whole_number<std::uint32_t>(variable(names.local_rank).value_or(""));
    place.local_rank = local.value_or(0);
    place.node = variable("SLURMD_NODENAME").value_or("");
    return place;
  }
  const std::string name(schema::name_of(launcher));
  return Error(ErrorKind::Config, "the rank is not known: " + name + " did not set " +
                                      known.front().rank + "; 'profline run' starts this command")
      .with_reason("usage");
}

}  // namespace profline::ranks
