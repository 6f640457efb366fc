#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/ranks.h"
#include "settings/ranks.h"

/// What became of the ranks of a program, from the files that each rank wrote on its own node: the
/// exit code of a launcher does not say which rank failed first, or how.
namespace profline::ranks {

/// The folder of a rank in a stage's folder.
std::filesystem::path rank_folder(const std::filesystem::path& stage_folder, std::uint32_t rank);

/// rank.json of each rank in a stage's folder; nothing for a rank that never started.
std::vector<std::optional<RankProcess>> read_ranks(const std::filesystem::path& stage_folder,
                                                   std::uint32_t count);

/// ranks.json of a run, from the files of these stages.
Ranks collect(const std::filesystem::path& run_folder, std::span<const std::string_view> stages,
              const settings::Ranks& settings);

/// `rank 2 on n3`
std::string rank_text(const RankProcess& rank);

/// How a rank ended, as far as its file says.
enum class RankEnd : std::uint8_t {
  Succeeded,
  Failed,   ///< by itself
  Stopped,  ///< the launcher, or the user, asked it to end
  Vanished  ///< it left no record of its end: it, or its node, was killed
};
RankEnd end_of(const RankProcess& rank);

/// What is known about a launch that ended.
struct LaunchEnd {
  bool succeeded = true;     ///< the launcher's own view
  bool was_stopped = false;  ///< by us: the stage's timeout, or the user
  /// Ranges that each rank completed, in the order of ranks; empty: not known.
  std::vector<std::uint64_t> progress{};
};

/// The findings about ranks that failed, hung or never started: the first one to fail is named with
/// its node, not those that were ended because of it. Empty: nothing is wrong.
std::vector<Finding> findings_of(const std::vector<std::optional<RankProcess>>& ranks,
                                 const LaunchEnd& end, const std::filesystem::path& stage_folder);

}  // namespace profline::ranks
