#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/node.h"
#include "schema/field.h"
#include "schema/read.h"

/// The arguments of the tools. Their input schemas are derived from these field lists.
namespace profline::mcp {

constexpr const char* kRunHelp = "folder, id or path of a run, or 'latest'";

struct RunsArguments {
  std::optional<std::string> run;
  std::optional<std::string> find;
  std::vector<std::string> metric;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::uint64_t top = 10;
};
constexpr auto fields(std::type_identity<RunsArguments>) {
  return field_list(
      field("run", &RunsArguments::run,
            "one run in detail: stages, files, every metric; a folder, id, path, or 'latest'"),
      field("find", &RunsArguments::find,
            "only runs with this text in id, experiment, model, program, device, host, commit or "
            "state"),
      field("metric", &RunsArguments::metric,
            "only runs with these metrics or conditions: token_ms, token_ms<5"),
      field("since", &RunsArguments::since, "UTC day or moment: 2026-11-15"),
      field("until", &RunsArguments::until, "UTC day or moment"),
      field("top", &RunsArguments::top, "newest runs to list").range(1, 100));
}

struct SummaryArguments {
  std::string run;
  std::optional<std::string> part;
  std::optional<std::string> figure;
  std::optional<std::string> file;
};
constexpr auto fields(std::type_identity<SummaryArguments>) {
  return field_list(
      field("run", &SummaryArguments::run, kRunHelp).required(),
      field("part", &SummaryArguments::part,
            "all figures of one part: request, program, load, one_time, overhead, memory_roof, "
            "join, or the name of a phase"),
      field("figure", &SummaryArguments::figure,
            "all figures whose name contains this text: p99, power, clock"),
      field("file", &SummaryArguments::file,
            "look in another JSON file of the run: env.json, baseline/metrics.json, "
            "static_analysis/static_compute.json, config.resolved.json"));
}

struct VerdictArguments {
  std::string run;
  std::optional<std::string> phase;
};
constexpr auto fields(std::type_identity<VerdictArguments>) {
  return field_list(field("run", &VerdictArguments::run, kRunHelp).required(),
                    field("phase", &VerdictArguments::phase, "only this phase: decode"));
}

struct KernelsArguments {
  std::string run;
  std::optional<std::string> search;
  std::optional<std::string> phase;
  std::optional<std::string> kernel_class;
  std::uint64_t top = 10;
};
constexpr auto fields(std::type_identity<KernelsArguments>) {
  return field_list(
      field("run", &KernelsArguments::run, kRunHelp).required(),
      field("search", &KernelsArguments::search,
            "text in the name; if one kernel matches, all that is known about it"),
      field("phase", &KernelsArguments::phase, "only kernels launched in this phase"),
      field("class", &KernelsArguments::kernel_class, "only this class: gemm, attention"),
      field("top", &KernelsArguments::top, "kernels to list, most time first").range(1, 50));
}

struct CompareArguments {
  std::string a;
  std::optional<std::string> b;
  std::optional<std::uint64_t> history;
  std::vector<std::string> metric;
  std::optional<double> threshold;
};
constexpr auto fields(std::type_identity<CompareArguments>) {
  return field_list(
      field("a", &CompareArguments::a, "run or folder of runs: before; with history the newest run")
          .required(),
      field("b", &CompareArguments::b, "run or folder of runs: after; not with history"),
      field("history", &CompareArguments::history,
            "instead of b: up to this many runs before a, to find where their level changed, and "
            "with which commit")
          .range(1, 1000),
      field("metric", &CompareArguments::metric,
            "only these rows: names, names with *, metrics, phases, operators or kernels; default "
            "metrics and phases"),
      field("threshold", &CompareArguments::threshold, "changes up to this do not matter: 0.03")
          .range(0, 0.99));
}

struct TraceArguments {
  std::string file;
  std::optional<std::string> range;
  std::uint64_t top = 10;
};
constexpr auto fields(std::type_identity<TraceArguments>) {
  return field_list(field("file", &TraceArguments::file,
                          "Kineto or Chrome trace (.json, .json.gz) or SQLite export of nsys, "
                          "below a root")
                        .required(),
                    field("range", &TraceArguments::range,
                          "only events in ranges of this name, or glob: decode*"),
                    field("top", &TraceArguments::top, "rows per table").range(1, 50));
}

struct ExplainArguments {
  std::string key;
  std::optional<std::string> run;
  std::vector<std::string> overrides;
};
constexpr auto fields(std::type_identity<ExplainArguments>) {
  return field_list(
      field("key", &ExplainArguments::key, "infer.max_new_tokens, pipeline.nsys").required(),
      field("run", &ExplainArguments::run, "the value that this run used, and what set it"),
      field("overrides", &ExplainArguments::overrides, "as on the command line: device=cpu"));
}

struct PlanArguments {
  std::vector<std::string> overrides;
  std::vector<std::string> program;
};
constexpr auto fields(std::type_identity<PlanArguments>) {
  return field_list(
      field("overrides", &PlanArguments::overrides, "as on the command line: device=cpu"),
      field("program", &PlanArguments::program,
            "the program to profile and its arguments: [python3, infer.py]; default: the built-in "
            "model"));
}

/// The JSON Schema of a list of fields.
Node input_schema(const schema::StructType& structure);

template <schema::Structured T>
Node input_schema() {
  return input_schema(schema::Codec<T>::structure());
}

}  // namespace profline::mcp
