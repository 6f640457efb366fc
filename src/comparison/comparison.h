#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/document.h"
#include "schema/field.h"
#include "statistics/comparison.h"

namespace profline::statistics {
// Next to the enum, where its codec finds them.
constexpr auto names(std::type_identity<Verdict>) {
  return std::array{schema::named(Verdict::Faster, "FASTER"),
                    schema::named(Verdict::Slower, "SLOWER"), schema::named(Verdict::Same, "SAME"),
                    schema::named(Verdict::Undecided, "UNDECIDED")};
}
}  // namespace profline::statistics

/// The result of `profline compare`: `profline.comparison/2`, docs/formats/comparison.md.
namespace profline::comparison {

using statistics::Verdict;

/// A run of one side.
struct ComparedRun {
  std::string id;
  std::string folder;
  std::string experiment;
  std::string state;
  std::string started;
  std::string commit;
  std::string device;
  std::string host;
  std::optional<double> sm_clock_mhz;
  bool left_out = false;

  bool operator==(const ComparedRun&) const = default;
};
constexpr auto fields(std::type_identity<ComparedRun>) {
  return field_list(
      field("id", &ComparedRun::id, "of the run").required(),
      field("folder", &ComparedRun::folder, "its path").required(),
      field("experiment", &ComparedRun::experiment, "free text of its config"),
      field("state", &ComparedRun::state, "running, ok, failed or interrupted").required(),
      field("started", &ComparedRun::started, "UTC"),
      field("commit", &ComparedRun::commit, "profline was built from"),
      field("device", &ComparedRun::device, "the model ran on"),
      field("host", &ComparedRun::host, "the machine's name"),
      field("sm_clock_mhz", &ComparedRun::sm_clock_mhz,
            "mean over the unprofiled run; null: not recorded")
          .unit("MHz"),
      field("left_out", &ComparedRun::left_out,
            "it opens the series of runs, and its side has enough others"));
}

/// A value that differs between the sides; absent on a side that does not have it.
struct Difference {
  std::string key;
  std::optional<std::string> a;
  std::optional<std::string> b;

  bool operator==(const Difference&) const = default;
};
constexpr auto fields(std::type_identity<Difference>) {
  return field_list(field("key", &Difference::key, "what differs").required(),
                    field("a", &Difference::a, "on the first side; null: absent"),
                    field("b", &Difference::b, "on the second side; null: absent"));
}

struct Differences {
  std::vector<Difference> config;
  std::vector<Difference> environment;
  std::vector<Difference> inputs;
  std::optional<bool> same_inputs;

  bool operator==(const Differences&) const = default;
};
constexpr auto fields(std::type_identity<Differences>) {
  return field_list(
      field("config", &Differences::config, "of the resolved configuration").required(),
      field("environment", &Differences::environment, "of machine and programs").required(),
      field("inputs", &Differences::inputs, "by image or file: its digest").required(),
      field("same_inputs", &Differences::same_inputs, "null: a side does not say what it read"));
}

/// A side's value in a row.
struct Amount {
  double value = 0;
  std::uint64_t n = 0;
  std::uint64_t runs = 0;
  std::optional<std::uint64_t> calls;
  std::optional<double> total;

