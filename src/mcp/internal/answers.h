#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "mcp/cited.h"
#include "mcp/internal/arguments.h"
#include "mcp/tools.h"

/// What each tool answers.
namespace profline::mcp {

/// What the answers are made from.
struct Sources {
  const catalog::Catalog& catalog;
  const session::Services& services;
  const Follower& follower;  ///< may be empty
};

Result<Answer> answer_runs(const Sources& sources, const RunsArguments& asked);
Result<Answer> answer_summary(const Sources& sources, const SummaryArguments& asked);
Result<Answer> answer_verdict(const Sources& sources, const VerdictArguments& asked);
Result<Answer> answer_kernels(const Sources& sources, const KernelsArguments& asked);
Result<Answer> answer_compare(const Sources& sources, const CompareArguments& asked);
Result<Answer> answer_trace(const Sources& sources, const TraceArguments& asked);
Result<Answer> answer_explain(const Sources& sources, const ExplainArguments& asked);
Result<Answer> answer_plan(const Sources& sources, const PlanArguments& asked);
/// Starts a run and waits for its end. Its folder is below the first root.
Result<Answer> answer_run(const Sources& sources, const PlanArguments& asked);

/// A run whose files are read.
struct OpenRun {
  catalog::KnownRun known;
  std::filesystem::path file(std::string_view name) const { return known.folder / name; }
  const std::string& name() const { return known.row.folder; }
};
Result<OpenRun> open_run(const Sources& sources, const std::string& wanted);

/// Adds summary.json; nothing if it cannot be read, and then the answer says why.
std::optional<std::size_t> add_summary(const OpenRun& run, Answer& answer);
/// Adds the stages that have no complete result, as missing.
void add_stages_without_result(const OpenRun& run, Answer& answer);
/// Adds the lack of files that the summary would have used.
void add_absent_files(std::size_t summary, Answer& answer);
/// The index and node of the phase that is called `name`, by its path or name; nothing without one.
struct PhaseRow {
  std::size_t index;
  const Node* row;
};
std::optional<PhaseRow> phase_called(const Node& summary, const std::string& name);
/// `preprocess, prefill, decode`.
std::string phase_names(const Node& summary);

/// Text at a key; empty without one.
std::string text_of(const Node& map, std::string_view key);
bool contains_text(std::string_view text, std::string_view part);

}  // namespace profline::mcp
