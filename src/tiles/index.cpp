#include "tiles/index.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/files.h"
#include "tiles/internal/directory.h"
#include "tiles/internal/layout.h"
#include "tiles/internal/name_times.h"

namespace profline::tiles {
namespace {

using internal::BinBlock;
using internal::Directory;
using internal::EventBlock;
using internal::Extent;
using internal::kEventsPerBlock;
using internal::kFanOut;
using internal::kFirstLevel;
using internal::NameTotal;
using internal::RowDirectory;
using internal::ShortEvent;
using internal::StoredBin;
using internal::StoredEvent;
using internal::Trailer;

/// A row with at most this many events in a window shows them, however few pixels there are.
constexpr std::uint64_t kAlwaysShown = 32;

Result<std::string> read_at(const FileDescriptor& file, const std::filesystem::path& path,
                            std::uint64_t offset, std::uint64_t bytes) {
  std::string text(bytes, '\0');
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t got = ::pread(file.get(), text.data() + filled, bytes - filled,
                                static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error("read", path, errno);
    if (got == 0) return Error(ErrorKind::Parse, "ends early", {path.string(), 0, 0});
    filled += static_cast<std::size_t>(got);
  }
  return text;
}

Error is_damaged(const std::filesystem::path& path) {
  return Error(ErrorKind::Parse, "is damaged: a checksum does not match", {path.string(), 0, 0});
}

/// When a block's last event is over; an event without a duration lasts for a moment.
std::int64_t last_moment(const EventBlock& block) {
  return std::max(block.last_end_ns, block.last_start_ns + 1);
}

/// Adds up bins from events that come in order.
class BinMaker {
 public:
  BinMaker(std::uint32_t level, std::int64_t first, std::int64_t last, std::vector<Bin>& into)
      : level_(level), first_(first), last_(last), into_(into) {}

  void add(const Event& event) {
    const std::int64_t begins = event.start_ns >> level_;
    const std::int64_t ends = std::max(event.end_ns - 1, event.start_ns) >> level_;
    for (std::int64_t at = std::max(begins, first_); at <= std::min(ends, last_); ++at) {
      if (!is_open_ || bin_.index != at) open(at);
      const std::int64_t inside =
          std::min(event.end_ns, (at + 1) << level_) - std::max(event.start_ns, at << level_);
      bin_.busy_ns += inside;
      if (at == begins) ++bin_.events;
      names_.add(event.name, inside);
    }
  }
  void finish() {
    if (!is_open_) return;
    bin_.name = names_.most().name;
    bin_.name_ns = names_.most().ns;
    into_.push_back(bin_);
    is_open_ = false;
  }

 private:
  void open(std::int64_t index) {
    finish();
    bin_ = {.index = index};
    names_.clear();
    is_open_ = true;
  }

  std::uint32_t level_;
  std::int64_t first_;
  std::int64_t last_;
  std::vector<Bin>& into_;
  Bin bin_;
  internal::NameTimes names_;
  bool is_open_ = false;
};

/// Has the system begin to read, without waiting for it.
void begin_to_read(const FileDescriptor& file, const Extent& first, const Extent& last) {
  ::posix_fadvise(file.get(), static_cast<off_t>(first.offset),
                  static_cast<off_t>(last.offset + last.bytes - first.offset), POSIX_FADV_WILLNEED);
}

/// The level whose bins are the narrowest that are at least as wide as a pixel.
std::uint32_t level_for(std::int64_t length_ns, std::uint32_t pixels, std::uint32_t last_level) {
  std::uint32_t level = 0;
  while (level < last_level && (length_ns >> level) > std::int64_t{pixels}) ++level;
  return level;
}

}  // namespace

struct Index::Opened {
  std::filesystem::path path;
  FileDescriptor file;
  Directory directory;
  std::vector<Place> places;  // by row
  std::string no_name{};

  Result<std::string> read(const Extent& extent) const {
    std::string bytes = PL_TRY(read_at(file, path, extent.offset, extent.bytes));
    if (internal::checksum(bytes) != extent.checksum) return is_damaged(path);
    return bytes;
  }
};

/// The events of one row. Keeps the block that was read last.
class Index::Blocks {
 public:
  Blocks(const Opened& index, std::uint32_t row)
      : index_(index), row_(index.directory.rows[row]), number_(row) {}

  const RowDirectory& row() const { return row_; }

  /// An event that is there.
  Result<Event> event(std::uint64_t number) {
    PL_TRY(load(number / kEventsPerBlock));
    return at(number % kEventsPerBlock);
  }

