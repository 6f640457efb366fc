#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the load generator says while it works: lines of progress.jsonl, one per request that has
/// ended. docs/formats/load.md describes them.
namespace profline::server {

/// A request that has ended.
struct FinishedRequest {
  bool measured = false;
  bool succeeded = false;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  bool operator==(const FinishedRequest&) const = default;
};

class LoadProgress {
 public:
  /// `in_flight`: of a closed loop; so many requests at least are awaited.
  explicit LoadProgress(std::uint32_t warmup, std::uint32_t in_flight)
      : warmup_(warmup), in_flight_(in_flight) {}

  /// Takes output in pieces of any size; lines that are not understood are skipped.
  void take(std::string_view bytes);

  std::optional<std::int64_t> began_ns() const { return began_ns_; }
  /// The requests of the warm-up have ended, and the server still answers.
  bool is_warm() const {
    return began_ns_ && warmed_up_ >= warmup_ && (requests_.empty() || requests_.back().succeeded);
  }
  /// Latencies of measured requests no longer change.
  bool is_steady() const;
  std::uint64_t succeeded() const { return succeeded_; }
  std::uint64_t failed() const { return failed_; }
  const std::vector<FinishedRequest>& requests() const { return requests_; }

 private:
  void take_line(std::string_view line);

  std::uint32_t warmup_;
  std::uint32_t in_flight_;
  std::string begun_;
  std::optional<std::int64_t> began_ns_;
  std::uint64_t warmed_up_ = 0;
  std::uint64_t succeeded_ = 0;
  std::uint64_t failed_ = 0;
  std::vector<FinishedRequest> requests_;
};

}  // namespace profline::server
