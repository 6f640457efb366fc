#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/document.h"
#include "schema/field.h"

/// Phases that the built-in workload repeated after its measured run, so that each ran alone for
/// long enough to measure its energy.
namespace profline {

struct RepeatedPhase {
  std::string phase;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t requests = 0;
  std::uint64_t tokens = 0;

  bool operator==(const RepeatedPhase&) const = default;
};
constexpr auto fields(std::type_identity<RepeatedPhase>) {
  return field_list(
      field("phase", &RepeatedPhase::phase, "its name").required(),
      field("begin_ns", &RepeatedPhase::begin_ns, "by the machine's monotonic clock").required(),
      field("end_ns", &RepeatedPhase::end_ns, "the same").required(),
      field("requests", &RepeatedPhase::requests, "how often it ran, or began").required(),
      field("tokens", &RepeatedPhase::tokens, "generated in that time"));
}

/// `profline.repeated_phases/1`
struct RepeatedPhases {
  static constexpr DocumentKind kKind{"repeated_phases", 1};

  std::vector<RepeatedPhase> phases;

  bool operator==(const RepeatedPhases&) const = default;
};
constexpr auto fields(std::type_identity<RepeatedPhases>) {
  return field_list(field("phases", &RepeatedPhases::phases, "each ran alone").required());
}

}  // namespace profline
