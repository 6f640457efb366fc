#pragma once

#include "pipeline/stage.h"
#include "run/names/artifact_names.h"

namespace profline::stages {

/// Puts a server that is already running under load, through profline-load. Its results are files
/// of the run itself: load.json and requests.jsonl.
class LoadStage final : public pipeline::Stage {
 public:
  std::string_view id() const override { return run::stages::kLoad; }
  const settings::Stage& settings(const settings::Pipeline& pipeline) const override;
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

}  // namespace profline::stages
