#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/origins.h"
#include "formats/node.h"

namespace profline {

enum class StageState {
  On,
  Off,
  Auto,  ///< decided by its preflight
};
std::string_view to_text(StageState state);

/// A setting that shapes what is run, under its whole key.
struct Setting {
  std::string key;
  Node value;
};

/// What the configuration says about one stage.
struct StageOutline {
  std::string name;
  StageState state = StageState::Off;
  std::string why;
  std::vector<Setting> settings{};  ///< empty for a stage that is off
};

/// All stages in the order in which they run. `config` is composed, resolved and valid.
std::vector<StageOutline> outline_stages(const Node& config, const config::Origins& origins);

/// What all stages share: experiment, device, workload, model and data.
std::vector<Setting> shared_settings(const Node& config);

}  // namespace profline
