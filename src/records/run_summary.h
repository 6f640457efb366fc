#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/ceilings.h"
#include "records/document.h"
#include "records/kernel_summary.h"
#include "records/load_summary.h"
#include "records/range_use.h"
#include "records/rank_analysis.h"
#include "records/server.h"
#include "schema/field.h"

/// The result of a run, joined from everything its stages produced: `summary.json`. Every group of
/// figures names the file it is from, relative to the run's folder; see docs/formats/summary.md.
namespace profline {

/// Statistics of a list of times.
struct SummaryTimes {
  std::uint64_t n = 0;
  double median_ns = 0;
  double mean_ns = 0;
  double std_ns = 0;
  double p90_ns = 0;
  double p99_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
  double median_low_ns = 0;
  double median_high_ns = 0;

  bool operator==(const SummaryTimes&) const = default;
};
constexpr auto fields(std::type_identity<SummaryTimes>) {
  return field_list(
      field("n", &SummaryTimes::n, "how many were measured").required(),
      field("median_ns", &SummaryTimes::median_ns, "the middle one"),
      field("mean_ns", &SummaryTimes::mean_ns, "their mean"),
      field("std_ns", &SummaryTimes::std_ns, "deviation of the population"),
      field("p90_ns", &SummaryTimes::p90_ns, "nine in ten are shorter"),
      field("p99_ns", &SummaryTimes::p99_ns, "ninety-nine in a hundred are shorter"),
      field("min_ns", &SummaryTimes::min_ns, "the shortest"),
      field("max_ns", &SummaryTimes::max_ns, "the longest"),
      field("median_low_ns", &SummaryTimes::median_low_ns, "95 % bootstrap interval of the median"),
      field("median_high_ns", &SummaryTimes::median_high_ns, "its upper end"));
}

/// The theoretical cost of a phase from its tensor shapes; amounts per unit.
struct SummaryCost {
  double flops = 0;
  double bytes = 0;
  std::optional<double> compute_ns;
  std::optional<double> memory_ns;
  std::optional<double> floor_ns;
  std::optional<double> mfu;
  std::optional<double> bandwidth;
  std::optional<double> of_floor;
  std::string peak;
  std::string ceilings;
  std::string shapes;
  std::string source;

  bool operator==(const SummaryCost&) const = default;
};
constexpr auto fields(std::type_identity<SummaryCost>) {
  return field_list(
      field("flops", &SummaryCost::flops, "per unit; a multiply-add is two").required(),
      field("bytes", &SummaryCost::bytes, "per unit, of weights and KV cache").required(),
      field("compute_ns", &SummaryCost::compute_ns,
            "FLOPs divided by the peak; null: the peak is unknown"),
      field("memory_ns", &SummaryCost::memory_ns,
            "bytes divided by the bandwidth; null: it is unknown"),
      field("floor_ns", &SummaryCost::floor_ns, "the larger of both, operator by operator"),
      field("mfu", &SummaryCost::mfu, "share of the peak FLOP/s achieved, 0 to 1"),
      field("bandwidth", &SummaryCost::bandwidth, "share of the peak bandwidth achieved, 0 to 1"),
      field("of_floor", &SummaryCost::of_floor, "floor divided by the measured time"),
      field("peak", &SummaryCost::peak,
            "what shares are of: measured peak, datasheet peak, or peak if it was given"),
      field("ceilings", &SummaryCost::ceilings, "of which device, and their source"),
      field("shapes", &SummaryCost::shapes, "what has these shapes"),
      field("source", &SummaryCost::source, "files"));
}

/// What a profiler recorded on the device in a phase; sums over `units`.
struct SummaryDevice {
  double units = 0;
  double captured_ns = 0;
  std::optional<double> unprofiled_ns;
  double busy_ns = 0;
  std::optional<double> busy_share;
  std::optional<double> concurrency;
  std::uint64_t launches = 0;
  std::optional<double> launches_per_unit;
  std::optional<double> gap_mean_ns;
  IdleTime idle;
  std::string source;

