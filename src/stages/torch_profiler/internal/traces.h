#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stage.h"
#include "process/runner.h"
#include "records/document.h"
#include "schema/field.h"
#include "stages/torch_profiler/on_demand.h"
#include "tools/kineto/responder.h"
#include "tools/kineto/traced_processes.h"

/// The traces that the processes of a user's program left in the stage's folder.
namespace profline::stages::internal {

enum class TraceSource {
  Adapter,  ///< torch.profiler, opened by the Python adapter around requests
  Kineto,   ///< recorded on demand
};
constexpr auto names(std::type_identity<TraceSource>) {
  return std::array{named(TraceSource::Adapter, "adapter"), named(TraceSource::Kineto, "kineto")};
}

/// One trace.
struct ProcessTraceFile {
  std::string file;
  std::int64_t pid = 0;
  TraceSource source = TraceSource::Kineto;
  std::uint64_t bytes = 0;
  bool complete = true;
  std::uint64_t requests = 0;
  bool main = false;
  std::uint64_t operators = 0;
  std::uint64_t kernels = 0;
  std::int64_t kernel_ns = 0;

  bool operator==(const ProcessTraceFile&) const = default;
};
constexpr auto fields(std::type_identity<ProcessTraceFile>) {
  return field_list(
      field("file", &ProcessTraceFile::file, "in the stage's folder").required(),
      field("pid", &ProcessTraceFile::pid, "of the process, as the process sees it").required(),
      field("source", &ProcessTraceFile::source, "who recorded it: adapter, kineto").required(),
      field("bytes", &ProcessTraceFile::bytes, "size of the file"),
      field("complete", &ProcessTraceFile::complete, "whether it was written to its end"),
      field("requests", &ProcessTraceFile::requests, "requests that it was opened around; 0: none"),
      field("main", &ProcessTraceFile::main, "whether the tables are computed from it"),
      field("operators", &ProcessTraceFile::operators, "calls of operators in it"),
      field("kernels", &ProcessTraceFile::kernels, "kernels, copies and fills in it"),
      field("kernel_ns", &ProcessTraceFile::kernel_ns, "their total time"));
}

/// `traces.json`.
struct ProcessTraces {
  static constexpr DocumentKind kKind{"traces", 1};

  std::vector<ProcessTraceFile> traces;

  bool operator==(const ProcessTraces&) const = default;
};
constexpr auto fields(std::type_identity<ProcessTraces>) {
  return field_list(field("traces", &ProcessTraces::traces, "the main one first"));
}

/// The process that a trace belongs to; nothing for another file.
std::optional<ProcessTraceFile> trace_named(std::string_view file);

/// The traces in a folder, without reading their events. The main one is first: the one with the
/// most requests, otherwise the largest.
std::vector<ProcessTraceFile> find_traces(const pipeline::RunSetup& setup,
                                          const std::filesystem::path& folder);

/// Renames the main trace to `trace.json`, and writes the tables computed from it and the list of
/// all traces. Reports what is missing in them.
Result<void> write_tables(const pipeline::StageContext& context, const run::Run& files,
                          pipeline::StageRun& run);

/// The same for a program with ranks: the tables are those of the first rank that was traced, and
/// each rank's folder gets its trace and its list of traces.
Result<void> write_rank_tables(const pipeline::StageContext& context, const run::Run& files,
                               pipeline::StageRun& run);

}  // namespace profline::stages::internal

/// The stage on a user's program: torch.profiler through the Python adapter or, for a program
/// without requests that the adapter could bracket, Kineto on demand.
namespace profline::stages::internal {

std::vector<pipeline::Finding> program_preflight(const pipeline::StageContext& context);
pipeline::StagePlan program_plan(const pipeline::StageContext& context);
Result<void> trace_program(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                           pipeline::StageRun& run);
std::vector<pipeline::Finding> verify_program(const pipeline::StageContext& context);

/// Why Kineto on demand is not used; empty: it is.
std::string why_no_kineto(const pipeline::RunSetup& setup);

using stages::OnDemandWindow;
/// In the middle of a program that took `wall` in the baseline; nothing: not known.
OnDemandWindow on_demand_window(std::optional<std::chrono::nanoseconds> wall);

/// Takes out the processes of Python that were started like `makers`, because they never ask for a
/// trace: the adapter traced them, or they made no requests and were not traced, which is reported.
/// `recorded` is where they recorded what they did.
std::vector<pipeline::Finding> take_out_adapted(const std::filesystem::path& recorded,
                                                const std::vector<std::string>& makers,
                                                std::vector<kineto::ProcessTrace>& traces);

/// Takes out the processes that were not traced on demand, but wrote a complete trace of their own
/// into `folder`.
void take_out_self_traced(const std::filesystem::path& folder,
                          std::vector<kineto::ProcessTrace>& traces);

/// What the user should know about traces on demand.
std::vector<pipeline::Finding> on_demand_findings(const std::vector<kineto::ProcessTrace>& traces,
                                                  const kineto::Traffic& traffic,
                                                  const OnDemandWindow& window);

}  // namespace profline::stages::internal
