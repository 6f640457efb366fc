#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "schema/field.h"
#include "schema/problems.h"
#include "settings/device.h"
#include "settings/dtype.h"
#include "settings/limits.h"

/// `model` and `infer` when `pipeline.workload.kind` is `dummy_shallow_resnet`.
namespace profline::settings::dummy_shallow_resnet {

struct Preprocess {
  bool enable = false;
  std::uint32_t image_size = 64;
  bool normalize = false;

  bool operator==(const Preprocess&) const = default;
};
constexpr auto fields(std::type_identity<Preprocess>) {
  return field_list(
      field("enable", &Preprocess::enable, "the dataset's pictures instead of random input"),
      field("image_size", &Preprocess::image_size, "side of the input")
          .unit("px")
          .range(1, kMostPixelsASide),
      field("normalize", &Preprocess::normalize, "bring the input to mean 0 and deviation 1"));
}

struct Model {
  std::string description;
  std::string name = "dummy_shallow_resnet";
  std::optional<std::filesystem::path> path;
  Preprocess preprocess;

  bool operator==(const Model&) const = default;
};
constexpr auto fields(std::type_identity<Model>) {
  return field_list(
      field("description", &Model::description, "for people"),
      field("name", &Model::name, "what the report calls the model"),
      field("path", &Model::path, "null: the network has no files, its weights are random"),
      field("preprocess", &Model::preprocess, "what the network is given"));
}
Checks validate(const Model& model);

struct Infer {
  std::string description;
  Dtype dtype = Dtype::Fp32;
  std::uint32_t batch_size = 4;
  std::optional<Device> device;

  bool operator==(const Infer&) const = default;
};
constexpr auto fields(std::type_identity<Infer>) {
  return field_list(field("description", &Infer::description, "for people"),
                    field("dtype", &Infer::dtype, "of tensors"),
                    field("batch_size", &Infer::batch_size, "pictures in one forward pass")
                        .range(1, kMostInABatch),
                    field("device", &Infer::device,
                          "null: the root's `device`; a name given here must be the same"));
}

/// What the workload of this kind is told.
struct Subject {
  Model model;
  Infer infer;

  bool operator==(const Subject&) const = default;
};

}  // namespace profline::settings::dummy_shallow_resnet
