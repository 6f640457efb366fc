#pragma once

#include <span>
#include <string_view>

namespace profline {

/// A file that is part of the program.
struct EmbeddedFile {
  std::string_view path;  ///< below the folder it came from: `dataset/sampling/random.yaml`
  std::string_view text;
};

/// Every YAML file of the project's `conf` folder as it was when the program was built, sorted by
/// path: the last place that configs are searched in.
std::span<const EmbeddedFile> shipped_config_files();

}  // namespace profline
