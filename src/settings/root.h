#pragma once

#include <string>
#include <variant>

#include "base/result.h"
#include "formats/node.h"
#include "settings/dataset.h"
#include "settings/device.h"
#include "settings/models.h"
#include "settings/pipeline.h"

namespace profline::settings {

/// What the config says whatever the workload is.
struct Shared {
  std::string experiment = "stage1";
  Device device{.kind = Device::Kind::Cuda, .index = 0};
  bool use_flash_attn = true;
  Dataset dataset;
  Pipeline pipeline;
  Node vars = Node::map();

  bool operator==(const Shared&) const = default;
};
constexpr auto fields(std::type_identity<Shared>) {
  return field_list(
      field("experiment", &Shared::experiment, "free text, shown in the report and by runs"),
      field("device", &Shared::device, "where the model runs; auto: first CUDA device, else cpu"),
      field("use_flash_attn", &Shared::use_flash_attn,
            "fused attention; false: as separate operators"),
      field("dataset", &Shared::dataset, "what the model is given; its keys follow `source`"),
      field("pipeline", &Shared::pipeline, "the stages"),
      field("vars", &Shared::vars, "anything to refer to as ${vars.NAME}"));
}

/// The whole config of one kind of workload, as it is laid out in files.
template <typename Subject>
struct Layout : Shared, Subject {
  bool operator==(const Layout&) const = default;
};
template <typename Subject>
constexpr auto fields(std::type_identity<Layout<Subject>>) {
  return fields(std::type_identity<Shared>{}) +
         field_list(field("model", &Subject::model, "the network; its keys follow the workload"),
                    field("infer", &Subject::infer, "how it is run; its keys follow the workload"));
}
Checks validate(const Layout<deepseek_ocr::Subject>& settings);
Checks validate(const Layout<dummy_shallow_resnet::Subject>& settings);

/// A config that is complete, known key by key and free of contradictions.
struct Root : Shared {
  /// `model` and `infer`; which, `pipeline.workload.kind` says.
  std::variant<deepseek_ocr::Subject, dummy_shallow_resnet::Subject> subject;

  bool operator==(const Root&) const = default;
};

/// Reads the job's config, composed and resolved, without its `hydra` node. The Error lists all
/// that is wrong, each problem with its position (Error::each); removed keys come first, and say
/// what replaced them.
Result<Root> read_settings(const Node& config);

}  // namespace profline::settings
