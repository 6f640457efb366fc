#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schema/codec.h"
#include "schema/field.h"
#include "schema/problems.h"
#include "settings/stage.h"

namespace profline::settings {

/// Which images of the dataset are run, and in what order.
struct Sampling {
  std::optional<std::uint32_t> num_samples_per_epoch;
  std::uint32_t num_epochs = 1;
  bool randomize = false;
  std::optional<std::uint64_t> seed;

  bool operator==(const Sampling&) const = default;
};
constexpr auto fields(std::type_identity<Sampling>) {
  return field_list(
      field("num_samples_per_epoch", &Sampling::num_samples_per_epoch,
            "images per epoch, a window that advances with each epoch; null: all")
          .range(1, kMostImages),
      field("num_epochs", &Sampling::num_epochs, "number of passes over the dataset")
          .range(1, kMostRounds),
      field("randomize", &Sampling::randomize, "shuffle the images in each epoch"),
      field("seed", &Sampling::seed, "seed of the shuffle; null: a different order in each run"));
}

enum class DatasetSource { Folder, Synthetic, Files };
constexpr auto names(std::type_identity<DatasetSource>) {
  return std::array{named(DatasetSource::Folder, "folder"),
                    named(DatasetSource::Synthetic, "synthetic"),
                    named(DatasetSource::Files, "files")};
}

/// Images found in a folder.
struct ImageFolder {
  std::string name = "OmniDocBench";
  DatasetSource source = DatasetSource::Folder;
  std::filesystem::path root = "datasets/omnidocbench/source-data";
  std::optional<std::filesystem::path> subset_filelist;
  std::vector<std::string> fallback_patterns{"images/*.png", "images/*.jpg"};
  Sampling sampling;

  bool operator==(const ImageFolder&) const = default;
};
constexpr auto fields(std::type_identity<ImageFolder>) {
  return field_list(
      field("name", &ImageFolder::name, "the dataset's name in reports"),
      field("source", &ImageFolder::source, "where images come from; determines the other keys"),
      field("root", &ImageFolder::root, "the folder; relative to the one profline is started in"),
      field("subset_filelist", &ImageFolder::subset_filelist,
            "text file with one image per line, relative to root; null: fallback_patterns"),
      field("fallback_patterns", &ImageFolder::fallback_patterns,
            "globs relative to root, used without subset_filelist"),
      field("sampling", &ImageFolder::sampling, "which images to run"));
}
Checks validate(const ImageFolder& dataset);

/// Width and height in pixels, written `612x792`.
struct PageSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  bool operator==(const PageSize&) const = default;
};

/// Pages that the program generates itself.
struct SyntheticPages {
  std::string name = "synthetic";
  DatasetSource source = DatasetSource::Synthetic;
  std::uint32_t pages = 4;
  std::vector<PageSize> page_sizes{{612, 792}, {960, 540}, {300, 200}, {96, 64}};
  std::uint64_t seed = 0;
  Sampling sampling;

  bool operator==(const SyntheticPages&) const = default;
};
constexpr auto fields(std::type_identity<SyntheticPages>) {
  return field_list(
      field("name", &SyntheticPages::name, "the dataset's name in reports"),
      field("source", &SyntheticPages::source, "where images come from; determines the other keys"),
      field("pages", &SyntheticPages::pages, "number of pages to generate").range(1, kMostPages),
      field("page_sizes", &SyntheticPages::page_sizes, "width x height in pixels, used in turn"),
      field("seed", &SyntheticPages::seed, "seed of the page content"),
      field("sampling", &SyntheticPages::sampling, "which pages to run"));
}
Checks validate(const SyntheticPages& dataset);

/// Images listed by name.
struct ImageFiles {
  std::string name = "files";
  DatasetSource source = DatasetSource::Files;
  std::filesystem::path root = ".";
  std::vector<std::filesystem::path> files;
  Sampling sampling;

  bool operator==(const ImageFiles&) const = default;
};
constexpr auto fields(std::type_identity<ImageFiles>) {
  return field_list(
      field("name", &ImageFiles::name, "the dataset's name in reports"),
      field("source", &ImageFiles::source, "where images come from; determines the other keys"),
      field("root", &ImageFiles::root, "the folder that relative names start from"),
      field("files", &ImageFiles::files,
            "images, folders of images, lists (.txt) or patterns such as scans/*.png, in order"),
      field("sampling", &ImageFiles::sampling, "which images to run"));
}
Checks validate(const ImageFiles& dataset);

/// The `dataset` section; its key `source` selects one of these.
struct Dataset {
  std::variant<ImageFolder, SyntheticPages, ImageFiles> images;

  bool operator==(const Dataset&) const = default;
  const std::string& name() const;
  const Sampling& sampling() const;
};

}  // namespace profline::settings

namespace profline::schema {

template <>
struct Codec<settings::PageSize> {
  static constexpr Kinds kKinds{Node::Kind::String};
  static std::string text(const Limits&) { return "size such as 612x792"; }
  static void read(const Node& node, settings::PageSize& value, Reader& reader);
  static Node write(const settings::PageSize& value);
};

template <>
struct Codec<settings::Dataset> {
  static constexpr Kinds kKinds{Node::Kind::Map};
  static std::string text(const Limits&) { return "map"; }
  static void read(const Node& node, settings::Dataset& value, Reader& reader);
  static Node write(const settings::Dataset& value);
};

}  // namespace profline::schema