  /// The number of the first event that is in a window from `from_ns` on.
  Result<std::uint64_t> first_after(std::int64_t from_ns) {
    const auto block = std::partition_point(
        row_.blocks.begin(), row_.blocks.end(),
        [&](const EventBlock& candidate) { return last_moment(candidate) <= from_ns; });
    return in_block(block, [&](const StoredEvent& event) {
      return std::max(event.end_ns, event.start_ns + 1) <= from_ns;
    });
  }
  /// The number of the first event that begins at `to_ns` or later.
  Result<std::uint64_t> first_beginning(std::int64_t to_ns) {
    const auto block = std::partition_point(
        row_.blocks.begin(), row_.blocks.end(),
        [&](const EventBlock& candidate) { return candidate.last_start_ns < to_ns; });
    return in_block(block, [&](const StoredEvent& event) { return event.start_ns < to_ns; });
  }

  /// Begins to read what a window that is drawn `pixels` wide needs.
  void prepare(const Window& window, std::uint32_t pixels) const {
    const auto begin = std::partition_point(
        row_.blocks.begin(), row_.blocks.end(),
        [&](const EventBlock& candidate) { return last_moment(candidate) <= window.from_ns; });
    if (begin == row_.blocks.end() || begin->first_start_ns >= window.to_ns) return;
    const auto end = std::partition_point(begin, row_.blocks.end(), [&](const EventBlock& each) {
      return each.last_start_ns < window.to_ns;
    });
    const auto last = end == row_.blocks.end() ? std::prev(end) : end;
    // Events are read, or, where there are many, bins and the events where there are few.
    constexpr std::uint64_t kMostAhead = std::uint64_t{1} << 20U;
    if (last->events.offset - begin->events.offset <= kMostAhead) {
      begin_to_read(index_.file, begin->events, last->events);
    } else {
      begin_to_read(index_.file, begin->events, begin->events);
      begin_to_read(index_.file, last->events, last->events);
    }
    if (last->events_before - begin->events_before > pixels / 2) prepare_bins(window, pixels);
  }

  /// Adds the bins of [first, last], computed from events.
  Result<void> add_bins(std::uint32_t level, std::int64_t first, std::int64_t last,
                        std::vector<Bin>& bins) {
    BinMaker maker(level, first, last, bins);
    const std::int64_t to_ns = (last + 1) << level;
    for (std::uint64_t number = PL_TRY(first_after(first << level)); number < row_.events;
         ++number) {
      const Event event = PL_TRY(this->event(number));
      if (event.start_ns >= to_ns) break;
      maker.add(event);
    }
    maker.finish();
    return {};
  }

  /// Adds the whole events [first, end) to `sums`, by name.
  Result<void> add_totals(std::uint64_t first, std::uint64_t end, std::vector<Total>& sums) {
    while (first < end && first % kEventsPerBlock != 0) PL_TRY(add_event(first++, sums));
    while (first < end && end % kEventsPerBlock != 0) PL_TRY(add_event(--end, sums));
    std::uint64_t block = first / kEventsPerBlock;
    const std::uint64_t end_block = end / kEventsPerBlock;
    while (block < end_block) {
      const Node node = node_at(block, end_block);
      for (const NameTotal& total : PL_TRY(totals_of(node))) {
        Total& sum = sums[total.name];
        sum.events += total.events;
        sum.busy_ns += total.busy_ns;
      }
      block += node.blocks;
    }
    return {};
  }

  /// The first event of [first, end) with one of the names.
  Result<std::optional<Event>> first_named(std::uint64_t first, std::uint64_t end,
                                           const std::vector<bool>& names) {
    while (first < end) {
      if (first % kEventsPerBlock == 0) {
        const std::uint64_t blocks = (row_.events + kEventsPerBlock - 1) / kEventsPerBlock;
        const Node node = node_at(first / kEventsPerBlock, blocks);
        if (!PL_TRY(has_any(node, names))) {
          first += node.blocks * kEventsPerBlock;
          continue;
        }
        // It is in here: look closer, unless this is a single block.
        if (node.blocks > 1 && !PL_TRY(has_any(one_block(first), names))) {
          first += kEventsPerBlock;
          continue;
        }
      }
      const Event event = PL_TRY(this->event(first));
      if (names[event.name]) return event;
      ++first;
    }
    return std::nullopt;
  }

