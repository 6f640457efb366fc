#include "stages/server/internal/engine_traces.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/figures.h"
#include "base/files.h"
#include "run/names/artifact_names.h"
#include "run/process_traces.h"
#include "stages/server/internal/session.h"
#include "tools/torch_profiler/trace.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::RunSetup;
using pipeline::Severity;

/// The traces that an engine's own profiler left, by size, the largest first.
std::vector<fs::path> engine_traces(const fs::path& from, const fs::path& kept) {
  std::vector<std::pair<std::uintmax_t, fs::path>> found;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(from, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename().string();
    const bool is_trace = name.ends_with(".trace.json") || name.ends_with(".trace.json.gz");
    if (!is_trace || at->path().parent_path() == kept) continue;
    std::error_code gone;
    const std::uintmax_t size = fs::file_size(at->path(), gone);
    if (!gone && size > 0) found.emplace_back(size, at->path());
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  std::vector<fs::path> traces;
  for (auto& [size, path] : found) traces.push_back(std::move(path));
  return traces;
}

/// A trace in the run's folder needs no second copy; one elsewhere may be overwritten by its
/// engine.
Result<void> keep_trace(const fs::path& from, const fs::path& to, bool is_in_run) {
  std::error_code failure;
  fs::remove(to, failure);
  if (is_in_run) fs::create_hard_link(from, to, failure);
  if (failure || !is_in_run) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, failure);
  }
  if (!failure) return {};
  return Error(ErrorKind::Io, "cannot copy " + from.string() + ": " + failure.message());
}

}  // namespace

Result<void> adopt_traces(const RunSetup& setup, bool server_survived, pipeline::StageRun& run) {
  const fs::path folder = setup.stage_folder(run::stages::kTorchProfiler);
  const fs::path kept = folder / run::folders::kEngineTraces;
  const settings::ServerHttp& http = workload_of(setup).server.http;
  const fs::path from = http.traces ? setup.cwd / *http.traces : folder;
  const std::vector<fs::path> traces = engine_traces(from, kept);
  std::error_code ignored;
  fs::remove_all(kept, ignored);
  if (traces.empty() && !server_survived) return {};  // its end was reported
  if (traces.empty()) {
    run.report({Severity::Problem, "nothing_traced",
                "the engine's profiler left no trace in " + from.string(),
                "tell the engine to write there, or name its folder: "
                "pipeline.workload.server.http.traces=FOLDER"});
    return {};
  }
  const fs::path& best = traces.front();
  run.report({Severity::Note, "traces",
              counted(traces.size(), "trace") +
                  " of the engine; the largest is the one shown: " + best.filename().string()});
  if (traces.size() > 1) PL_TRY(create_folders(kept));
  for (const fs::path& trace : traces) {
    if (traces.size() > 1) PL_TRY(keep_trace(trace, kept / trace.filename(), !http.traces));
  }
  const char* shown = best.extension() == ".gz" ? run::files::kCompressedTrace : run::files::kTrace;
  return keep_trace(best, folder / shown, !http.traces);
}

void count_work(const Timeline& timeline, std::map<std::int64_t, std::uint64_t>& work) {
  for (const Thread& thread : timeline.threads) work.try_emplace(thread.process, 0);
  for (const DeviceWork& each : timeline.work) {
    if (each.launch == kNoRow || timeline.calls[each.launch].thread == kNoRow) continue;
    ++work[timeline.threads[timeline.calls[each.launch].thread].process];
  }
}

std::map<std::int64_t, std::uint64_t> work_of_engine(const RunSetup& setup,
                                                     const ServerRecord& record,
                                                     const Timeline& shown) {
  std::map<std::int64_t, std::uint64_t> work;
  count_work(shown, work);
  const bool is_enough = std::all_of(
      record.processes.begin(), record.processes.end(),
      [&](const ServerProcess& process) { return !process.gpu || work.contains(process.pid); });
  if (is_enough) return work;
  const fs::path kept =
      setup.stage_folder(run::stages::kTorchProfiler) / run::folders::kEngineTraces;
  std::map<std::int64_t, std::uint64_t> all;
  std::error_code failure;
  for (fs::directory_iterator at(kept, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (const auto trace = torch_profiler::read_trace(at->path())) count_work(*trace, all);
  }
  all.merge(work);
  return all;
}

}  // namespace profline::stages::internal
