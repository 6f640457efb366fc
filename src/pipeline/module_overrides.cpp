#include "pipeline/module_overrides.h"

#include <filesystem>
#include <string_view>

#include "config/override_print.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

/// A value as Hydra's grammar takes it, in quotes where a character would mean something else.
std::string value_text(const Node& value) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:";
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (!value.is_string()) return config::print_value(value).value_or("null");
  const std::string& text = value.as_string();
  const bool is_plain = !text.empty() && text.find_first_not_of(kPlain) == std::string::npos;
  if (is_plain) return text;
  const config::OverrideValue::Variant quoted = config::QuotedString{.text = text};
  return config::print_value(config::OverrideValue(quoted)).value_or(text);
}

class Overrides {
 public:
  explicit Overrides(const RunSetup& setup) : setup_(setup) {}

  void set(std::string_view key, std::string_view text) {
    list_.push_back(std::string(key) + "=" + std::string(text));
  }
  void set(std::string_view key, const Node& value) { set(key, value_text(value)); }
  /// What the config has, if it has it.
  void pass(std::string_view key) {
    const Node* value = setup_.config.find_path(key);
    if (value != nullptr) set(key, *value);
  }
  void pass_given(std::string_view key) {
    const Node* value = setup_.config.find_path(key);
    if (value != nullptr && !value->is_null()) set(key, *value);
  }
  /// A relative path starts where profline was started.
  void pass_path(std::string_view key) {
    const Node* value = setup_.config.find_path(key);
    if (value == nullptr || !value->is_string() || value->as_string().empty()) return;
    set(key, Node::string((setup_.cwd / value->as_string()).lexically_normal().string()));
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  const RunSetup& setup_;
  std::vector<std::string> list_;
};

/// The same images in the same order in every run, cut off after as many as the stage wants.
void pass_sampling(const RunSetup& setup, const WorkloadRun& run, Overrides& overrides) {
  if (run.samples) {
    overrides.set("dataset.sampling.num_epochs", "1");
    overrides.set("dataset.sampling.num_samples_per_epoch", std::to_string(*run.samples));
  } else {
    overrides.pass("dataset.sampling.num_epochs");
    overrides.pass("dataset.sampling.num_samples_per_epoch");
  }
  overrides.pass("dataset.sampling.randomize");
  if (setup.sampling_seed) {
    overrides.set("dataset.sampling.seed", std::to_string(*setup.sampling_seed));
  } else {
    overrides.pass_given("dataset.sampling.seed");
  }
}

fs::path run_folder(const RunSetup& setup, const WorkloadRun& run) {
  return run.out == setup.stage_folder(run.stage) ? run.out / "workload" : run.out;
}

}  // namespace

std::vector<std::string> module_overrides(const RunSetup& setup, const WorkloadRun& run) {
  Overrides overrides(setup);
  overrides.pass_path("model.path");
  overrides.pass_path("dataset.root");
  overrides.pass("device");
  overrides.pass("infer.max_new_tokens");
  overrides.set("pipeline.torch_profiler.enable", "false");
  overrides.set("pipeline.static_analysis.enable", "false");
  pass_sampling(setup, run, overrides);
  overrides.pass_given("dataset.subset_filelist");
  overrides.set("hydra.run.dir", Node::string(run_folder(setup, run).string()));
  overrides.set("hydra.job.chdir", "true");
  return overrides.take();
}

}  // namespace profline::pipeline