  /// The last event of [0, end) with one of the names.
  Result<std::optional<Event>> last_named(std::uint64_t end, const std::vector<bool>& names) {
    while (end > 0) {
      if (end % kEventsPerBlock == 0) {
        const Node node = node_before(end / kEventsPerBlock);
        if (!PL_TRY(has_any(node, names))) {
          end -= node.blocks * kEventsPerBlock;
          continue;
        }
        if (node.blocks > 1 && !PL_TRY(has_any(one_block(end - kEventsPerBlock), names))) {
          end -= kEventsPerBlock;
          continue;
        }
      }
      const Event event = PL_TRY(this->event(end - 1));
      if (names[event.name]) return event;
      --end;
    }
    return std::nullopt;
  }

 private:
  void prepare_bins(const Window& window, std::uint32_t pixels) const {
    const auto last_level = static_cast<std::uint32_t>(kFirstLevel + row_.bins.size() - 1);
    const std::uint32_t level = level_for(window.to_ns - window.from_ns, pixels, last_level);
    if (level < kFirstLevel || level - kFirstLevel >= row_.bins.size()) return;
    const std::vector<BinBlock>& stored = row_.bins[level - kFirstLevel];
    auto block = std::partition_point(stored.begin(), stored.end(), [&](const BinBlock& candidate) {
      return candidate.last_index < window.from_ns >> level;
    });
    for (; block != stored.end() && block->first_index <= (window.to_ns - 1) >> level; ++block) {
      begin_to_read(index_.file, block->bins, block->bins);
    }
  }

  /// A run of blocks whose totals are together in the file.
  struct Node {
    Extent totals;
    std::uint64_t blocks = 1;
  };

  Node one_block(std::uint64_t event) const {
    return {row_.blocks[event / kEventsPerBlock].totals, 1};
  }
  /// The largest that begins at `block` and does not reach beyond `end`.
  Node node_at(std::uint64_t block, std::uint64_t end) const {
    for (std::size_t level = internal::kTotalsLevels; level > 0; --level) {
      const std::uint64_t blocks = level == 2 ? kFanOut * kFanOut : kFanOut;
      const std::vector<Extent>& totals = row_.totals[level - 1];
      const bool fits = block % blocks == 0 && block + blocks <= end;
      if (fits && block / blocks < totals.size()) return {totals[block / blocks], blocks};
    }
    return {row_.blocks[block].totals, 1};
  }
  /// The largest that ends before block `end`.
  Node node_before(std::uint64_t end) const {
    for (std::size_t level = internal::kTotalsLevels; level > 0; --level) {
      const std::uint64_t blocks = level == 2 ? kFanOut * kFanOut : kFanOut;
      const std::vector<Extent>& totals = row_.totals[level - 1];
      if (end % blocks == 0 && end / blocks <= totals.size()) {
        return {totals[end / blocks - 1], blocks};
      }
    }
    return {row_.blocks[end - 1].totals, 1};
  }

  Result<std::vector<NameTotal>> totals_of(const Node& node) const {
    std::vector<NameTotal> totals =
        internal::values_of<NameTotal>(PL_TRY(index_.read(node.totals)));
    for (const NameTotal& total : totals) {
      if (total.name >= index_.directory.names.size()) return is_damaged(index_.path);
    }
    return totals;
  }
  Result<bool> has_any(const Node& node, const std::vector<bool>& names) const {
    for (const NameTotal& total : PL_TRY(totals_of(node))) {
      if (names[total.name]) return true;
    }
    return false;
  }
  Result<void> add_event(std::uint64_t number, std::vector<Total>& sums) {
    const Event event = PL_TRY(this->event(number));
    ++sums[event.name].events;
    sums[event.name].busy_ns += event.end_ns - event.start_ns;
    return {};
  }

  /// The number of the first event of the block that is not `before`; of the next block, if all
  /// are.
  template <typename Before>
  Result<std::uint64_t> in_block(std::vector<EventBlock>::const_iterator block, Before&& before) {
    if (block == row_.blocks.end()) return row_.events;
    const auto number = static_cast<std::uint64_t>(block - row_.blocks.begin());
    PL_TRY(load(number));
    const auto found = std::partition_point(events_.begin(), events_.end(), before);
    return number * kEventsPerBlock + static_cast<std::uint64_t>(found - events_.begin());
  }

  Event at(std::uint64_t place) const {
    const StoredEvent& event = events_[place];
    return {{number_, loaded_ * kEventsPerBlock + place},
            event.start_ns,
            event.end_ns,
            event.name,
            event.detail};
  }