  bool operator==(const SummaryDevice&) const = default;
};
constexpr auto fields(std::type_identity<SummaryDevice>) {
  return field_list(
      field("units", &SummaryDevice::units, "of the phase's work in the capture").required(),
      field("captured_ns", &SummaryDevice::captured_ns, "wall time under the profiler").required(),
      field("unprofiled_ns", &SummaryDevice::unprofiled_ns,
            "the same work in the baseline; null: not known"),
      field("busy_ns", &SummaryDevice::busy_ns, "the device did something").required(),
      field("busy_share", &SummaryDevice::busy_share,
            "of the unprofiled time, or of the captured one if that is null"),
      field("concurrency", &SummaryDevice::concurrency,
            "kernels and copies at a time while it was busy; null: not known"),
      field("launches", &SummaryDevice::launches, "calls that launch a kernel or a graph"),
      field("launches_per_unit", &SummaryDevice::launches_per_unit, "per image, request or token"),
      field("gap_mean_ns", &SummaryDevice::gap_mean_ns, "from the end of a launch to the next one"),
      field("idle", &SummaryDevice::idle, "by cause, under the profiler"),
      field("source", &SummaryDevice::source, "file"));
}

/// What the GPU's counters showed while a phase ran, sampled without replaying anything. Means are
/// over the device's time, 0 to 1; null: not sampled.
struct SummaryLive {
  std::optional<double> sm_active;
  std::optional<double> sm_issue;
  std::optional<double> tensor_active;
  std::optional<double> dram_read;
  std::optional<double> dram_write;
  std::optional<double> dram_bytes;
  std::optional<double> memory_ns;
  std::optional<double> of_model;
  std::uint64_t samples = 0;
  std::string source;

  bool operator==(const SummaryLive&) const = default;
};
constexpr auto fields(std::type_identity<SummaryLive>) {
  return field_list(
      field("sm_active", &SummaryLive::sm_active, "SMs with a warp"),
      field("sm_issue", &SummaryLive::sm_issue, "cycles in which an SM issued an instruction"),
      field("tensor_active", &SummaryLive::tensor_active, "cycles of the matrix units"),
      field("dram_read", &SummaryLive::dram_read, "of the peak bandwidth"),
      field("dram_write", &SummaryLive::dram_write, "of the peak bandwidth"),
      field("dram_bytes", &SummaryLive::dram_bytes, "read and written, per unit"),
      field("memory_ns", &SummaryLive::memory_ns, "of these bytes at the memory roof, per unit"),
      field("of_model", &SummaryLive::of_model,
            "these bytes divided by those of the model's weights and KV cache"),
      field("samples", &SummaryLive::samples, "that these are means of"),
      field("source", &SummaryLive::source, "file"));
}

/// The class of a phase after one more kind of evidence was added.
struct SummaryStep {
  std::string evidence;
  std::string kind;
  std::string finding;
  std::string source;

  bool operator==(const SummaryStep&) const = default;
};
constexpr auto fields(std::type_identity<SummaryStep>) {
  return field_list(
      field("evidence", &SummaryStep::evidence, "what was added").required(),
      field("class", &SummaryStep::kind, "that follows from it and what came before").required(),
      field("finding", &SummaryStep::finding, "what it shows"),
      field("source", &SummaryStep::source, "file"));
}

struct SummaryReason {
  std::string text;
  std::string source;

  bool operator==(const SummaryReason&) const = default;
};
constexpr auto fields(std::type_identity<SummaryReason>) {
  return field_list(
      field("text", &SummaryReason::text, "a number that supports the verdict").required(),
      field("source", &SummaryReason::source, "the file it is from"));
}

struct SummaryGain {
  std::string when;
  double saved_ns = 0;
  double time_ns = 0;
  double speedup = 1;
  std::optional<double> saved_share;

