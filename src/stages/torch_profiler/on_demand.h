#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "records/run_record.h"
#include "tools/kineto/responder.h"

/// A program whose processes are traced on demand while it runs.
namespace profline::stages {

/// When and for how long processes are traced on demand.
struct OnDemandWindow {
  std::chrono::milliseconds after{0};  ///< since the program's start
  std::chrono::milliseconds duration{500};

  bool operator==(const OnDemandWindow&) const = default;
};

/// The name from which those of traces recorded on demand are derived: `kineto.json`, into which
/// each process inserts its pid.
std::filesystem::path on_demand_file(const std::filesystem::path& folder);

/// Kernels, copies and fills of each process whose trace is in the stage's folder, by its pid as it
/// sees itself; from traces.json. A process whose trace could not be read is not in it.
std::map<std::int64_t, std::uint64_t> kernels_by_process(const std::filesystem::path& folder);

struct OnDemandRun {
  std::filesystem::path sockets;  ///< the folder of the socket that processes ask
  kineto::TraceRequest trace;
  OnDemandWindow window;
  std::filesystem::path recorded;  ///< where Python processes record what they do
  /// How the Python processes that the adapter traces were started.
  std::vector<std::string> makers;
};

/// Runs the program: with the observer and the variables of Kineto on demand, or, if the observer
/// is null, without them.
using RunObserved = std::function<Result<Exit>(RunObserver* observer)>;

/// Answers processes that ask whether to trace while the program runs, and reports what became of
/// their traces.
Result<Exit> run_on_demand(const OnDemandRun& traced, const RunObserved& run_program,
                           const std::function<void(Finding)>& report);

}  // namespace profline::stages
