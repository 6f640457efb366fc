#pragma once

#include <string_view>

#include "records/timeline.h"

namespace profline::ranks::internal {

/// Whether a part of a program communicates, from its name: `allreduce`, `barrier`.
inline bool is_communication(std::string_view part) {
  return collective_kind(part) != CollectiveKind::Unknown ||
         part.find("barrier") != std::string_view::npos;
}

}  // namespace profline::ranks::internal
