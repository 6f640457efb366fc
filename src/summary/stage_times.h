#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/node.h"
#include "records/run_summary.h"
#include "records/sample.h"

namespace profline::summary {

/// The stages of a model that samples tell apart, in the order in which they run; `prefill` holds
/// all of them but `decode`.
inline constexpr std::string_view kModelStages[] = {"sam", "clip", "projector", "lm", "decode"};

/// What a stage took in one sample.
struct StageTime {
  double units = 0;  ///< 1 image, or the tokens after the first; 0: the sample has no such part
  double ns = 0;
};
/// Of a stage above, of `prefill` or of `preprocess`.
StageTime stage_time(const Sample& sample, std::string_view stage);
StageTime stage_time(std::span<const Sample> samples, std::string_view stage);

/// Of units: images, or single tokens. As metrics.json has it, else computed from the samples.
std::optional<SummaryTimes> stage_spread(std::span<const Sample> samples, const Node* metrics,
                                         std::string_view stage);

}  // namespace profline::summary
