#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "settings/enable.h"
#include "settings/limits.h"

namespace profline::settings {

/// What every stage has.
struct Stage {
  Enable enable = Enable::No;
  std::optional<std::chrono::milliseconds> timeout;

  bool operator==(const Stage&) const = default;
};

/// The lines of these two in a stage's field list.
constexpr auto enable_field() {
  return field("enable", &Stage::enable, "run this stage; auto: if its preflight passes");
}
constexpr auto timeout_field() {
  return field("timeout", &Stage::timeout,
               "end the stage after this long and keep what was captured; null: never")
      .above(0);
}

/// How many requests a stage that profiles the workload gives it.
template <typename T>
constexpr auto samples_field(std::optional<std::uint32_t> T::*member) {
  return field("samples", member,
               "the first N requests of the baseline; null: all of them where "
               "dataset.sampling.num_samples_per_epoch bounds their number, otherwise the first")
      .range(1, kMostImages);
}

}  // namespace profline::settings