  bool operator==(const SummaryGain&) const = default;
};
constexpr auto fields(std::type_identity<SummaryGain>) {
  return field_list(field("when", &SummaryGain::when, "what would have to vanish").required(),
                    field("saved_ns", &SummaryGain::saved_ns, "per unit, at most"),
                    field("time_ns", &SummaryGain::time_ns, "the remaining time per unit"),
                    field("speedup", &SummaryGain::speedup, "of the phase, at most"),
                    field("saved_share", &SummaryGain::saved_share,
                          "of what the phase's share refers to, 0 to 1, at most"));
}

/// How much of what was measured is warm; docs/steady-state.md describes the method.
struct SummarySteady {
  std::string state;
  std::uint64_t units = 0;
  std::optional<double> mean_ns;

  bool operator==(const SummarySteady&) const = default;
};
constexpr auto fields(std::type_identity<SummarySteady>) {
  return field_list(
      field("state", &SummarySteady::state,
            "steady; too-short: too few to tell; drifting: the times still change")
          .required(),
      field("units", &SummarySteady::units, "that are steady, of all measured").required(),
      field("mean_ns", &SummarySteady::mean_ns,
            "per steady unit; shares and rates follow from it"));
}

/// One-time costs of a phase that have the same reason; they are in no mean, share or verdict.
struct SummaryOneTime {
  std::string phase;
  std::string unit;
  std::string reason;
  std::uint64_t count = 0;
  double total_ns = 0;
  double typical_ns = 0;
  std::string source;

  bool operator==(const SummaryOneTime&) const = default;
};
constexpr auto fields(std::type_identity<SummaryOneTime>) {
  return field_list(
      field("phase", &SummaryOneTime::phase, "its name; empty: the requests have no phases")
          .required(),
      field("unit", &SummaryOneTime::unit, "image, request, token or step"),
      field("reason", &SummaryOneTime::reason, "warm-up, first-use, marked or event").required(),
      field("count", &SummaryOneTime::count, "how often").required(),
      field("total_ns", &SummaryOneTime::total_ns, "of all of them, as measured"),
      field("typical_ns", &SummaryOneTime::typical_ns, "what they would have taken otherwise"),
      field("source", &SummaryOneTime::source, "file"));
}

/// A phase of a request that has no parts; for a program without requests, a range or a capture.
struct PhaseSummary {
  std::string path;
  std::string name;
  std::string part_of;
  std::string unit;
  bool repeats = false;
  std::optional<SummaryTimes> time;
  std::optional<double> mean_ns;
  std::optional<double> share;
  std::optional<SummarySteady> steady;
  std::string source;
  std::optional<SummaryCost> cost;
  std::optional<SummaryDevice> device;
  std::optional<SummaryLive> live;
  std::optional<double> operator_calls;
  std::string kind;
  std::vector<SummaryStep> steps;
  std::vector<SummaryReason> reasons;
  std::vector<SummaryGain> gains;
  std::string next_step;
  std::vector<std::string> lacks;

  bool operator==(const PhaseSummary&) const = default;
};
constexpr auto fields(std::type_identity<PhaseSummary>) {
  return field_list(
      field("path", &PhaseSummary::path, "as in the requests; empty: a range or a capture"),
      field("name", &PhaseSummary::name, "what pages and ranges call it").required(),
      field("part_of", &PhaseSummary::part_of, "name of the enclosing phase"),
      field("unit", &PhaseSummary::unit,
            "what the figures are of: image, request, token, step, range or capture")
          .required(),
      field("repeats", &PhaseSummary::repeats, "it has steps, which are its units"),
      field("time", &PhaseSummary::time, "per unit, unprofiled; null: there is no such run"),
      field("mean_ns", &PhaseSummary::mean_ns, "per unit, of the steady ones"),
      field("share", &PhaseSummary::share,
            "of a request's time, 0 to 1; of the captured time if there are no requests"),
      field("steady", &PhaseSummary::steady, "null: there is no unprofiled run"),
      field("source", &PhaseSummary::source, "file of the times"),
      field("cost", &PhaseSummary::cost, "theoretical; null: see lacks"),
      field("device", &PhaseSummary::device, "from a profiler; null: see lacks"),
      field("live", &PhaseSummary::live,
            "counters sampled by nsys while it ran; null: not sampled"),
      field("operator_calls", &PhaseSummary::operator_calls, "of the framework, per unit"),
      field("class", &PhaseSummary::kind,
            "launch-bound, host-bound, memory-bound, compute-bound, mixed or unknown")
          .required(),
      field("class_steps", &PhaseSummary::steps,
            "how the class came about, one kind of evidence after the other"),
      field("evidence", &PhaseSummary::reasons, "the numbers that support the class"),
      field("gains", &PhaseSummary::gains, "possible speedups; that of the class comes first"),
      field("next_step", &PhaseSummary::next_step, "what to do about it"),
      field("lacks", &PhaseSummary::lacks, "what is not known, and why"));
}

/// A phase as a share of a request.
struct SummaryPart {
  std::string path;
  std::string name;
  double share = 0;
  std::optional<double> rest_share;
  bool host = false;
  std::string unit = {};
  bool repeats = false;
  std::optional<SummaryTimes> time = {};
  std::optional<SummarySteady> steady = {};

