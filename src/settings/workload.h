#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "schema/field.h"
#include "schema/problems.h"
#include "settings/stage.h"

namespace profline::settings {

enum class WorkloadKind { DeepseekOcr, DummyShallowResnet };
constexpr auto names(std::type_identity<WorkloadKind>) {
  return std::array{named(WorkloadKind::DeepseekOcr, "deepseek_ocr"),
                    named(WorkloadKind::DummyShallowResnet, "dummy_shallow_resnet")};
}

enum class Engine { Auto, Eager, Fast };
constexpr auto names(std::type_identity<Engine>) {
  return std::array{named(Engine::Auto, "auto"), named(Engine::Eager, "eager"),
                    named(Engine::Fast, "fast")};
}

/// `pipeline.workload`: the program that is profiled.
struct Workload {
  WorkloadKind kind = WorkloadKind::DeepseekOcr;
  std::optional<std::vector<std::string>> command;
  std::optional<std::string> module;
  std::filesystem::path cwd = ".";
  Engine engine = Engine::Auto;
  std::optional<std::uint32_t> threads;
  bool nvtx_steps = false;

  bool operator==(const Workload&) const = default;

  /// The user's program with its arguments; nothing for the built-in workload.
  std::optional<std::vector<std::string>> user_command() const;
};
constexpr auto fields(std::type_identity<Workload>) {
  return field_list(
      field("kind", &Workload::kind,
            "the built-in workload; determines the keys of model and infer"),
      field("command", &Workload::command,
            "program and arguments to profile instead; null: the built-in workload"),
      field("module", &Workload::module,
            "Python module with a Hydra config to profile instead, started as python3 -m MODULE "
            "with overrides for device, paths, tokens, sampling and run folder; null or blank: "
            "none"),
      field("cwd", &Workload::cwd, "working directory of command or module"),
      field(
          "engine", &Workload::engine,
          "how to run the model; eager: libtorch's operators one by one; fast: our CUDA kernels as "
          "CUDA graphs (an error if they cannot run); auto: fast if it can run, otherwise eager"),
      field("threads", &Workload::threads, "CPU threads; null: all cores").range(1, kMostThreads),
      field("nvtx_steps", &Workload::nvtx_steps, "open an NVTX range decode_step for each token"));
}
Checks validate(const Workload& workload);

}  // namespace profline::settings
