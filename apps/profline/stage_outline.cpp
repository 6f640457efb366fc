#include "stage_outline.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/strings.h"
#include "schema/value_text.h"

namespace profline {
namespace {

struct StageKeys {
  std::string_view name;
  /// Its times are told beside those of a run without a profiler.
  bool is_measuring = false;
  std::vector<std::string_view> settings;  ///< below `pipeline.<name>`
};

std::vector<StageKeys> all_stages() {
  return {
      {"static_analysis",
       false,
       {"use_synthetic_inputs", "use_analytic_fallback", "write_reports", "timeout"}},
      {"baseline", false, {"warmup_rounds", "warmup_synthetic", "timeout"}},
      {"torch_profiler",
       true,
       {"activities", "record_shapes", "profile_memory", "with_stack", "group_by_input_shape",
        "decode_steps", "timeout"}},
      {"nsys",
       true,
       {"trace", "sample", "capture_range", "capture_range_end", "nvtx_capture", "gating_nvtx",
        "samples", "timeout"}},
      {"ncu",
       true,
       {"ncu_cli.set", "ncu_cli.sections", "ncu_cli.metrics", "ncu_cli.replay_mode",
        "ncu_cli.nvtx.include", "ncu_cli.kernel_name", "gating_nvtx", "samples", "max_launches",
        "timeout"}},
      {"direct_inference",
       false,
       {"output.prediction.enable", "output.visualization.enable", "timeout"}},
  };
}

std::vector<Setting> settings_at(const Node& config, const std::string& prefix,
                                 std::span<const std::string_view> keys) {
  std::vector<Setting> settings;
  for (const std::string_view key : keys) {
    const std::string path = prefix + std::string(key);
    if (const Node* value = config.find_path(path)) settings.push_back({path, *value});
  }
  return settings;
}

StageState state_of(const Node* enable) {
  if (enable == nullptr) return StageState::Off;
  if (enable->is_string() && enable->as_string() == "auto") return StageState::Auto;
  return enable->is_bool() && enable->as_bool() ? StageState::On : StageState::Off;
}

/// `pipeline.nsys.enable is false (conf/config.yaml:41:13)`
std::string reason(const std::string& key, const Node* enable, const config::Origins& origins) {
  if (enable == nullptr) return key + " is not set";
  std::string text = key + " is " + schema::value_text(*enable);
  const std::vector<config::Origin> history = origins.history(key);
  if (history.empty()) return text;
  const config::Origin& last = history.back();
  return text + " (" + (last.is_override ? last.position.source : last.position.to_string()) + ")";
}

std::vector<std::string> names_of(const std::vector<StageOutline>& outlines, StageState state,
                                  const std::vector<StageKeys>& stages) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].is_measuring && outlines[i].state == state) names.push_back(outlines[i].name);
  }
  return names;
}

/// Left to itself, the unprofiled run takes place whenever something is measured against it.
void decide_baseline(std::vector<StageOutline>& outlines, const std::vector<StageKeys>& stages) {
  const auto baseline =
      std::find_if(outlines.begin(), outlines.end(),
                   [](const StageOutline& outline) { return outline.name == "baseline"; });
  if (baseline->state != StageState::Auto) return;
  const std::vector<std::string> on = names_of(outlines, StageState::On, stages);
  const std::vector<std::string> possible = names_of(outlines, StageState::Auto, stages);
  if (!on.empty()) {
    baseline->state = StageState::On;
    baseline->why += ", and what is measured against it is on: " + join(on, ", ");
  } else if (!possible.empty()) {
    baseline->why += ", as " + join(possible, ", ") + " is";
  } else {
    baseline->state = StageState::Off;
    baseline->why += ", and nothing that is measured against it is on";
  }
}

}  // namespace

std::string_view to_text(StageState state) {
  switch (state) {
    case StageState::On:
      return "on";
    case StageState::Off:
      return "off";
    case StageState::Auto:
      return "auto";
  }
  return "";
}

std::vector<StageOutline> outline_stages(const Node& config, const config::Origins& origins) {
  const std::vector<StageKeys> stages = all_stages();
  std::vector<StageOutline> outlines;
  for (const StageKeys& stage : stages) {
    const std::string prefix = "pipeline." + std::string(stage.name) + ".";
    const Node* enable = config.find_path(prefix + "enable");
    outlines.push_back(
        {std::string(stage.name), state_of(enable), reason(prefix + "enable", enable, origins)});
  }
  decide_baseline(outlines, stages);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (outlines[i].state == StageState::Off) continue;
    outlines[i].settings =
        settings_at(config, "pipeline." + outlines[i].name + ".", stages[i].settings);
  }
  return outlines;
}

std::vector<Setting> shared_settings(const Node& config) {
  constexpr std::string_view kKeys[] = {"experiment",
                                        "device",
                                        "pipeline.workload.kind",
                                        "pipeline.workload.command",
                                        "model.name",
                                        "model.path",
                                        "model.dtype",
                                        "infer.max_new_tokens",
                                        "dataset.name",
                                        "dataset.root",
                                        "dataset.sampling.num_samples_per_epoch",
                                        "dataset.sampling.num_epochs"};
  return settings_at(config, "", kKeys);
}

}  // namespace profline