  bool is_outermost() const { return path.find('/') == std::string::npos; }
  bool operator==(const SummaryPart&) const = default;
};
constexpr auto fields(std::type_identity<SummaryPart>) {
  return field_list(field("path", &SummaryPart::path, "of the phase").required(),
                    field("name", &SummaryPart::name, "what pages call it").required(),
                    field("share", &SummaryPart::share, "of a request's time, 0 to 1"),
                    field("rest_share", &SummaryPart::rest_share,
                          "of a request's time: this phase without its parts; null: no parts"),
                    field("host", &SummaryPart::host, "work of the host before the model"),
                    field("unit", &SummaryPart::unit, "image, request, token or step"),
                    field("repeats", &SummaryPart::repeats, "it has steps, which are its units"),
                    field("time", &SummaryPart::time, "per unit, unprofiled; null: it took none"),
                    field("steady", &SummaryPart::steady, "null: it took no time"));
}

/// A whole request, such as an image from file to last token.
struct SummaryRequest {
  std::uint64_t requests = 0;
  std::string unit;
  std::optional<double> prompt_tokens;
  std::optional<double> new_tokens;
  double mean_ns = 0;
  std::optional<SummaryTimes> ttft;
  SummarySteady steady;
  std::vector<SummaryPart> parts;
  std::string dominant;
  std::optional<double> tokens_per_second;
  std::optional<double> mfu;
  std::string source;

  bool operator==(const SummaryRequest&) const = default;
};
constexpr auto fields(std::type_identity<SummaryRequest>) {
  return field_list(
      field("requests", &SummaryRequest::requests, "that were measured").required(),
      field("unit", &SummaryRequest::unit, "image, batch or request").required(),
      field("prompt_tokens", &SummaryRequest::prompt_tokens,
            "of the longest sequence, mean; null: not known"),
      field("new_tokens", &SummaryRequest::new_tokens,
            "of the longest sequence, mean; null: not known"),
      field("mean_ns", &SummaryRequest::mean_ns, "how long it takes once it is warm"),
      field("ttft", &SummaryRequest::ttft, "time to first token; null: not known"),
      field("steady", &SummaryRequest::steady, "requests without one-time costs"),
      field("phases", &SummaryRequest::parts, "all of them, in the order in which they begin"),
      field("dominant", &SummaryRequest::dominant,
            "path of the outermost phase that takes far more time than the others; empty: none"),
      field("tokens_per_second", &SummaryRequest::tokens_per_second,
            "made by steps, divided by the time of these; null: there are no steps"),
      field("mfu", &SummaryRequest::mfu,
            "share of the peak FLOP/s in the phases whose FLOPs are known"),
      field("source", &SummaryRequest::source, "file"));
}

/// A user's own program, run once without a profiler.
struct SummaryProgram {
  double wall_ns = 0;
  double cpu_user_ns = 0;
  double cpu_system_ns = 0;
  std::uint64_t max_rss_bytes = 0;
  std::uint64_t processes = 0;
  std::string end;
  std::string no_adapter;
  std::string source;

