#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "settings/pipeline.h"

/// What profline adds to the environment of a user's program.
namespace profline::program {

/// The parts of profline that programs load, as far as they are installed. They are next to the
/// executable both in an installation and in a build folder: bin/profline,
/// lib/profline/libprofline-recorder.so, share/profline/python.
struct Companions {
  std::optional<std::filesystem::path> recorder{};  ///< the library that records NVTX ranges
  std::optional<std::filesystem::path> python{};    ///< the folder with the package `profline`

  bool operator==(const Companions&) const = default;
};
Companions find_companions(const std::filesystem::path& executable);

/// What the adapter opens around the requests that a profiler looks at.
enum class GateKind {
  None,
  Cuda,   ///< cudaProfilerStart and cudaProfilerStop
  Torch,  ///< torch.profiler
};

/// One run of the program in a stage.
struct ProgramRun {
  std::filesystem::path run_folder{};
  std::filesystem::path record_folder{};  ///< where its processes write what they record
  bool loads_recorder = false;            ///< only without a profiler, which has its own NVTX tool
  GateKind gate = GateKind::None;
  std::optional<std::filesystem::path> gate_plan{};  ///< steady.json
  std::optional<std::filesystem::path> traces{};     ///< where torch.profiler's traces go
  std::string torch_options{};                       ///< JSON for torch.profiler; empty: none
};

/// The variable that names a run's `record_folder`, which exists before the program starts.
inline constexpr const char* kRecordDir = "PROFLINE_RECORD_DIR";

/// The variables of Kineto on demand, for the adapter: it removes them in processes in which it
/// opens torch.profiler, and gives them back to those that they start.
inline constexpr const char* kForAdapter = "PROFLINE_KINETO";

/// The value of a variable in our own environment; nothing if it is not set.
using Inherited = std::optional<std::string> (*)(const char* name);
std::optional<std::string> inherited(const char* name);

/// The variables to add to the program's environment; reads nothing but `own`. Without the Python
/// package, or with `pipeline.workload.python=off`, its variables are left out. An NVTX library
/// that the user set is kept.
std::map<std::string, std::string> environment(const ProgramRun& run, const Companions& companions,
                                               const settings::Workload& workload,
                                               Inherited own = inherited);

/// Why the recorder cannot be loaded; empty: it can.
std::string why_no_recorder(const Companions& companions, Inherited own = inherited);

}  // namespace profline::program
