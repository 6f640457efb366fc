#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "inputs/images/picture.h"
#include "settings/dataset.h"

namespace profline::dataset {

/// A page drawn from numbers alone.
struct SyntheticPage {
  std::uint32_t number = 1;
  images::Size size;
  std::uint64_t seed = 0;

  bool operator==(const SyntheticPage&) const = default;
};

/// A document: a heading, paragraphs in one or two columns, a table, a figure with its caption, as
/// far as the size has room for them. The same bytes for the same numbers on every machine.
images::Picture draw_page(const SyntheticPage& page);

/// Which images are run: found in a folder, named one by one, or drawn by the program.

/// An image of a dataset, not loaded.
struct Image {
  /// As people know it: relative to the dataset's root where it lies below it, else the whole path;
  /// `page-0003` for drawn ones. The same on every machine for a dataset with the same layout.
  std::string name;
  std::variant<std::filesystem::path, SyntheticPage> source;

  bool operator==(const Image&) const = default;
};

/// Something that was named and cannot be run.
struct Missing {
  std::string name;  ///< as it was written
  std::string why;   ///< `no such file`, `matches no file`

  bool operator==(const Missing&) const = default;
  std::string to_string() const { return name + ": " + why; }
};

struct Listing {
  std::vector<Image> images;     ///< at least one, none twice
  std::vector<Missing> missing;  ///< to be told, never to be dropped in silence
};

/// All images of a dataset, in the order of its list or patterns, files of one pattern or folder in
/// bytewise order of their names.
///
/// - folder: the lines of `subset_filelist` (relative: to `cwd`, else to the root), blank ones
///   skipped, each relative to the root; without one, the files that `fallback_patterns` match.
/// - files: each entry is an image, a folder (the .png, .jpg and .jpeg files in it), a list (.txt,
///   as above) or a pattern.
/// - synthetic: pages 1 to `pages`, their sizes in turn.
///
/// Relative roots start at `cwd`. An Error when nothing is left: it says what was missing.
Result<Listing> list_images(const settings::Dataset& dataset, const std::filesystem::path& cwd);

/// An image at its place in a run.
struct Item {
  Image image;
  std::uint32_t epoch = 0;
  std::uint32_t index = 0;  ///< within the epoch

  bool operator==(const Item&) const = default;
};

/// What is run, in order. Per epoch, starting from the order of the listing: all images, or a
/// window of num_samples_per_epoch that moves on with each epoch and wraps; with `randomize` the
/// first so many of a shuffled order, shuffled anew in each epoch. A seed gives the same order on
/// every machine; `seed_if_null` is used when the settings have none, so that a caller who runs the
/// same images again can keep what it drew.
std::vector<Item> sample(const std::vector<Image>& images, const settings::Sampling& sampling,
                         std::uint64_t seed_if_null);

/// The picture, decoded or drawn.
Result<images::Picture> load(const Image& image);

/// What `inputs.yaml` tells of an image. Of a drawn page, which is no file: of its pixels.
struct Facts {
  std::uint64_t bytes = 0;
  std::string sha256;
  images::Size size;  ///< upright

  bool operator==(const Facts&) const = default;
};

/// Reads the file once and decodes nothing; a drawn page is drawn.
Result<Facts> facts(const Image& image);

}  // namespace profline::dataset