  bool operator==(const SummaryProgram&) const = default;
};
constexpr auto fields(std::type_identity<SummaryProgram>) {
  return field_list(
      field("wall_ns", &SummaryProgram::wall_ns, "from start to end, of one run").required(),
      field("cpu_user_ns", &SummaryProgram::cpu_user_ns, "of all its processes"),
      field("cpu_system_ns", &SummaryProgram::cpu_system_ns, "of all its processes"),
      field("max_rss_bytes", &SummaryProgram::max_rss_bytes, "of the largest process"),
      field("processes", &SummaryProgram::processes, "that were observed"),
      field("end", &SummaryProgram::end, "how it ended"),
      field("no_adapter", &SummaryProgram::no_adapter,
            "why the Python adapter did not start in it; empty: it did, or there is no Python"),
      field("source", &SummaryProgram::source, "file"));
}

/// The overhead of a profiler.
struct SummaryOverhead {
  std::string stage;
  std::string phase;
  std::string unit;
  double units = 0;
  double baseline_ns = 0;
  double profiled_ns = 0;
  double slowdown = 1;
  std::string source;

  bool operator==(const SummaryOverhead&) const = default;
};
constexpr auto fields(std::type_identity<SummaryOverhead>) {
  return field_list(
      field("stage", &SummaryOverhead::stage, "whose profiler").required(),
      field("phase", &SummaryOverhead::phase, "an outermost phase, or the whole program")
          .required(),
      field("unit", &SummaryOverhead::unit, "image, request, token, step or run"),
      field("units", &SummaryOverhead::units, "that both runs have"),
      field("baseline_ns", &SummaryOverhead::baseline_ns, "per unit, without a profiler"),
      field("profiled_ns", &SummaryOverhead::profiled_ns, "per unit, with it"),
      field("slowdown", &SummaryOverhead::slowdown, "the second divided by the first"),
      field("source", &SummaryOverhead::source, "file of the profiled times"));
}

/// What the device's memory can move, and who says so.
struct SummaryMemoryRoof {
  double bytes_per_second = 0;
  std::string from;
  std::string source;

  bool operator==(const SummaryMemoryRoof&) const = default;
};
constexpr auto fields(std::type_identity<SummaryMemoryRoof>) {
  return field_list(
      field("bytes_per_second", &SummaryMemoryRoof::bytes_per_second, "at most").required(),
      field("from", &SummaryMemoryRoof::from, "where the figure comes from, in words"),
      field("source", &SummaryMemoryRoof::source, "file"));
}

/// The energy that a GPU used while nothing was profiled.
struct SummaryEnergy {
  std::string phase;
  double seconds = 0;
  std::uint64_t requests = 0;
  std::uint64_t tokens = 0;
  std::optional<double> counter_j;
  std::optional<double> integrated_j;
  std::optional<double> difference;
  std::optional<double> joules;
  std::optional<double> watts;
  std::optional<double> joules_per_token;
  std::optional<double> tokens_per_joule;
  std::string withheld;
  std::vector<std::string> notes;
  std::string source;

