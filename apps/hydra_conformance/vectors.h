#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

namespace profline::conformance {

/// One case: an input and what the real library answered.
struct Vector {
  std::string id;
  std::string kind;
  Node input;
  Node expected;
  Node needs;  ///< resolvers to register first; null or a list of strings
  bool quirk = false;
};

/// All vectors of a folder: each line of each `*.jsonl`, files by name. An Error where the folder
/// is not there or a line is no vector.
Result<std::vector<Vector>> load_vectors(const std::filesystem::path& folder);

}  // namespace profline::conformance
