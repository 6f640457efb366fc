#include "settings/root.h"

#include "schema/read.h"
#include "settings/removed_keys.h"

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

}  // namespace profline::settings
