#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "tools/gpu/driver.h"
#include "tools/ncu/probe.h"
#include "tools/nsys/probe.h"

namespace profline::doctor {

enum class State {
  Found,    ///< present and usable
  Missing,  ///< not present
  Broken,   ///< present but not usable as it is
};

/// The result for one subject: its state, what was found, and, unless the state is Found, the exact
/// fix.
struct Finding {
  std::string name;
  State state = State::Found;
  std::string detail;
  std::string fix{};

  bool operator==(const Finding&) const = default;
};

std::string_view to_text(State state);

// Pure functions of what was read; none of them examines the machine.

Finding judge_gpu(const Result<gpu::Driver>& driver);

/// `module_text`: /proc/driver/nvidia/version, absent without the kernel module.
Finding judge_driver(const std::optional<std::string>& module_text);

/// `params_text`: /proc/driver/nvidia/params, absent without the kernel module.
Finding judge_counters(const std::optional<std::string>& params_text, bool privileged);

/// `trial` is absent when nsys itself did not answer.
Finding judge_nsys(const Result<nsys::Installation>& installation,
                   const std::optional<Result<nsys::Trial>>& trial);

/// ncu needs the user-mode driver to reach a GPU, and even to start.
Finding judge_ncu(const Result<ncu::Installation>& installation, const Result<gpu::Driver>& driver);

/// `paranoid`: /proc/sys/kernel/perf_event_paranoid.
Finding judge_sampling(const std::optional<std::string>& paranoid, bool privileged);

/// `answer`: the output of `profline-workload --version --format json`.
Finding judge_libtorch(const Result<std::string>& answer);

/// Whether that program opens NVTX ranges, which captures are gated on and times attributed to.
/// `answer` as above.
Finding judge_nvtx(const Result<std::string>& answer);

Finding judge_disk(const std::filesystem::path& folder, const Result<std::uint64_t>& free_bytes);

/// The programs to examine, each a name on PATH or a path.
struct Programs {
  std::string nsys = "nsys";  ///< or the one that is bundled with the ncu on PATH
  std::string ncu = "ncu";
  std::string workload{};  ///< empty: the one beside this program, then on PATH
  std::string srun = "srun";
  std::string mpirun = "mpirun";
  std::string torchrun = "torchrun";
};

/// All subjects, in the order of the findings.
const std::vector<std::string>& subjects();

/// Examines this machine. An Error if a program given by path does not exist, or after an
/// interrupt.
Result<std::vector<Finding>> examine(const Programs& programs, ProcessRunner& processes,
                                     const Interrupt& interrupt);

/// Whether every required subject is found; others may be missing.
bool are_found(const std::vector<std::string>& required, const std::vector<Finding>& findings);

}  // namespace profline::doctor
