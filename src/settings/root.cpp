#include "settings/root.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "schema/read.h"

namespace profline::settings {
namespace {

/// A problem with the value is reported when it is read; until then the default applies.
WorkloadKind kind_of(const Node& config) {
  const Node* kind = config.find_path("pipeline.workload.kind");
  if (kind == nullptr || !kind->is_string()) return WorkloadKind::DeepseekOcr;
  for (const WorkloadKind other :
       {WorkloadKind::DummyShallowResnet, WorkloadKind::Program, WorkloadKind::Server}) {
    if (kind->as_string() == schema::name_of(other)) return other;
  }
  return WorkloadKind::DeepseekOcr;
}

template <typename Subject>
Root read_layout(const Node& config, schema::Problems& problems) {
  auto layout = schema::read<Layout<Subject>>(config, problems);
  Root root;
  static_cast<Shared&>(root) = std::move(static_cast<Shared&>(layout));
  root.subject = std::move(static_cast<Subject&>(layout));
  return root;
}

Root read_root(const Node& config, schema::Problems& problems) {
  switch (kind_of(config)) {
    case WorkloadKind::Program:
    case WorkloadKind::Server:
      return read_layout<program::Subject>(config, problems);
    case WorkloadKind::DummyShallowResnet:
      return read_layout<dummy_shallow_resnet::Subject>(config, problems);
    case WorkloadKind::DeepseekOcr:
      break;
  }
  return read_layout<deepseek_ocr::Subject>(config, problems);
}

template <typename Settings>
void check_dtype(const Settings& settings, const Dtype& dtype, Checks& checks) {
  if (settings.device.kind == Device::Kind::Cpu && dtype == Dtype::Fp16) {
    checks.fail(dtype, "must be bf16 or fp32 when device is cpu, not fp16");
  }
}

}  // namespace

Checks validate(const Layout<deepseek_ocr::Subject>& settings) {
  Checks checks;
  check_dtype(settings, settings.model.dtype, checks);
  const Workload& workload = settings.pipeline.workload;
  if (workload.engine == Engine::Fast && settings.infer.batch_size > 1 &&
      !workload.user_command()) {
    checks.fail(workload.engine, "must be eager or auto when infer.batch_size is " +
                                     std::to_string(settings.infer.batch_size) +
                                     ": the fast engine generates one image at a time");
  }
  return checks;
}

Checks validate(const Layout<dummy_shallow_resnet::Subject>& settings) {
  Checks checks;
  check_dtype(settings, settings.infer.dtype, checks);
  const std::optional<Device>& device = settings.infer.device;
  if (device && *device != settings.device) {
    checks.fail(device, "must be null or the same as device, " + settings.device.to_string());
  }
  return checks;
}

std::string Root::experiment_name() const {
  if (!experiment.empty()) return experiment;
  return program_name(pipeline.workload.user_command().value_or(std::vector<std::string>{}));
}

Result<Root> read_settings(const Node& config) {
  schema::Problems problems;
  const Node known = without_removed_keys(config, problems);
  Root root = read_root(known, problems);
  if (!problems.empty()) return problems.to_error();
  return root;
}

namespace {

struct RemovedKey {
  std::string_view key;
  std::string_view advice;
};

/// The advice for a section applies to its keys that have no line of their own.
constexpr RemovedKey kRemoved[] = {
    {"run", "stages are switched by pipeline.<stage>.enable, and there is no run section"},
    {"run.mode", "switch stages with pipeline.<stage>.enable"},
    {"run.device", "use device"},
    {"run.repeats", "use dataset.sampling.num_samples_per_epoch"},
    {"run.stage1_repeats", "use dataset.sampling.num_samples_per_epoch"},
    {"run.dataset_subset_filelist", "use dataset.subset_filelist"},
    {"run.representative_max_new_tokens", "use infer.max_new_tokens"},
    {"run.top_n_kernels",
     "use pipeline.ncu.ncu_cli.kernel_name, or `profline kernels top` with `profline kernels "
     "profile`"},
    {"repeats", "use dataset.sampling.num_samples_per_epoch"},
    {"artifacts", "the run directory is hydra.run.dir"},
    {"analysis", "use pipeline.static_analysis"},
    {"analysis.static", "use pipeline.static_analysis"},
    {"analysis.static.enabled", "use pipeline.static_analysis.enable"},
    {"analysis.static.write_reports", "use pipeline.static_analysis.write_reports"},
    {"analysis.static.use_analytic_fallback", "use pipeline.static_analysis.use_analytic_fallback"},
    {"analysis.static.use_synthetic_inputs", "use pipeline.static_analysis.use_synthetic_inputs"},
    {"runner",
     "for stage2 write pipeline.nsys.enable=true pipeline.ncu.enable=true, for stage1.no-static "
     "pipeline.static_analysis.enable=false; stage1.default is what profline does by itself"},
    {"stage1_runner", "every stage gets the whole config"},
    {"stage1_runner.disable_static", "use pipeline.static_analysis.enable"},
    {"stage1_runner.device", "use device"},
    {"outputs", "use pipeline.torch_profiler.output or pipeline.direct_inference.output"},
    {"outputs.save_predictions", "use pipeline.direct_inference.output.prediction.enable"},
    {"outputs.predictions.strip_special_tokens",
     "use pipeline.direct_inference.output.extra.deepseek_ocr.prediction.strip_special_tokens"},
    {"outputs.visualization.enable", "use pipeline.direct_inference.output.visualization.enable"},
    {"outputs.visualization.max_images",
     "use pipeline.direct_inference.output.extra.deepseek_ocr.visualization.max_images"},
    {"outputs.visualization.thumbnail_width",
     "use pipeline.direct_inference.output.extra.deepseek_ocr.visualization.thumbnail_width"},
    {"inputs", "images are named by dataset"},
    {"inputs.manifest", "use dataset.subset_filelist, or dataset=files"},
    {"torch_profiler", "use pipeline.torch_profiler"},
    {"nsys", "use pipeline.nsys"},
    {"ncu", "use pipeline.ncu"},
    {"pipeline.nsys.capture", "use pipeline.nsys.capture_range"},
    {"pipeline.ncu.target_processes", "use pipeline.ncu.ncu_cli.target_processes"},
    {"pipeline.ncu.nvtx_include", "use pipeline.ncu.ncu_cli.nvtx.include"},
    {"pipeline.ncu.set", "use pipeline.ncu.ncu_cli.set"},
    {"pipeline.ncu.metrics", "use pipeline.ncu.ncu_cli.metrics"},
    {"pipeline.ncu.sections", "use pipeline.ncu.ncu_cli.sections"},
    {"pipeline.ncu.csv", "use pipeline.ncu.ncu_cli.export.csv"},
};

std::string joined(const std::string& path, const std::string& step) {
  return path.empty() ? step : path + '.' + step;
}

/// Removes removed keys from a tree and reports them.
class Removal {
 public:
  explicit Removal(schema::Problems& problems) : problems_(problems) {}

