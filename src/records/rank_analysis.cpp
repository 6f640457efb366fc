#include "records/rank_analysis.h"

namespace profline {

std::string_view to_text(CollectiveClass what) {
  switch (what) {
    case CollectiveClass::Transfer:
      return "transfer-dominated";
    case CollectiveClass::Skew:
      return "skew-dominated";
    case CollectiveClass::Mixed:
      return "mixed";
    case CollectiveClass::Inconclusive:
      break;
  }
  return "inconclusive";
}

void ClassCounts::add(CollectiveClass what) {
  switch (what) {
    case CollectiveClass::Transfer:
      ++transfer;
      return;
    case CollectiveClass::Skew:
      ++skew;
      return;
    case CollectiveClass::Mixed:
      ++mixed;
      return;
    case CollectiveClass::Inconclusive:
      ++inconclusive;
  }
}

CollectiveClass ClassCounts::overall() const {
  if (2 * inconclusive >= all()) return CollectiveClass::Inconclusive;
  if (3 * transfer >= 2 * all()) return CollectiveClass::Transfer;
  if (3 * skew >= 2 * all()) return CollectiveClass::Skew;
  return CollectiveClass::Mixed;
}

}  // namespace profline
