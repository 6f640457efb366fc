#include "records/ceilings.h"

#include <algorithm>

namespace profline {

std::optional<double> CeilingFigure::highest() const {
  if (!burst && !sustained) return std::nullopt;
  return std::max(burst ? burst->value : 0, sustained ? sustained->value : 0);
}

const CeilingFigure* MachineCeilings::find(std::string_view kind, std::string_view name) const {
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const CeilingFigure& one) {
    return one.kind == kind && one.name == name && one.is_best;
  });
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace profline
