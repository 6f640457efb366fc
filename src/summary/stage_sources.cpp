#include "summary/stage_sources.h"

namespace profline::summary {

StageSources stage_sources(const RunSummary& summary) {
  StageSources from;
  for (const SummaryStage& stage : summary.stages) {
    from.times.push_back(stage.source);
    if (stage.device) from.devices.push_back(stage.device->source);
    if (!stage.cost) continue;
    from.costs.push_back(stage.cost->source);
    from.ceilings = stage.cost->ceilings;
    from.shapes = stage.cost->shapes;
  }
  return from;
}

}  // namespace profline::summary
