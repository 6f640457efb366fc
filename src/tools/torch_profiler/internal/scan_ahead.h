#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "formats/chunks.h"
#include "formats/json_stream.h"
#include "tools/torch_profiler/internal/trace_event.h"

namespace profline::torch_profiler::internal {

/// Reads the text of a trace and scans its events on other threads, ahead of the one that builds
/// the tables. They guess where events begin: what they found is used only if the reader asks for
/// that place, and scanning a text gives the same event on any thread. So their number changes
/// nothing but the time.
class ScanAhead {
 public:
  struct Settings {
    unsigned threads = 1;          ///< besides the caller's; 0: everything happens on that one
    std::size_t window_bytes = 0;  ///< how much text the caller keeps
    std::size_t block_bytes = 0;   ///< how much is read and scanned at a time
    std::size_t bytes_before = 0;  ///< threads start after this much text: most traces are small
  };
  ScanAhead(ChunkSource source, const Settings& settings);
  ~ScanAhead();
  ScanAhead(const ScanAhead&) = delete;
  ScanAhead& operator=(const ScanAhead&) = delete;

  /// The text; as a ChunkSource.
  Result<std::size_t> read(std::span<char> into);

  /// What scan_event() returns for `text`, which was read from `offset`. `event` is valid until the
  /// next call.
  JsonTaken scan(std::string_view text, std::uint64_t offset, const RawEvent*& event);

  /// How many of these results came from other threads.
  std::uint64_t ahead() const { return ahead_; }

 private:
  struct Scanned {
    std::size_t begin = 0;
    std::size_t bytes = 0;
    RawEvent event;
  };
  struct Block {
    std::uint64_t offset = 0;
    std::vector<char> text;
    std::size_t bytes = 0;  ///< of the text; less than its size at the end of the input
    std::vector<Scanned> events;
    std::size_t next = 0;        ///< the first event that was not asked for yet
    std::optional<Error> error;  ///< of the source, after these bytes
    bool is_last = false;
    bool is_ready = false;

    std::uint64_t end() const { return offset + bytes; }
  };

  Block& block(std::uint64_t number) { return blocks_[number % blocks_.size()]; }
  void start();
  void work();
  void fill(Block& block);
  void scan_block(Block& block, std::uint64_t number);
  const Scanned* find(std::uint64_t offset);
  void release(std::uint64_t first_kept);

  ChunkSource source_;
  Settings settings_;
  std::uint64_t offset_ = 0;  ///< up to which text was read from the source
  RawEvent event_;            ///< of a text that was not scanned ahead
  std::uint64_t ahead_ = 0;

  // Blocks are numbered in the order of the text. Those from released_ to reading_ are the
  // caller's, those after it are being filled and scanned.
  std::vector<Block> blocks_;
  std::size_t most_held_ = 0;
  std::uint64_t reading_ = 0;
  std::size_t read_bytes_ = 0;             ///< of the block that is being read
  std::atomic<std::uint64_t> wanted_ = 0;  ///< the caller waits for the blocks before this one

  std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable room_;
  std::uint64_t released_ = 0;
  std::uint64_t next_ = 0;
  bool is_filling_ = false;
  bool ended_ = false;
  std::atomic<bool> stops_ = false;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace profline::torch_profiler::internal
