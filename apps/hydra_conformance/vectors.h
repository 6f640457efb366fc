#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
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

/// All vectors of a folder: each line of each `*.jsonl`, files by name. An Error if the folder does
/// not exist or a line is not a vector.
Result<std::vector<Vector>> load_vectors(const std::filesystem::path& folder);

/// A value in the JSON form of the vectors' README: `{"$float": "nan"}` and so on.
Node encode(const Node& value);

/// A map with string keys, in this order.
Node object(std::initializer_list<std::pair<std::string_view, Node>> fields);

/// `{"ok": false, "error": {"category", "message"}}`
Node failure(const Error& error);

/// `{"category", "message"}`. The category is the Error's reason, or `other` if the vectors have no
/// name for that reason.
Node describe_error(const Error& error);

}  // namespace profline::conformance
