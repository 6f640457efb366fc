#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "records/load.h"
#include "records/request.h"
#include "settings/load.h"

/// A whole load on a server: what it can do is found out first, then prompts are made, then it is
/// loaded once, or several times for a search.
namespace profline::load {

struct LoadJob {
  settings::Load load;
  std::string url;                       ///< of the server, without the endpoint
  std::optional<std::string> api_key{};  ///< sent, never stored
  std::filesystem::path base{};          ///< where relative paths start
};

struct LoadHooks {
  std::function<bool()> stopping;
  std::function<void(const std::string& line)> status;  ///< what is going on, on one line
};

struct LoadResult {
  LoadRecord record;
  std::vector<Request> requests;
  std::vector<Node> responses;  ///< lines of responses.jsonl; only if they are to be stored
};

/// An Error means that the load could not be attempted: a file of prompts that cannot be read, say.
/// A server that does not answer is a result.
Result<LoadResult> run_load(const LoadJob& job, const LoadHooks& hooks);

}  // namespace profline::load
