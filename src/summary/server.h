#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/run_summary.h"
#include "run/artifacts.h"

/// The runs of a server in a run's summary, and in words. Sentences end without a full stop.
namespace profline::summary {

/// Those that the run has, the one without a profiler first.
std::vector<ServerRecord> servers_of(const run::Run& run);

/// The first run with a window whose capture shows the most: steps, else work of a GPU, else
/// anything. Null: nothing was captured.
const ServerRecord* profiled_server(const RunSummary& summary);

/// A row of text, under a heading.
struct ServerTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
/// Each run: how it went, its window, and what its profiler cost.
ServerTable server_runs(const RunSummary& summary);
/// The processes of a run.
ServerTable server_processes(const ServerRecord& server);
/// The steps of a run, most time first; together they cover the window.
ServerTable server_steps(const ServerSteps& steps);
/// The GPUs in the window.
ServerTable server_gpus(const ServerRecord& server);
/// What was checked afterwards.
ServerTable server_proofs(const ServerRecord& server);

/// Where the steps come from, or why no steps are known.
std::string steps_words(const ServerSteps& steps);
/// Where the time to the first token goes; empty: the server does not say.
std::string first_token_words(const RunSummary& summary);
/// What the GPU did while requests waited; empty: not known.
std::string gpu_words(const RunSummary& summary);

std::string server_verdict(const RunSummary& summary);

}  // namespace profline::summary
