#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/result.h"
#include "tiles/internal/layout.h"
#include "tiles/internal/name_times.h"

namespace profline::tiles::internal {

/// The file of an index as it grows.
class IndexFile {
 public:
  explicit IndexFile(AtomicFile& file) : file_(file) {}

  Result<Extent> append(std::string_view bytes);
  std::uint64_t size() const { return size_; }

 private:
  AtomicFile& file_;
  std::uint64_t size_ = 0;
};

/// How many levels of totals there are above those of a block.
inline constexpr std::size_t kTotalsLevels = 2;

/// Where the parts of a row are.
struct RowDirectory {
  std::uint32_t lane = 0;
  std::uint32_t depth = 0;
  std::uint64_t events = 0;
  std::int64_t busy_ns = 0;
  std::vector<EventBlock> blocks;
  /// [0]: of kFanOut blocks each, [1]: of kFanOut of those; an incomplete last one is missing.
  std::array<std::vector<Extent>, kTotalsLevels> totals;
  std::vector<std::vector<BinBlock>> bins;  ///< by level minus kFirstLevel

  void write(ByteWriter& to) const;
  static RowDirectory read(ByteReader& from);
};

/// One total for each name, sorted by name.
void combine(std::vector<NameTotal>& totals);

/// Writes the events of a row, in order, with their totals and bins.
class RowWriter {
 public:
  /// Makes bins of the levels up to `last_level`.
  RowWriter(IndexFile& file, std::uint32_t lane, std::uint32_t depth, std::uint32_t last_level);

  /// Events must not overlap and must come in order.
  Result<void> add(const StoredEvent& event);
  std::int64_t end_ns() const { return end_ns_; }
  Result<RowDirectory> finish();

 private:
  /// The bin of a level that is being filled.
  struct Filling {
    std::int64_t index = -1;
    std::int64_t busy_ns = 0;
    std::uint32_t touching = 0;
    std::uint32_t beginning = 0;
    NameTimes names;
    std::vector<StoredBin> full;
  };

  Result<void> add_to_level(std::uint32_t level, const StoredEvent& event);
  Result<void> begin_bin(std::uint32_t level, std::int64_t index);
  Result<void> write_bins(std::uint32_t level);
  Result<void> write_block();
  Result<void> add_totals(std::size_t level, const std::vector<NameTotal>& totals);

  IndexFile& file_;
  RowDirectory row_;
  std::int64_t end_ns_ = 0;
  std::vector<StoredEvent> block_;
  std::array<std::vector<NameTotal>, kTotalsLevels> totals_;
  std::array<std::uint32_t, kTotalsLevels> parts_{};
  std::vector<Filling> levels_;
};

}  // namespace profline::tiles::internal