  Result<void> load(std::uint64_t block) {
    if (block == loaded_) return {};
    const EventBlock& entry = row_.blocks[block];
    const std::string bytes = PL_TRY(index_.read(entry.events));
    if (entry.is_short != 0) {
      events_.clear();
      for (const ShortEvent& event : internal::values_of<ShortEvent>(bytes)) {
        const std::int64_t start = entry.first_start_ns + event.after_first_ns;
        events_.push_back({start, start + event.duration_ns, event.name, event.detail});
      }
    } else {
      events_ = internal::values_of<StoredEvent>(bytes);
    }
    const bool is_sound =
        events_.size() == entry.count &&
        std::all_of(events_.begin(), events_.end(), [&](const StoredEvent& event) {
          return event.name < index_.directory.names.size() &&
                 event.detail < index_.directory.details.size();
        });
    loaded_ = is_sound ? block : kNoBlock;
    return is_sound ? Result<void>() : Result<void>(is_damaged(index_.path));
  }

  static constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};

  const Opened& index_;
  const RowDirectory& row_;
  std::uint32_t number_;
  std::uint64_t loaded_ = kNoBlock;
  std::vector<StoredEvent> events_;
};

Index::Index(std::unique_ptr<Opened> opened) : opened_(std::move(opened)) {}
Index::Index(Index&&) noexcept = default;
Index& Index::operator=(Index&&) noexcept = default;
Index::~Index() = default;

Result<Index> Index::open(const std::filesystem::path& path, std::string_view identity) {
  FileDescriptor file = PL_TRY(open_for_reading(path));
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  const auto is_wrong = [&](std::string what) {
    return Error(ErrorKind::Parse, std::move(what), {path.string(), 0, 0});
  };
  if (size < static_cast<off_t>(sizeof(Trailer))) return is_wrong("is not an index of a timeline");
  const auto bytes = static_cast<std::uint64_t>(size);
  const std::string last = PL_TRY(read_at(file, path, bytes - sizeof(Trailer), sizeof(Trailer)));
  const auto trailer = internal::ByteReader(last).value<Trailer>();
  if (trailer.magic != internal::kMagic) return is_wrong("is not an index of a timeline");
  if (trailer.layout_version != internal::kLayoutVersion) {
    return is_wrong("was made by another version of profline");
  }
  if (trailer.directory_bytes > bytes ||
      trailer.directory_offset > bytes - trailer.directory_bytes) {
    return is_damaged(path);
  }
  const std::string text =
      PL_TRY(read_at(file, path, trailer.directory_offset, trailer.directory_bytes));
  if (internal::checksum(text) != trailer.directory_checksum) return is_damaged(path);
  auto directory = Directory::read(text);
  if (!directory) return is_wrong(directory.error().message());
  if (directory->identity != identity) return is_wrong("is of an older edition of the capture");
  std::vector<Place> places(directory->rows.size());
  for (std::size_t lane = 0; lane < directory->lanes.size(); ++lane) {
    for (std::uint32_t depth = 0; depth < directory->lanes[lane].rows; ++depth) {
      places[directory->lanes[lane].first_row + depth] = {lane, depth};
    }
  }
  return Index(std::make_unique<Opened>(
      Opened{path, std::move(file), std::move(directory).value(), std::move(places)}));
}

const CaptureFacts& Index::facts() const {
  return opened_->directory.facts;
}

const std::vector<Lane>& Index::lanes() const {
  return opened_->directory.lanes;
}

const std::string& Index::name(std::uint32_t id) const {
  return id < name_count() ? opened_->directory.names[id] : opened_->no_name;
}

std::uint32_t Index::name_count() const {
  return static_cast<std::uint32_t>(opened_->directory.names.size());
}

const Detail& Index::detail(const Event& event) const {
  return opened_->directory.details[event.detail];
}

std::optional<Index::Place> Index::place(std::uint32_t row) const {
  if (row >= opened_->places.size()) return std::nullopt;
  return opened_->places[row];
}

std::int64_t Index::busy_ns(std::uint32_t row) const {
  return opened_->directory.rows[row].busy_ns;
}

std::uint64_t Index::event_count(std::uint32_t row) const {
  return opened_->directory.rows[row].events;
}

void Index::prepare(const std::vector<std::uint32_t>& rows, const Window& window,
                    std::uint32_t pixels) const {
  for (const std::uint32_t row : rows) Blocks(*opened_, row).prepare(window, pixels);
}