  bool operator==(const Amount&) const = default;
};
constexpr auto fields(std::type_identity<Amount>) {
  return field_list(
      field("value", &Amount::value, "median, in the row's unit").required(),
      field("n", &Amount::n, "number of independent values: requests, blocks of calls").required(),
      field("runs", &Amount::runs, "that have it").required(),
      field("calls", &Amount::calls, "per run, for kernels and operators"),
      field("total", &Amount::total, "of all calls of a run, in the row's unit"));
}

enum class Family { Metric, Phase, Step, Rank, Operator, Kernel };
/// Whether its rows were measured under a profiler.
constexpr bool is_captured(Family family) {
  return family != Family::Metric && family != Family::Phase;
}
constexpr auto names(std::type_identity<Family>) {
  return std::array{named(Family::Metric, "metric"),     named(Family::Phase, "phase"),
                    named(Family::Step, "step"),         named(Family::Rank, "rank"),
                    named(Family::Operator, "operator"), named(Family::Kernel, "kernel")};
}

struct Row {
  Family family = Family::Metric;
  std::string name;
  std::string short_name;
  std::string shape;
  std::string unit;
  bool higher_is_better = false;
  std::optional<Amount> a;
  std::optional<Amount> b;
  std::optional<double> change;
  std::optional<double> low;
  std::optional<double> high;
  std::optional<double> at_most;
  std::optional<Verdict> verdict;
  std::string withheld;
  std::optional<double> p;
  std::optional<double> adjusted_p;
  std::optional<double> smallest_effect;
  std::optional<double> change_at_equal_clocks;
  bool paired = false;
  std::string limit;

  bool operator==(const Row&) const = default;
};
constexpr auto fields(std::type_identity<Row>) {
  return field_list(
      field("family", &Row::family, "the kind of row").required(),
      field("name", &Row::name, "of the figure, phase or operator; the identity of a kernel")
          .required(),
      field("short_name", &Row::short_name, "for display"),
      field("shape", &Row::shape, "of a kernel's launches"),
      field("unit", &Row::unit, "of the values").required(),
      field("higher_is_better", &Row::higher_is_better, "false: lower is"),
      field("a", &Row::a, "the first side; null: it has no such row"),
      field("b", &Row::b, "the second side; null: it has no such row"),
      field("change", &Row::change,
            "b / a - 1, in paired rows the median over inputs; null: a side is missing"),
      field("low", &Row::low, "lower end of the interval of the change"),
      field("high", &Row::high, "upper end; null: there is no interval"),
      field("at_most", &Row::at_most,
            "the change is at most this, up or down; null: it cannot be bounded"),
      field("verdict", &Row::verdict, "FASTER, SLOWER, SAME or UNDECIDED; null: a side is missing"),
      field("withheld", &Row::withheld,
            "why it is UNDECIDED whatever was measured; empty: the measurement decides"),
      field("p", &Row::p, "how often chance alone gives such a difference"),
      field("adjusted_p", &Row::adjusted_p, "the same, for as many rows as the family has"),
      field("smallest_effect", &Row::smallest_effect,
            "smallest change that would be detected 4 times in 5; null: no change would"),
      field("change_at_equal_clocks", &Row::change_at_equal_clocks,
            "if time scaled with the SM clock; null: clocks were not recorded"),
      field("paired", &Row::paired, "input by input, not list against list"),
      field("limit", &Row::limit, "what determines the width of the interval"));
}

struct Comparison {
  static constexpr DocumentKind kKind{"comparison", 2};

  std::vector<ComparedRun> a;
  std::vector<ComparedRun> b;
  double threshold = 0;
  double confidence = 0;
  std::string run_spread;
  Differences differences;
  std::vector<std::string> notes;
  std::vector<Row> rows;
  std::vector<std::string> regressions;

  bool operator==(const Comparison&) const = default;
};
constexpr auto fields(std::type_identity<Comparison>) {
  return field_list(
      field("a", &Comparison::a, "runs of the first side").required(),
      field("b", &Comparison::b, "runs of the second side").required(),
      field("threshold", &Comparison::threshold, "changes up to this do not matter").required(),
      field("confidence", &Comparison::confidence, "of intervals and verdicts").required(),
      field("run_spread", &Comparison::run_spread, "what is known of the spread between runs"),
      field("differences", &Comparison::differences, "between the sides, except measurements")
          .required(),
      field("notes", &Comparison::notes, "what a reader must know").required(),
      field("rows", &Comparison::rows, "metrics, phases, then operators and kernels by time")
          .required(),
      field("regressions", &Comparison::regressions, "rows that count and are SLOWER").required());
}

}  // namespace profline::comparison
