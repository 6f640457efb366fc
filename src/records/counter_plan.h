#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/document.h"
#include "schema/field.h"

namespace profline {

/// `ncu/counter_plan.json`: which launches the ncu stage chose to count within its budget, and what
/// came of it.
struct CounterPlan {
  static constexpr DocumentKind kKind{"counter_plan", 1};

  double budget_s = 0;
  std::string gate;            ///< the range that launches are chosen in; empty: everywhere
  std::string source;          ///< the capture that the launches were counted in; empty: none
  std::string why;             ///< why there is no choice of launches; empty: there is one
  std::uint64_t launches = 0;  ///< inside the gate, in that capture
  std::uint64_t skip = 0;
  std::uint64_t count = 0;
  std::uint64_t kernels = 0;  ///< kernels with different launch shapes among the chosen ones
  std::string collection;     ///< what is collected of each
  std::uint32_t passes = 0;   ///< replays of each, expected
  std::optional<double> expected_coverage;
  std::optional<double> reachable_coverage;
  double expected_s = 0;
  /// ncu is stopped then and keeps what it has counted; nothing: never.
  std::optional<double> limit_s;
  std::optional<std::uint64_t> counted;
  std::optional<double> coverage;
  std::optional<double> seconds;

  bool operator==(const CounterPlan&) const = default;
};
constexpr auto fields(std::type_identity<CounterPlan>) {
  using schema::field;
  return field_list(
      field("budget_s", &CounterPlan::budget_s, "pipeline.ncu.budget_s").required(),
      field("gate", &CounterPlan::gate, "range that launches are chosen in; empty: everywhere")
          .required(),
      field("source", &CounterPlan::source, "capture in which launches were counted; empty: none"),
      field("why", &CounterPlan::why, "why launches were not chosen; empty: they were"),
      field("launches", &CounterPlan::launches, "inside the gate, in that capture"),
      field("skip", &CounterPlan::skip, "launches ahead of the chosen ones"),
      field("count", &CounterPlan::count, "chosen launches").required(),
      field("kernels", &CounterPlan::kernels, "among them, by launch shape"),
      field("collection", &CounterPlan::collection, "what is collected of each"),
      field("passes", &CounterPlan::passes, "replays of each, expected"),
      field("expected_coverage", &CounterPlan::expected_coverage,
            "of exclusive kernel time, 0 to 1; null: not known"),
      field("reachable_coverage", &CounterPlan::reachable_coverage,
            "of exclusive kernel time, by kernels launched inside the gate"),
      field("expected_s", &CounterPlan::expected_s, "seconds that the stage is expected to take"),
      field("limit_s", &CounterPlan::limit_s,
            "seconds after which ncu is stopped and keeps what it has counted; null: never"),
      field("counted", &CounterPlan::counted, "launches in the report; null: not finished"),
      field("coverage", &CounterPlan::coverage, "of exclusive kernel time, as it turned out"),
      field("seconds", &CounterPlan::seconds, "that ncu and its exports took"));
}

}  // namespace profline
