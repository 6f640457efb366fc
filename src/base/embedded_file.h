#pragma once

#include <string_view>

namespace profline {

/// A file that is part of the program; cmake/embed_tree.cmake puts it there.
struct EmbeddedFile {
  std::string_view path;  ///< below the folder it came from: `dataset/sampling/random.yaml`
  std::string_view text;
};

}  // namespace profline
