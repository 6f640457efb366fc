#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comparison/compare.h"
#include "run_index/run_index.h"

namespace profline {

/// What the runs beside those compared tell of the spread between runs of the same things. Those
/// compared are among them, so that one that strays is known to be possible.
class EarlierRuns {
 public:
  /// `runs` are the folders compared. Roots that cannot be read tell nothing.
  explicit EarlierRuns(std::span<const std::filesystem::path> runs);

  /// Nothing when there are fewer than three such runs.
  std::optional<comparison::KnownSpread> spread(const std::string& metric);

 private:
  struct Root {
    run_index::RunIndex index;
    std::vector<std::string> fingerprints;
  };
  std::vector<Root> roots_;
  std::map<std::string, std::optional<comparison::KnownSpread>> known_;
};

}  // namespace profline
