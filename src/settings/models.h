#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "schema/field.h"
#include "schema/problems.h"
#include "settings/hardware.h"
#include "settings/stage.h"

/// `model` and `infer` when `pipeline.workload.kind` is `deepseek_ocr`.
namespace profline::settings::deepseek_ocr {

/// How an image is fitted to a view of another shape.
enum class Resize { Auto, Squash, Letterbox };
constexpr auto names(std::type_identity<Resize>) {
  return std::array{named(Resize::Auto, "auto"), named(Resize::Squash, "squash"),
                    named(Resize::Letterbox, "letterbox")};
}

/// From an image to views and tiles.
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
      field("enable", &Preprocess::enable, "false: empty images, so that only the prompt matters"),
      field("base_size", &Preprocess::base_size,
            "side of the whole page's view, in addition to tiles")
          .unit("px")
          .range(1, kMostPixelsASide),
      field("image_size", &Preprocess::image_size,
            "side of a tile; of the whole page's view if crop_mode is false")
          .unit("px")
          .range(1, kMostPixelsASide),
      field("crop_mode", &Preprocess::crop_mode, "also cut large images into tiles"),
      field("patch_size", &Preprocess::patch_size,
            "side of a patch, which becomes one token in SAM")
          .unit("px")
          .range(1, kMostPixelsASide),
      field("downsample_ratio", &Preprocess::downsample_ratio,
            "SAM tokens per side that become one token of the language model")
          .range(1, kMostPixelsASide),
      field("max_tiles", &Preprocess::max_tiles, "maximum number of tiles per image")
          .range(2, kMostTiles),
      field("crop_threshold", &Preprocess::crop_threshold,
            "images no larger than this on either side get no tiles; the presets use image_size")
          .unit("px")
          .range(0, kMostPictureSide),
      field("resize", &Preprocess::resize,
            "how the page is fitted to its view; auto: squash without tiles and up to 640, "
            "otherwise letterbox"));
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
      field("name", &Model::name, "the model's name in reports"),
      field("path", &Model::path,
            "folder with config.json, safetensors and tokenizer.json; null with init=random"),
      field("init", &Model::init,
            "random: tensors of the same shapes, generated from a seed; needs no files"),
      field("variant", &Model::variant,
            "model size with init=random: that of the release, or half a million parameters"),
      field("dtype", &Model::dtype,
            "type of tensors; norms, softmax and RoPE tables are always fp32"),
      field("allow_tf32", &Model::allow_tf32, "allow TF32 in fp32 matrix products, also in cuDNN"),
      field("preprocess", &Model::preprocess, "how an image becomes views and tiles"));
}
Checks validate(const Model& model);

enum class ContextLength { Auto, Fixed, Max };
constexpr auto names(std::type_identity<ContextLength>) {
  return std::array{named(ContextLength::Auto, "auto"), named(ContextLength::Fixed, "fixed"),
                    named(ContextLength::Max, "max")};
}

struct Infer {
  std::uint32_t batch_size = 1;
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
      field("batch_size", &Infer::batch_size,
            "images generated together, which are one request; the last request of an epoch may "
            "have fewer. Above 1 only with the eager engine")
          .range(1, kMostSequences),
      field("temperature", &Infer::temperature,
            "sampling temperature; must be above 0 with do_sample")
          .at_least(0),
      field("max_new_tokens", &Infer::max_new_tokens, "maximum number of tokens to generate")
          .range(1, kMostTokens),
      field("no_repeat_ngram_size", &Infer::no_repeat_ngram_size,
            "no sequence of this many tokens is generated twice; 0: off")
          .range(0, kMostTokens),
      field("do_sample", &Infer::do_sample, "false: always choose the most likely token"),
      field("top_k", &Infer::top_k, "sample from this many of the most likely tokens; null: all")
          .range(1, kMostTokens),
      field("top_p", &Infer::top_p,
            "sample from the most likely tokens with this total probability; null: all")
          .above(0)
          .at_most(1),
      field("seed", &Infer::seed, "sampling seed; null: a different text in each run"),
      field("context_len_mode", &Infer::context_len_mode,
            "context length of the decode estimate: prompt plus half of the new tokens, "
            "context_len_fixed, or model_window"),
      field("context_len_fixed", &Infer::context_len_fixed,
            "context length for context_len_mode=fixed")
          .unit("tokens")
          .range(1, kMostTokens),
      field("model_window", &Infer::model_window,
            "context length for context_len_mode=max; null: from the model's config.json")
          .unit("tokens")
          .range(1, kMostTokens),
      field("decoder_prompt", &Infer::decoder_prompt,
            "the prompt, with `<image>` where the page goes"));
}
Checks validate(const Infer& infer);

/// The settings for this kind of workload.
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
      field("enable", &Preprocess::enable, "use the dataset's images instead of random input"),
      field("image_size", &Preprocess::image_size, "side of the input")
          .unit("px")
          .range(1, kMostPixelsASide),
      field("normalize", &Preprocess::normalize,
            "normalise the input to mean 0 and standard deviation 1"));
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
      field("description", &Model::description, "free text"),
      field("name", &Model::name, "the model's name in reports"),
      field("path", &Model::path, "always null: the network has random weights and no files"),
      field("preprocess", &Model::preprocess, "the network's input"));
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
  return field_list(
      field("description", &Infer::description, "free text"),
      field("dtype", &Infer::dtype, "type of tensors"),
      field("batch_size", &Infer::batch_size, "images per forward pass").range(1, kMostInABatch),
      field("device", &Infer::device, "null: the root's `device`; if set, it must be the same"));
}

/// The settings for this kind of workload.
struct Subject {
  Model model;
  Infer infer;

  bool operator==(const Subject&) const = default;
};

}  // namespace profline::settings::dummy_shallow_resnet

/// `model` when `pipeline.workload.kind` is `program`.
namespace profline::settings::program {

struct Model {
  std::optional<std::filesystem::path> config;

  bool operator==(const Model&) const = default;
};
constexpr auto fields(std::type_identity<Model>) {
  return field_list(field("config", &Model::config,
                          "config.json of the program's model, for static analysis; null: what the "
                          "Python adapter recorded"));
}

/// The settings for this kind of workload.
struct Subject {
  Model model;

  bool operator==(const Subject&) const = default;
};

}  // namespace profline::settings::program
