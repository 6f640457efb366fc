#include "workloads/program/environment.h"

#include <cstdlib>

namespace profline::program {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInjection = "NVTX_INJECTION64_PATH";
constexpr const char* kPythonPath = "PYTHONPATH";

std::optional<fs::path> existing(const fs::path& path) {
  std::error_code failure;
  if (!fs::exists(path, failure)) return std::nullopt;
  return path;
}

const char* text_of(GateKind gate) {
  switch (gate) {
    case GateKind::Cuda:
      return "cuda";
    case GateKind::Torch:
      return "torch";
    case GateKind::None:
      break;
  }
  return "none";
}

void add_python(const fs::path& package, const ProgramRun& run, Inherited own,
                std::map<std::string, std::string>& variables) {
  const std::string before = own(kPythonPath).value_or("");
  std::string& path = variables[kPythonPath];
  path = (package / "startup").string();
  if (!before.empty()) path += ":" + before;
  variables["PROFLINE_PYTHON"] = package.string();
  variables["PROFLINE_GATE"] = text_of(run.gate);
  if (run.gate_plan) variables["PROFLINE_GATE_PLAN"] = run.gate_plan->string();
  if (run.traces) variables["PROFLINE_TRACE_DIR"] = run.traces->string();
  if (!run.torch_options.empty()) variables["PROFLINE_TORCH"] = run.torch_options;
}

}  // namespace

Companions find_companions(const fs::path& executable) {
  const fs::path root = executable.parent_path().parent_path();
  return {.recorder = existing(root / "lib/profline/libprofline-recorder.so"),
          .python = existing(root / "share/profline/python")};
}

std::optional<std::string> inherited(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

std::map<std::string, std::string> environment(const ProgramRun& run, const Companions& companions,
                                               const settings::Workload& workload, Inherited own) {
  std::map<std::string, std::string> variables;
  variables["PROFLINE_RUN_DIR"] = run.run_folder.string();
  variables[kRecordDir] = run.record_folder.string();
  if (companions.recorder) variables["PROFLINE_RECORDER"] = companions.recorder->string();
  if (run.loads_recorder && why_no_recorder(companions, own).empty()) {
    variables[kInjection] = companions.recorder->string();
  }
  const bool is_adapted = companions.python && workload.python == settings::PythonAdapter::Auto;
  if (is_adapted) add_python(*companions.python, run, own, variables);
  return variables;
}

std::string why_no_recorder(const Companions& companions, Inherited own) {
  if (const auto other = own(kInjection); other && !other->empty()) {
    return std::string(kInjection) + " is already set, to '" + *other + "'";
  }
  if (!companions.recorder) return "libprofline-recorder.so is not installed with profline";
  return {};
}

}  // namespace profline::program
