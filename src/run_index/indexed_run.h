#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/run.h"
#include "schema/field.h"

namespace profline::run_index {

/// A figure of a run's unprofiled part: the median over its steady requests, or a program's wall
/// time.
struct IndexedMetric {
  std::string name;
  std::string unit;
  double value = 0;
  std::int64_t n = 0;

  bool operator==(const IndexedMetric&) const = default;
};
constexpr auto fields(std::type_identity<IndexedMetric>) {
  return field_list(
      field("name", &IndexedMetric::name, "token_ms, wall_ms, the name of a phase, …").required(),
      field("unit", &IndexedMetric::unit, "of the value").required(),
      field("value", &IndexedMetric::value, "median over steady requests").required(),
      field("n", &IndexedMetric::n, "of those requests").required());
}

/// A run as shown in lists.
struct IndexedRun {
  std::string id;
  std::string folder;  ///< below the root
  std::string experiment;
  std::string state;
  std::optional<std::int64_t> exit_code;
  std::string model;    ///< empty for a user's own program; of a server under load as it names it
  std::string program;  ///< `train.py`; empty for the built-in workload
  std::string device;
  std::string device_name;
  std::string host;
  std::string version;
  std::string commit;
  std::string started;
  std::string ended;
  std::string fingerprint;
  std::string configuration;
  double disturbance = 0;
  std::string steadiness;
  std::vector<IndexedMetric> metrics;

  bool operator==(const IndexedRun&) const = default;
  /// Null if it has no metric of this name.
  const IndexedMetric* find_metric(std::string_view name) const;
  /// It has too few requests to tell which of them are steady: all of them count.
  bool is_too_short() const;
};
constexpr auto fields(std::type_identity<IndexedRun>) {
  return field_list(
      field("id", &IndexedRun::id, "of the run").required(),
      field("folder", &IndexedRun::folder, "below the output root").required(),
      field("experiment", &IndexedRun::experiment, "free text of its config"),
      field("state", &IndexedRun::state,
            "running, killed (says running and is not), ok, failed, interrupted")
          .required(),
      field("exit_code", &IndexedRun::exit_code, "exit code of profline; null: not ended"),
      field(
          "model", &IndexedRun::model,
          "model.name of its config; of a load on a server its name there, or the address; empty: "
          "it ran a program"),
      field("program", &IndexedRun::program,
            "the program that it ran instead of a model: train.py"),
      field("device", &IndexedRun::device, "cpu or cuda:N"),
      field("device_name", &IndexedRun::device_name, "its name in the driver or the kernel"),
      field("host", &IndexedRun::host, "the machine's name"),
      field("version", &IndexedRun::version, "of profline"),
      field("commit", &IndexedRun::commit,
            "profline was built from; of a user's program or a server that of its source, "
            "source_commit in env.json; empty: not known"),
      field("started", &IndexedRun::started, "UTC"),
      field("ended", &IndexedRun::ended, "UTC; empty: not ended"),
      field("fingerprint", &IndexedRun::fingerprint,
            "the same for runs of the same thing: config, inputs, machine and program"),
      field("configuration", &IndexedRun::configuration,
            "the same for runs whose config asks for the same work, whatever the commit, the host "
            "and the driver; empty: the config cannot be read"),
      field("disturbance", &IndexedRun::disturbance,
            "share of the steps' time that something else on the machine took"),
      field("steadiness", &IndexedRun::steadiness,
            "steady; drifting: its times still change; too-short: too few requests to tell, so "
            "that all of them count; empty: it has none"),
      field("metrics", &IndexedRun::metrics, "of its unprofiled part"));
}

/// What a list shows of a run, whose folder is `folder` below the root. Only run.json has to exist;
/// a run whose record says that it is running is shown as running.
IndexedRun indexed_run(const run::Run& opened, const std::filesystem::path& folder);
/// The same for the run in `root` / `folder`. An Error if run.json cannot be read.
Result<IndexedRun> read_indexed_run(const std::filesystem::path& root,
                                    const std::filesystem::path& folder);

}  // namespace profline::run_index
