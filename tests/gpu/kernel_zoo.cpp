// Runs many kinds of kernels once each, eagerly and from a CUDA graph, under profilers: the
// captures below tests/golden/zoo are from this program; the README there says how they are made.

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAGraph.h>
#include <CLI/CLI.hpp>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/core.h>

#include "cli_program.h"
#include "exhibits.h"
#include "workload/measure/range.h"
#include "workload/profiler/record.h"

namespace {

using namespace profline;
using zoo::Exhibit;

/// Runs everything once, unmeasured: libraries load their kernels at the first use and choose among
/// them. What this machine or libtorch cannot do is reported and left out.
std::vector<Exhibit> that_run_here(const std::vector<Exhibit>& all) {
  const workload::Range range("warmup");
  std::vector<Exhibit> kept;
  for (const Exhibit& exhibit : all) {
    try {
      exhibit.run();
      c10::cuda::device_synchronize();
      kept.push_back(exhibit);
    } catch (const std::exception& thrown) {
      fmt::print(stderr, "kernel_zoo: left out {}: {}\n", exhibit.name, thrown.what());
    }
  }
  return kept;
}

void run_eagerly(const std::vector<Exhibit>& exhibits) {
  const workload::Range range("eager");
  for (const Exhibit& exhibit : exhibits) {
    const workload::Range own(exhibit.name.c_str());
    exhibit.run();
  }
  c10::cuda::device_synchronize();
}

at::Tensor captured(const Exhibit& exhibit) {
  try {
    return exhibit.run();
  } catch (const std::exception& thrown) {
    throw std::runtime_error(exhibit.name +
                             " cannot be captured (see --eager-only): " + thrown.what());
  }
}

/// The graph, and the memory that its kernels read and write.
class Replay {
 public:
  explicit Replay(const std::vector<Exhibit>& exhibits) {
    const c10::cuda::CUDAStreamGuard guard(stream_);
    for (const Exhibit& exhibit : exhibits) {
      if (exhibit.capturable) exhibit.run();  // this stream's own workspaces
    }
    c10::cuda::device_synchronize();
    graph_.capture_begin();
    for (const Exhibit& exhibit : exhibits) {
      if (exhibit.capturable) held_.push_back(captured(exhibit));
    }
    graph_.capture_end();
  }

  void run(int times) {
    const workload::Range range("graph");
    const c10::cuda::CUDAStreamGuard guard(stream_);
    for (int i = 0; i < times; ++i) {
      const workload::Range own("replay");
      graph_.replay();
    }
    c10::cuda::device_synchronize();
  }

 private:
  c10::cuda::CUDAStream stream_ = c10::cuda::getStreamFromPool();
  at::cuda::CUDAGraph graph_;
  std::vector<at::Tensor> held_;
};

struct Arguments {
  std::optional<std::filesystem::path> trace;
  std::vector<std::string> eager_only;
  int replays = 2;
};

Result<ExitCode> run(const Arguments& arguments) {
  const at::NoGradGuard no_grad;
  std::vector<Exhibit> exhibits = that_run_here(zoo::all_exhibits(at::Device(at::kCUDA, 0)));
  for (Exhibit& exhibit : exhibits) {
    const auto& names = arguments.eager_only;
    if (std::find(names.begin(), names.end(), exhibit.name) != names.end()) {
      exhibit.capturable = false;
    }
  }
  Replay replay(exhibits);
  const auto work = [&]() -> Result<void> {
    run_eagerly(exhibits);
    replay.run(arguments.replays);
    return {};
  };
  if (arguments.trace) {
    PL_TRY(workload::record({.cuda = true}, *arguments.trace, work));
  } else {
    PL_TRY(work());
  }
  fmt::print("kernel_zoo: {} exhibits, {} replays\n", exhibits.size(), arguments.replays);
  return ExitCode::Done;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr ProgramText kText{"kernel_zoo",
                              "Runs many kinds of GPU kernels once each, for profilers to look at"};
  return run_program<Arguments>(
      kText, argc, argv,
      [](CLI::App& app, Arguments& arguments) {
        app.add_option("--trace", arguments.trace,
                       "run under libtorch's profiler, which writes this file");
        app.add_option("--eager-only", arguments.eager_only,
                       "exhibits to leave out of the CUDA graph");
        app.add_option("--replays", arguments.replays, "of the CUDA graph")->capture_default_str();
      },
      [](CLI::App&, const Arguments& arguments) { return run(arguments); });
}
