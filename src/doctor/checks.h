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
  Found,    ///< there and usable
  Missing,  ///< not there
  Broken,   ///< there and not usable as it is
};

/// What doctor says of one thing: a state, what was seen, and if it is not found the exact fix.
struct Finding {
  std::string name;
  State state = State::Found;
  std::string detail;
  std::string fix{};

  bool operator==(const Finding&) const = default;
};

std::string_view to_text(State state);

// Each judges what was read; none looks at the machine itself.

Finding judge_gpu(const Result<gpu::Driver>& driver);

/// `module_text`: /proc/driver/nvidia/version, absent without the kernel module.
Finding judge_driver(const std::optional<std::string>& module_text);

/// `params_text`: /proc/driver/nvidia/params, absent without the kernel module.
Finding judge_counters(const std::optional<std::string>& params_text, bool privileged);

/// `trial` is absent when nsys itself did not answer.
Finding judge_nsys(const Result<nsys::Installation>& installation,
                   const std::optional<Result<nsys::Trial>>& trial);

/// ncu reaches a GPU, and starts at all, only through the user-mode driver.
Finding judge_ncu(const Result<ncu::Installation>& installation, const Result<gpu::Driver>& driver);

/// `paranoid`: /proc/sys/kernel/perf_event_paranoid.
Finding judge_sampling(const std::optional<std::string>& paranoid, bool privileged);

/// What `profline-workload --version --format json` answered, as text.
Finding judge_libtorch(const Result<std::string>& answer);

/// Whether the same program opens NVTX ranges, by which captures are gated and times attributed.
Finding judge_nvtx(const Result<std::string>& answer);

Finding judge_disk(const std::filesystem::path& folder, const Result<std::uint64_t>& free_bytes);

/// The programs to look at, each a name to be found on PATH or a path.
struct Programs {
  std::string nsys = "nsys";  ///< or one that is bundled with the ncu on PATH
  std::string ncu = "ncu";
  std::string workload{};  ///< empty: the one beside this program, then on PATH
};

/// What can be looked at, in the order of the findings.
const std::vector<std::string>& subjects();

/// Looks at this machine. An Error when a program that was named by its path is not there, or after
/// an interrupt.
Result<std::vector<Finding>> examine(const Programs& programs, ProcessRunner& processes,
                                     const Interrupt& interrupt);

/// Whether each of these is found; what nobody requires may be missing.
bool are_found(const std::vector<std::string>& required, const std::vector<Finding>& findings);

}  // namespace profline::doctor
