#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "formats/node.h"
#include "schema/read.h"
#include "settings/dataset.h"
#include "settings/hardware.h"
#include "settings/models.h"
#include "settings/pipeline.h"

namespace profline::settings {

/// The part of the config that does not depend on the workload.
struct Shared {
  std::string experiment = "stage1";
  Device device{.kind = Device::Kind::Cuda, .index = 0};
  bool use_flash_attn = true;
  std::string ceilings = "auto";
  Dataset dataset;
  Pipeline pipeline;
  Node vars = Node::map();

  bool operator==(const Shared&) const = default;
};
constexpr auto fields(std::type_identity<Shared>) {
  return field_list(
      field("experiment", &Shared::experiment,
            "free text, shown in reports and in the list of runs; empty: the program's name"),
      field("device", &Shared::device,
            "where the model runs; auto: the first CUDA device, otherwise the CPU"),
      field("use_flash_attn", &Shared::use_flash_attn,
            "use fused attention; false: separate operators"),
      field("ceilings", &Shared::ceilings,
            "what the device could reach; auto: as measured by 'profline ceilings', otherwise as "
            "published; measured; datasheet; or a file of 'profline ceilings'"),
      field("dataset", &Shared::dataset, "what the model is given; its keys depend on `source`"),
      field("pipeline", &Shared::pipeline, "the stages"),
      field("vars", &Shared::vars, "your own values, for use as ${vars.NAME} elsewhere"));
}

/// The whole config for one kind of workload, with the layout of the files.
template <typename Subject>
struct Layout : Shared, Subject {
  bool operator==(const Layout&) const = default;
};
template <typename Subject>
constexpr auto fields(std::type_identity<Layout<Subject>>) {
  return fields(std::type_identity<Shared>{}) +
         field_list(field("model", &Subject::model, "the network; its keys depend on the workload"),
                    field("infer", &Subject::infer,
                          "how the model is run; its keys depend on the workload"));
}
/// A program brings its own way to run its model.
constexpr auto fields(std::type_identity<Layout<program::Subject>>) {
  return fields(std::type_identity<Shared>{}) +
         field_list(field("model", &program::Subject::model, "the program's model"));
}
Checks validate(const Layout<deepseek_ocr::Subject>& settings);
Checks validate(const Layout<dummy_shallow_resnet::Subject>& settings);

/// A complete config, with only known keys and without contradictions.
struct Root : Shared {
  /// `model` and `infer`; `pipeline.workload.kind` decides which.
  std::variant<deepseek_ocr::Subject, dummy_shallow_resnet::Subject, program::Subject> subject;

  bool operator==(const Root&) const = default;

  /// `experiment`, or the program's name if that is empty.
  std::string experiment_name() const;
};

/// Reads the job's config, composed and resolved, without its `hydra` node. The Error lists all
/// problems with their positions (Error::each); removed keys come first, with what replaced them.
Result<Root> read_settings(const Node& config);

}  // namespace profline::settings

/// Keys of the predecessor's configs that no longer exist.
namespace profline::settings {

/// What replaced `key` (`run.mode`) or its section; nothing if there was no such key. Follows the
/// words `was removed: `.
std::optional<std::string_view> advice_for_removed_key(std::string_view key);

/// The config without removed keys; each of their values is a problem at its place.
Node without_removed_keys(const Node& config, schema::Problems& problems);

}  // namespace profline::settings
