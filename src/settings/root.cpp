#include "settings/root.h"

#include "schema/read.h"
#include "settings/removed_keys.h"

namespace profline::settings {
namespace {

/// A problem with the value is reported when it is read; until then the default applies.
WorkloadKind kind_of(const Node& config) {
  const Node* kind = config.find_path("pipeline.workload.kind");
  constexpr WorkloadKind kDummy = WorkloadKind::DummyShallowResnet;
  if (kind == nullptr || !kind->is_string()) return WorkloadKind::DeepseekOcr;
  return kind->as_string() == schema::name_of(kDummy) ? kDummy : WorkloadKind::DeepseekOcr;
}

template <typename Subject>
Root read_layout(const Node& config, schema::Problems& problems) {
  auto layout = schema::read<Layout<Subject>>(config, problems);
  Root root;
  static_cast<Shared&>(root) = std::move(static_cast<Shared&>(layout));
  root.subject = std::move(static_cast<Subject&>(layout));
  return root;
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

Result<Root> read_settings(const Node& config) {
  schema::Problems problems;
  const Node known = without_removed_keys(config, problems);
  Root root = kind_of(known) == WorkloadKind::DummyShallowResnet
                  ? read_layout<dummy_shallow_resnet::Subject>(known, problems)
                  : read_layout<deepseek_ocr::Subject>(known, problems);
  if (!problems.empty()) return problems.to_error();
  return root;
}

}  // namespace profline::settings
