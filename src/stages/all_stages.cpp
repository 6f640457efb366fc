// The only file that knows every stage.

#include "stages/all_stages.h"

#include "stages/baseline/baseline_stage.h"
#include "stages/direct_inference/direct_inference_stage.h"
#include "stages/load/load_stage.h"
#include "stages/ncu/ncu_stage.h"
#include "stages/nsys/nsys_stage.h"
#include "stages/server/server_stages.h"
#include "stages/static_analysis/static_analysis_stage.h"
#include "stages/torch_profiler/torch_profiler_stage.h"

namespace profline::stages {

pipeline::Stages all_stages() {
  pipeline::Stages stages;
  stages.push_back(std::make_unique<StaticAnalysisStage>());
  stages.push_back(std::make_unique<BaselineStage>());
  stages.push_back(std::make_unique<TorchProfilerStage>());
  stages.push_back(std::make_unique<NsysStage>());
  stages.push_back(std::make_unique<NcuStage>());
  stages.push_back(std::make_unique<DirectInferenceStage>());
  return stages;
}

pipeline::Stages server_stages() {
  pipeline::Stages stages;
  stages.push_back(std::make_unique<ServerBaselineStage>());
  stages.push_back(std::make_unique<ServerTorchStage>());
  stages.push_back(std::make_unique<ServerNsysStage>());
  return stages;
}

pipeline::Stages load_stages() {
  pipeline::Stages stages;
  stages.push_back(std::make_unique<LoadStage>());
  return stages;
}

}  // namespace profline::stages