  bool operator==(const SummaryEnergy&) const = default;
};
constexpr auto fields(std::type_identity<SummaryEnergy>) {
  return field_list(
      field("phase", &SummaryEnergy::phase, "its name; empty: the steady requests as a whole")
          .required(),
      field("seconds", &SummaryEnergy::seconds,
            "from the start of the first to the end of the last"),
      field("requests", &SummaryEnergy::requests, "in that time"),
      field("tokens", &SummaryEnergy::tokens, "generated in that time; 0: not known"),
      field("counter_j", &SummaryEnergy::counter_j, "by NVML's total-energy counter").unit("J"),
      field("integrated_j", &SummaryEnergy::integrated_j, "instantaneous power over time")
          .unit("J"),
      field("difference", &SummaryEnergy::difference,
            "of both, as a share of the larger one; null: there are not both"),
      field("joules", &SummaryEnergy::joules, "the counter's, else the integrated; null: withheld")
          .unit("J"),
      field("watts", &SummaryEnergy::watts, "on average").unit("W"),
      field("joules_per_token", &SummaryEnergy::joules_per_token, "null: no tokens, or withheld")
          .unit("J"),
      field("tokens_per_joule", &SummaryEnergy::tokens_per_joule, "its inverse"),
      field("withheld", &SummaryEnergy::withheld, "why there is no figure; empty: there is one"),
      field("notes", &SummaryEnergy::notes, "what a reader must know"),
      field("source", &SummaryEnergy::source, "file"));
}

/// A file that the summary would have used.
struct SummaryAbsent {
  std::string file;
  std::string why;

  bool operator==(const SummaryAbsent&) const = default;
};
constexpr auto fields(std::type_identity<SummaryAbsent>) {
  return field_list(field("file", &SummaryAbsent::file, "below the run's folder").required(),
                    field("why", &SummaryAbsent::why, "why it was not used"));
}

struct RunSummary {
  static constexpr DocumentKind kKind{"summary", 2};

  std::string run;
  std::string experiment;
  std::string device;
  std::string device_name;
  std::string dtype;
  std::string engine;
  std::string verdict;
  std::optional<SummaryRequest> request;
  std::optional<SummaryProgram> program;
  std::optional<SummaryLoad> load;
  std::vector<ServerRecord> server;
  std::optional<RankAnalysis> ranks;
  std::vector<PhaseSummary> phases;
  std::vector<SummaryOneTime> one_time;
  std::vector<SummaryOverhead> overhead;
  std::optional<SummaryMemoryRoof> memory_roof;
  std::optional<RunCeilings> ceilings;
  std::vector<SummaryEnergy> energy;
  SummaryJoin join;
  std::vector<SummaryKernel> kernels;
  std::vector<std::string> notes;
  std::vector<SummaryAbsent> absent;

  bool operator==(const RunSummary&) const = default;
};
constexpr auto fields(std::type_identity<RunSummary>) {
  return field_list(
      field("run", &RunSummary::run, "id").required(),
      field("experiment", &RunSummary::experiment, "free text of the config"),
      field("device", &RunSummary::device, "the model ran on: cpu or cuda:N"),
      field("device_name", &RunSummary::device_name, "what its driver calls it; empty: not known"),
      field("dtype", &RunSummary::dtype, "of tensors; empty: not known"),
      field("engine", &RunSummary::engine, "how the model was run; empty: not known"),
      field("verdict", &RunSummary::verdict, "a sentence or two").required(),
      field("request", &RunSummary::request,
            "an average request; null: the baseline measured none"),
      field("program", &RunSummary::program, "the user's own; null: the built-in workload"),
      field("load", &RunSummary::load, "on a server; null: the run has no load"),
      field("server", &RunSummary::server, "each run of the server, with and without a profiler"),
      field("ranks", &RunSummary::ranks,
            "of a program that ran on several, compared; null: there are no captures of two"),
      field("phases", &RunSummary::phases, "those without parts").required(),
      field("one_time", &RunSummary::one_time,
            "costs that do not recur, such as the first use of a shape"),
      field("overhead", &RunSummary::overhead, "of each profiler, against the baseline"),
      field("memory_roof", &RunSummary::memory_roof,
            "the bandwidth that kernels and phases are compared with; null: not known"),
      field("ceilings", &RunSummary::ceilings,
            "what the device could reach, measured and as published; null: not recorded"),
      field("energy", &RunSummary::energy,
            "of the steady requests, and of phases that ran alone long enough"),
      field("join", &RunSummary::join, "how well the tables of kernels match"),
      field("kernels", &RunSummary::kernels, "most time first"),
      field("notes", &RunSummary::notes, "what a reader must know"),
      field("absent", &RunSummary::absent, "files that are missing or unreadable"));
}

}  // namespace profline