Result<RowPart> Index::part(std::uint32_t row, const Window& window, std::uint32_t pixels) const {
  Blocks blocks(*opened_, row);
  RowPart part{.row = row};
  const std::uint64_t first = PL_TRY(blocks.first_after(window.from_ns));
  const std::uint64_t end = std::max(first, PL_TRY(blocks.first_beginning(window.to_ns)));
  part.touching = end - first;
  if (part.touching <= std::max<std::uint64_t>(pixels / 2, kAlwaysShown)) {
    for (std::uint64_t number = first; number < end; ++number) {
      part.events.push_back(PL_TRY(blocks.event(number)));
    }
    return part;
  }
  const auto last_level = static_cast<std::uint32_t>(kFirstLevel + blocks.row().bins.size() - 1);
  part.level = level_for(window.to_ns - window.from_ns, pixels, last_level);
  part.bins =
      PL_TRY(bins(row, part.level, window.from_ns >> part.level, (window.to_ns - 1) >> part.level));
  return part;
}

Result<std::vector<Bin>> Index::bins(std::uint32_t row, std::uint32_t level, std::int64_t first,
                                     std::int64_t last) const {
  Blocks blocks(*opened_, row);
  std::vector<Bin> bins;
  std::int64_t next = first;
  if (level >= kFirstLevel && level - kFirstLevel < blocks.row().bins.size()) {
    const std::vector<BinBlock>& stored = blocks.row().bins[level - kFirstLevel];
    auto block = std::partition_point(stored.begin(), stored.end(), [&](const BinBlock& candidate) {
      return candidate.last_index < first;
    });
    for (; block != stored.end() && block->first_index <= last; ++block) {
      for (const StoredBin& bin :
           internal::values_of<StoredBin>(PL_TRY(opened_->read(block->bins)))) {
        if (bin.index < next || bin.index > last) continue;
        if (bin.index > next) PL_TRY(blocks.add_bins(level, next, bin.index - 1, bins));
        bins.push_back({bin.index, bin.busy_ns, bin.name_ns, bin.name, bin.events});
        next = bin.index + 1;
      }
    }
  }
  if (next <= last) PL_TRY(blocks.add_bins(level, next, last, bins));
  return bins;
}

Result<std::vector<Total>> Index::totals(const std::vector<std::uint32_t>& rows,
                                         const Window& window) const {
  std::vector<Total> sums(name_count());
  for (const std::uint32_t row : rows) {
    Blocks blocks(*opened_, row);
    const std::uint64_t first = PL_TRY(blocks.first_after(window.from_ns));
    const std::uint64_t end = PL_TRY(blocks.first_beginning(window.to_ns));
    if (first >= end) continue;
    PL_TRY(blocks.add_totals(first, end, sums));
    // Only the first and the last event may reach beyond the window.
    const Event begin = PL_TRY(blocks.event(first));
    sums[begin.name].busy_ns -= std::max<std::int64_t>(window.from_ns - begin.start_ns, 0);
    const Event last = PL_TRY(blocks.event(end - 1));
    sums[last.name].busy_ns -= std::max<std::int64_t>(last.end_ns - window.to_ns, 0);
  }
  std::vector<Total> totals;
  for (std::uint32_t name = 0; name < sums.size(); ++name) {
    if (sums[name].events == 0) continue;
    totals.push_back(sums[name]);
    totals.back().name = name;
  }
  return totals;
}

Result<std::optional<Event>> Index::find(const std::vector<std::uint32_t>& rows,
                                         const std::vector<bool>& names, std::int64_t at_ns,
                                         Direction direction) const {
  std::optional<Event> best;
  for (const std::uint32_t row : rows) {
    Blocks blocks(*opened_, row);
    std::optional<Event> found;
    if (direction == Direction::Next) {
      const std::uint64_t first = PL_TRY(blocks.first_beginning(at_ns + 1));
      // Nothing that begins later than the best so far can be better.
      const std::uint64_t end =
          best ? PL_TRY(blocks.first_beginning(best->start_ns)) : blocks.row().events;
      found = PL_TRY(blocks.first_named(first, end, names));
    } else {
      const std::uint64_t end = PL_TRY(blocks.first_beginning(at_ns));
      found = PL_TRY(blocks.last_named(end, names));
      if (found && best && found->start_ns <= best->start_ns) found.reset();
    }
    if (found) best = found;
  }
  return best;
}

Result<std::optional<Event>> Index::event(const EventId& id) const {
  if (id.row >= opened_->directory.rows.size()) return std::nullopt;
  Blocks blocks(*opened_, id.row);
  if (id.number >= blocks.row().events) return std::nullopt;
  return PL_TRY(blocks.event(id.number));
}

}  // namespace profline::tiles
