#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "config/interpolation/resolve.h"
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

/// How the engine answers vectors of one kind, and which parts of an answer count.
struct Kind {
  std::string_view name;
  /// The engine's answer in the form of the vectors' `expected`.
  Node (*answer)(const Vector& vector, const std::filesystem::path& folder);
  /// Fields of an answer that are informative only.
  std::vector<std::string_view> ignored = {};
  /// Maps whose order is irrelevant.
  std::vector<std::string_view> unordered_maps = {};
  /// Maps of answers: where one of them is an error, only its category counts.
  std::vector<std::string_view> answer_maps = {};
};

// Each is next to the part of the engine that it needs.
Node answer_compose(const Vector& vector, const std::filesystem::path& folder);
Node answer_override_parse(const Vector& vector, const std::filesystem::path& folder);
Node answer_resolve(const Vector& vector, const std::filesystem::path& folder);
Node answer_sweep(const Vector& vector, const std::filesystem::path& folder);
Node answer_yaml(const Vector& vector, const std::filesystem::path& folder);

/// Every kind that the engine supports.
std::vector<Kind> kinds();

/// The fields in which `got` differs from `expected`: `value`, `error.category` and so on; empty if
/// they agree. Of errors only the category counts.
std::vector<std::string> differences(const Kind& kind, const Node& expected, const Node& got);

/// `2031-02-03T04:05:06.789012`
config::LocalTime parse_time(std::string_view text);

/// The environment and the clock that a vector's input sets; the input must outlive it.
config::ResolveContext resolve_context(const Node& input);

}  // namespace profline::conformance
