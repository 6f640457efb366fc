#include "tiles/internal/row_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace profline::tiles::internal {
namespace {

/// Nothing if an event of the block is too long or too late.
std::optional<std::vector<ShortEvent>> as_short(const std::vector<StoredEvent>& events) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t first = events.front().start_ns;
  std::vector<ShortEvent> result;
  result.reserve(events.size());
  for (const StoredEvent& event : events) {
    const std::int64_t after = event.start_ns - first;
    const std::int64_t duration = event.end_ns - event.start_ns;
    if (after > kMost || duration > kMost) return std::nullopt;
    result.push_back({static_cast<std::uint32_t>(after), static_cast<std::uint32_t>(duration),
                      event.name, event.detail});
  }
  return result;
}

}  // namespace

Result<Extent> IndexFile::append(std::string_view bytes) {
  PL_TRY(file_.append(bytes));
  const Extent extent{size_, static_cast<std::uint32_t>(bytes.size()), checksum(bytes)};
  size_ += bytes.size();
  return extent;
}

void RowDirectory::write(ByteWriter& to) const {
  to.value(lane);
  to.value(depth);
  to.value(events);
  to.value(busy_ns);
  to.list(blocks);
  for (const std::vector<Extent>& level : totals) to.list(level);
  to.value(static_cast<std::uint64_t>(bins.size()));
  for (const std::vector<BinBlock>& level : bins) to.list(level);
}

RowDirectory RowDirectory::read(ByteReader& from) {
  RowDirectory row;
  row.lane = from.value<std::uint32_t>();
  row.depth = from.value<std::uint32_t>();
  row.events = from.value<std::uint64_t>();
  row.busy_ns = from.value<std::int64_t>();
  row.blocks = from.list<EventBlock>();
  for (std::vector<Extent>& level : row.totals) level = from.list<Extent>();
  const auto levels = from.value<std::uint64_t>();
  for (std::uint64_t level = 0; level < levels && from.is_good(); ++level) {
    row.bins.push_back(from.list<BinBlock>());
  }
  return row;
}

void combine(std::vector<NameTotal>& totals) {
  std::sort(totals.begin(), totals.end(),
            [](const NameTotal& a, const NameTotal& b) { return a.name < b.name; });
  std::size_t kept = 0;
  for (std::size_t at = 0; at < totals.size(); ++at) {
    if (kept > 0 && totals[kept - 1].name == totals[at].name) {
      totals[kept - 1].busy_ns += totals[at].busy_ns;
      totals[kept - 1].events += totals[at].events;
    } else {
      totals[kept++] = totals[at];
    }
  }
  totals.resize(kept);
}

RowWriter::RowWriter(IndexFile& file, std::uint32_t lane, std::uint32_t depth,
                     std::uint32_t last_level)
    : file_(file), levels_(last_level - kFirstLevel + 1) {
  row_.lane = lane;
  row_.depth = depth;
  row_.bins.resize(levels_.size());
}

Result<void> RowWriter::add(const StoredEvent& event) {
  for (std::uint32_t level = 0; level < levels_.size(); ++level) {
    PL_TRY(add_to_level(level, event));
  }
  end_ns_ = event.end_ns;
  ++row_.events;
  row_.busy_ns += event.end_ns - event.start_ns;
  block_.push_back(event);
  return block_.size() < kEventsPerBlock ? Result<void>() : write_block();
}

// An event touches the bins of its beginning and its end; those in between contain nothing else,
// since events do not overlap, and bins of one event are not kept.
Result<void> RowWriter::add_to_level(std::uint32_t level, const StoredEvent& event) {
  const std::uint32_t shift = level + kFirstLevel;
  Filling& bin = levels_[level];
  const std::int64_t first = event.start_ns >> shift;
  const std::int64_t last = std::max(event.end_ns - 1, event.start_ns) >> shift;
  if (first != bin.index) PL_TRY(begin_bin(level, first));
  const std::int64_t first_ends = (first + 1) << shift;
  const std::int64_t inside = std::min(event.end_ns, first_ends) - event.start_ns;
  bin.busy_ns += inside;
  ++bin.touching;
  ++bin.beginning;
  bin.names.add(event.name, inside);
  if (last == first) return {};
  PL_TRY(begin_bin(level, last));
  const std::int64_t rest = event.end_ns - (last << shift);
  bin.busy_ns += rest;
  ++bin.touching;
  bin.names.add(event.name, rest);
  return {};
}

Result<void> RowWriter::begin_bin(std::uint32_t level, std::int64_t index) {
  Filling& bin = levels_[level];
  if (bin.touching >= kLeastEventsOfBin) {
    const NameTimes::Most& most = bin.names.most();
    bin.full.push_back({bin.index, bin.busy_ns, most.ns, most.name, bin.beginning});
    if (bin.full.size() == kBinsPerBlock) PL_TRY(write_bins(level));
  }
  bin.index = index;
  bin.busy_ns = 0;
  bin.touching = 0;
  bin.beginning = 0;
  bin.names.clear();
  return {};
}

Result<void> RowWriter::write_bins(std::uint32_t level) {
  std::vector<StoredBin>& full = levels_[level].full;
  if (full.empty()) return {};
  const Extent extent = PL_TRY(file_.append(bytes_of(full)));
  row_.bins[level].push_back({full.front().index, full.back().index, extent});
  full.clear();
  return {};
}

Result<void> RowWriter::write_block() {
  if (block_.empty()) return {};
  EventBlock entry{.first_start_ns = block_.front().start_ns,
                   .last_start_ns = block_.back().start_ns,
                   .last_end_ns = block_.back().end_ns,
                   .events_before = row_.events - block_.size(),
                   .count = static_cast<std::uint32_t>(block_.size())};
  if (const auto events = as_short(block_)) {
    entry.events = PL_TRY(file_.append(bytes_of(*events)));
    entry.is_short = 1;
  } else {
    entry.events = PL_TRY(file_.append(bytes_of(block_)));
  }
  std::vector<NameTotal> totals;
  for (const StoredEvent& event : block_) {
    totals.push_back({event.end_ns - event.start_ns, event.name, 1});
  }
  combine(totals);
  entry.totals = PL_TRY(file_.append(bytes_of(totals)));
  row_.blocks.push_back(entry);
  block_.clear();
  return add_totals(0, totals);
}

Result<void> RowWriter::add_totals(std::size_t level, const std::vector<NameTotal>& totals) {
  std::vector<NameTotal>& sum = totals_[level];
  sum.insert(sum.end(), totals.begin(), totals.end());
  if (++parts_[level] < kFanOut) return {};
  combine(sum);
  row_.totals[level].push_back(PL_TRY(file_.append(bytes_of(sum))));
  const std::vector<NameTotal> done = std::exchange(sum, {});
  parts_[level] = 0;
  return level + 1 < kTotalsLevels ? add_totals(level + 1, done) : Result<void>();
}

Result<RowDirectory> RowWriter::finish() {
  PL_TRY(write_block());
  for (std::uint32_t level = 0; level < levels_.size(); ++level) {
    PL_TRY(begin_bin(level, -1));
    PL_TRY(write_bins(level));
  }
  return std::move(row_);
}

}  // namespace profline::tiles::internal
