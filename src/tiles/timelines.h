#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tiles/cache.h"

/// The seam to a server. A handler of `/api/runs/ID/tiles?...` is
///
///   tiles::Timelines timelines({.folder = tiles::cache_folder(...)});      // one, for all threads
///   ...
///   const Result<std::string> json = timelines.answer(capture, query);     // per request
///
/// where `capture` is a file of the run that the handler chose and `query` is what follows the `?`,
/// still encoded. The content type is application/json. An Error of kind Config is status 400,
/// NotFound 404, anything else 500. A capture is never written to, nor is its folder.
namespace profline::tiles {

/// Open indexes of several captures, made in the background when they are first asked for. For use
/// by any number of threads.
class Timelines {
 public:
  struct Options {
    /// How long a request waits for an index before it is answered with the progress.
    std::chrono::milliseconds patience{300};
    std::size_t most_open = 8;
  };

  explicit Timelines(Cache cache) : Timelines(std::move(cache), Options()) {}
  Timelines(Cache cache, Options options);
  /// Stops what is being built.
  ~Timelines();

  /// As answer() in answer.h. While the index is being built, the answer to every query is
  /// `{"schema":"profline.tiles/1","state":"building","events":N}`, with the number of events read
  /// so far. A damaged index is built again, once.
  Result<std::string> answer(const std::filesystem::path& capture, std::string_view query);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace profline::tiles
