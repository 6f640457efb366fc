#pragma once

#include "settings/output.h"
#include "settings/stage.h"

namespace profline::settings {

/// `pipeline.direct_inference`: the model over the dataset for its answers, no profiler.
struct DirectInference : Stage {
  Output output;

  bool operator==(const DirectInference&) const = default;
};
constexpr auto fields(std::type_identity<DirectInference>) {
  return field_list(enable_field(),
                    field("output", &DirectInference::output, "what is written of the answers"),
                    timeout_field());
}

}  // namespace profline::settings
