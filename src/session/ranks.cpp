#include "session/ranks.h"

#include "run/run.h"
#include "summary/ranks.h"

namespace profline::session {

Result<RankAnalysis> compare_ranks(const std::filesystem::path& folder) {
  const run::Run run = PL_TRY(run::Run::open(folder));
  auto analysis = summary::ranks_of(run);
  if (analysis) return *std::move(analysis);
  return Error(ErrorKind::NotFound,
               "run " + run.record().id +
                   " has no captures of two ranks or more; 'profline trace FILE...' compares "
                   "captures that were made elsewhere");
}

}  // namespace profline::session
