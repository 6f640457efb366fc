#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "schema/field.h"
#include "schema/problems.h"
#include "settings/device.h"
#include "settings/stage.h"

/// `model` and `infer` when `pipeline.workload.kind` is `deepseek_ocr`.
namespace profline::settings::deepseek_ocr {

/// How a picture that does not have the view's shape gets it.
enum class Resize { Auto, Squash, Letterbox };
constexpr auto names(std::type_identity<Resize>) {
  return std::array{named(Resize::Auto, "auto"), named(Resize::Squash, "squash"),
                    named(Resize::Letterbox, "letterbox")};
}

/// From a picture to views and tiles.
struct Preprocess {
  bool enable = true;
  std::uint32_t base_size = 1024;
  std::uint32_t image_size = 640;
  bool crop_mode = true;
  std::uint32_t patch_size = 16;
  std::uint32_t downsample_ratio = 4;
  std::uint32_t max_tiles = 9;
  std::uint32_t crop_threshold = 640;
  Resize resize = Resize::Auto;

  bool operator==(const Preprocess&) const = default;
};
constexpr auto fields(std::type_identity<Preprocess>) {
  return field_list(
      field("enable", &Preprocess::enable, "false: empty pictures, only the prompt counts"),
      field("base_size", &Preprocess::base_size, "side of the whole page's view beside tiles")
          .unit("px")
          .range(1, kMostPixelsASide),
      field("image_size", &Preprocess::image_size,
            "side of a tile; of the page's view when crop_mode is false")
          .unit("px")
          .range(1, kMostPixelsASide),
      field("crop_mode", &Preprocess::crop_mode, "cut large pictures into tiles as well"),
      field("patch_size", &Preprocess::patch_size, "side of what becomes one token of SAM")
          .unit("px")
          .range(1, kMostPixelsASide),
      field("downsample_ratio", &Preprocess::downsample_ratio,
            "tokens of SAM on a side for one token of the language model")
          .range(1, kMostPixelsASide),
      field("max_tiles", &Preprocess::max_tiles, "tiles of a picture at most").range(2, kMostTiles),
      field("crop_threshold", &Preprocess::crop_threshold,
            "pictures no larger than this on either side get no tiles; the presets say image_size")
          .unit("px")
          .range(0, kMostPictureSide),
      field("resize", &Preprocess::resize,
            "how the page gets its view's shape; auto: squash without tiles and up to 640, else "
            "letterbox"));
}
Checks validate(const Preprocess& preprocess);

enum class Init { Weights, Random };
constexpr auto names(std::type_identity<Init>) {
  return std::array{named(Init::Weights, "weights"), named(Init::Random, "random")};
}

enum class Variant { Full, Tiny };
constexpr auto names(std::type_identity<Variant>) {
  return std::array{named(Variant::Full, "full"), named(Variant::Tiny, "tiny")};
}

struct Model {
  std::string name = "deepseek_ocr";
  std::optional<std::filesystem::path> path = "models/deepseek-ocr";
  Init init = Init::Weights;
  Variant variant = Variant::Full;
  Dtype dtype = Dtype::Bf16;
  bool allow_tf32 = false;
  Preprocess preprocess;

  bool operator==(const Model&) const = default;
};
constexpr auto fields(std::type_identity<Model>) {
  return field_list(
      field("name", &Model::name, "what the report calls the model"),
      field("path", &Model::path,
            "folder with config.json, safetensors and tokenizer.json; null with init=random"),
      field("init", &Model::init, "random: tensors of the same shapes made from a seed, no files"),
      field("variant", &Model::variant,
            "shapes of init=random: those of the release, or half a million parameters"),
      field("dtype", &Model::dtype,
            "of tensors; norms, softmax and RoPE tables are fp32 in all of them"),
      field("allow_tf32", &Model::allow_tf32, "let fp32 products use TF32, also in cuDNN"),
      field("preprocess", &Model::preprocess, "from a picture to views and tiles"));
}
Checks validate(const Model& model);

enum class ContextLength { Auto, Fixed, Max };
constexpr auto names(std::type_identity<ContextLength>) {
  return std::array{named(ContextLength::Auto, "auto"), named(ContextLength::Fixed, "fixed"),
                    named(ContextLength::Max, "max")};
}

struct Infer {
  double temperature = 0.0;
  std::uint32_t max_new_tokens = 8192;
  std::uint32_t no_repeat_ngram_size = 20;
  bool do_sample = false;
  std::optional<std::uint32_t> top_k;
  std::optional<double> top_p;
  std::optional<std::uint64_t> seed;
  ContextLength context_len_mode = ContextLength::Auto;
  std::optional<std::uint32_t> context_len_fixed = 1024;
  std::optional<std::uint32_t> model_window;
  std::string decoder_prompt = "<image>\n<|grounding|>Convert the document to markdown.";

  bool operator==(const Infer&) const = default;
};
constexpr auto fields(std::type_identity<Infer>) {
  return field_list(
      field("temperature", &Infer::temperature, "of sampling; above 0 with do_sample").at_least(0),
      field("max_new_tokens", &Infer::max_new_tokens, "tokens to generate at most")
          .range(1, kMostTokens),
      field("no_repeat_ngram_size", &Infer::no_repeat_ngram_size,
            "so many tokens never come twice in a row of this length; 0: off")
          .range(0, kMostTokens),
      field("do_sample", &Infer::do_sample, "false: always the likeliest token"),
      field("top_k", &Infer::top_k, "sample from so many of the likeliest tokens; null: all")
          .range(1, kMostTokens),
      field("top_p", &Infer::top_p, "sample from the likeliest tokens of this share; null: all")
          .above(0)
          .at_most(1),
      field("seed", &Infer::seed, "of sampling; null: another text in each run"),
      field("context_len_mode", &Infer::context_len_mode,
            "context of the decode estimate: prompt plus half the new tokens, context_len_fixed, "
            "or model_window"),
      field("context_len_fixed", &Infer::context_len_fixed, "of context_len_mode=fixed")
          .unit("tokens")
          .range(1, kMostTokens),
      field("model_window", &Infer::model_window,
            "of context_len_mode=max; null: what the model's config.json says")
          .unit("tokens")
          .range(1, kMostTokens),
      field("decoder_prompt", &Infer::decoder_prompt, "with `<image>` where the page goes"));
}
Checks validate(const Infer& infer);

/// What the workload of this kind is told.
struct Subject {
  Model model;
  Infer infer;

  bool operator==(const Subject&) const = default;
};

}  // namespace profline::settings::deepseek_ocr

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