  Node rest_of(const Node& node, const std::string& path) {
    if (!node.is_map()) return node;
    NodeMap kept;
    for (const NodeMap::Entry& entry : node.as_map()) {
      const std::string key =
          entry.key.is_string() ? joined(path, entry.key.as_string()) : std::string();
      if (!key.empty() && advice_for_removed_key(key)) {
        report(entry, key);
      } else {
        kept.set(entry.key, key.empty() ? entry.value : rest_of(entry.value, key));
      }
    }
    Node rest = Node::map(std::move(kept));
    rest.set_mark(node.mark());
    return rest;
  }

 private:
  /// A section is reported value by value, because each has its own successor.
  void report(const NodeMap::Entry& entry, const std::string& key) {
    if (entry.value.is_map() && !entry.value.as_map().empty()) {
      for (const NodeMap::Entry& inner : entry.value.as_map()) {
        report(inner, inner.key.is_string() ? joined(key, inner.key.as_string()) : key);
      }
      return;
    }
    std::string message = "key '" + key + "' was removed: ";
    message += advice_for_removed_key(key).value_or("");
    const Position own = entry.key.position();
    const Position position = own == Position{} ? entry.value.position() : own;
    problems_.add(position == Position{} ? Error(ErrorKind::Config, std::move(message))
                                         : Error(ErrorKind::Config, std::move(message), position));
  }

  schema::Problems& problems_;
};

}  // namespace

std::optional<std::string_view> advice_for_removed_key(std::string_view key) {
  while (true) {
    const auto* found = std::find_if(std::begin(kRemoved), std::end(kRemoved),
                                     [&](const RemovedKey& each) { return each.key == key; });
    if (found != std::end(kRemoved)) return found->advice;
    const std::size_t dot = key.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    key = key.substr(0, dot);
  }
}

Node without_removed_keys(const Node& config, schema::Problems& problems) {
  return Removal(problems).rest_of(config, "");
}

}  // namespace profline::settings
