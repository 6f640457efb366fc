#pragma once

#include <string_view>

#include "pipeline/stage.h"
#include "run/names/artifact_names.h"

/// The stages of a run whose workload is a server. Each starts the server, puts it under load and
/// stops it; a profiler records a window of the load.
namespace profline::stages {

/// The run without a profiler, which the others are compared with.
class ServerBaselineStage final : public pipeline::Stage {
 public:
  std::string_view id() const override { return run::stages::kBaseline; }
  const settings::Stage& settings(const settings::Pipeline& pipeline) const override {
    return pipeline.baseline;
  }
  bool is_measured_against_baseline() const override { return false; }
  Needs needs(const settings::Root& /*settings*/) const override { return {}; }
  std::vector<pipeline::Finding> preflight(const pipeline::StageContext& context) const override;
  pipeline::StagePlan plan(const pipeline::StageContext& context) const override;
  Result<void> run(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                   pipeline::StageRun& run) const override;
  std::vector<pipeline::Finding> verify(const pipeline::StageContext& context,
                                        const run::Run& files) const override;
  Result<void> summarise(const pipeline::StageContext& context, const run::Run& files,
                         pipeline::StageRun& run) const override;
};

/// The window under libtorch's profiler, by Kineto on demand or by the engine's own endpoints.
class ServerTorchStage final : public pipeline::Stage {
 public:
  std::string_view id() const override { return run::stages::kTorchProfiler; }
  const settings::Stage& settings(const settings::Pipeline& pipeline) const override {
    return pipeline.torch_profiler;
  }
  bool is_measured_against_baseline() const override { return true; }
  bool reads_baseline(const settings::Root& /*settings*/) const override { return true; }
  Needs needs(const settings::Root& /*settings*/) const override { return {}; }
  std::vector<pipeline::Finding> preflight(const pipeline::StageContext& context) const override;
  pipeline::StagePlan plan(const pipeline::StageContext& context) const override;
  Result<void> run(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                   pipeline::StageRun& run) const override;
  std::vector<pipeline::Finding> verify(const pipeline::StageContext& context,
                                        const run::Run& files) const override;
  Result<void> summarise(const pipeline::StageContext& context, const run::Run& files,
                         pipeline::StageRun& run) const override;
};

/// The window under nsys.
class ServerNsysStage final : public pipeline::Stage {
 public:
  std::string_view id() const override { return run::stages::kNsys; }
  const settings::Stage& settings(const settings::Pipeline& pipeline) const override {
    return pipeline.nsys;
  }
  bool is_measured_against_baseline() const override { return true; }
  bool reads_baseline(const settings::Root& /*settings*/) const override { return true; }
  Needs needs(const settings::Root& /*settings*/) const override { return {.nsys = true}; }
  bool classifies_kernels() const override { return true; }
  std::vector<pipeline::Finding> preflight(const pipeline::StageContext& context) const override;
  pipeline::StagePlan plan(const pipeline::StageContext& context) const override;
  Result<void> run(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                   pipeline::StageRun& run) const override;
  std::vector<pipeline::Finding> verify(const pipeline::StageContext& context,
                                        const run::Run& files) const override;
  Result<void> summarise(const pipeline::StageContext& context, const run::Run& files,
                         pipeline::StageRun& run) const override;
};

}  // namespace profline::stages
