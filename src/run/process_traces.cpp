#include "run/process_traces.h"

#include <algorithm>
#include <filesystem>

#include "run/names/artifact_names.h"

namespace profline::run {
namespace {

namespace fs = std::filesystem;

/// `trace.json`, `kineto_77.json`, `trace-77.json`
bool is_profline_trace(const std::string& name) {
  return name == files::kTrace || name.starts_with("kineto_") || name.starts_with("trace-");
}

template <typename IsWanted>
std::vector<std::string> traces_in(const Run& run, const fs::path& below, IsWanted is_wanted) {
  std::vector<std::string> found;
  std::error_code failure;
  for (fs::directory_iterator at(run.folder() / below, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename().string();
    const bool is_trace = name.ends_with(".json") || name.ends_with(".json.gz");
    if (is_trace && is_wanted(name)) found.push_back((below / name).string());
  }
  std::sort(found.begin(), found.end());
  if (found.size() < 2) found.clear();
  return found;
}

}  // namespace

std::vector<std::string> process_traces(const Run& run) {
  const fs::path stage = stages::kTorchProfiler;
  auto of_engine = traces_in(run, stage / folders::kEngineTraces, [](const auto&) { return true; });
  return of_engine.empty() ? traces_in(run, stage, is_profline_trace) : of_engine;
}

}  // namespace profline::run
