#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tiles/lanes.h"

/// Answers questions about the timeline of a capture of any size in milliseconds, from the index
/// that build_index() made.
namespace profline::tiles {

/// Names the event in the index: its row, and its number in the row.
struct EventId {
  std::uint32_t row = 0;
  std::uint64_t number = 0;

  bool operator==(const EventId&) const = default;
};

struct Event {
  EventId id;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t name = 0;
  std::uint32_t detail = 0;

  bool operator==(const Event&) const = default;
};

/// The events of a row in [index << level, (index + 1) << level) ns.
struct Bin {
  std::int64_t index = 0;
  std::int64_t busy_ns = 0;  ///< how much of it they fill, exact
  std::int64_t name_ns = 0;  ///< how much of it the name below fills
  std::uint32_t name = 0;    ///< the one that fills most; of equal ones, the smallest
  std::uint32_t events = 0;  ///< that begin in it

  bool operator==(const Bin&) const = default;
};

/// A part of one row: the events themselves, or bins. Bins that nothing touches are left out, and
/// those at the ends may reach beyond the window.
struct RowPart {
  std::uint32_t row = 0;
  std::uint64_t touching = 0;  ///< events that are in the window, even partly
  std::vector<Event> events{};
  std::vector<Bin> bins{};
  std::uint32_t level = 0;  ///< of the bins
};

struct Window {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;

  bool operator==(const Window&) const = default;
};

/// What one name amounts to in a window: events that are in it, even partly, and their time in it.
struct Total {
  std::uint32_t name = 0;
  std::uint64_t events = 0;
  std::int64_t busy_ns = 0;

  bool operator==(const Total&) const = default;
};

/// Whether an event is in a window: it begins before the end and ends after the beginning; an event
/// without a duration counts where it begins.
constexpr bool touches(const Window& window, std::int64_t start_ns, std::int64_t end_ns) {
  const std::int64_t last_ns = end_ns > start_ns ? end_ns : start_ns + 1;
  return start_ns < window.to_ns && last_ns > window.from_ns;
}

/// An open index. The file is read as needed; the directory, about a hundredth of it, is in memory.
/// Several threads may use one index. Errors of kind Parse mean that the file is damaged.
class Index {
 public:
  /// An Error of kind Parse if the file is not an index of this edition of the capture with this
  /// identity: it must then be made again.
  static Result<Index> open(const std::filesystem::path& file, std::string_view identity);
  Index(Index&&) noexcept;
  Index& operator=(Index&&) noexcept;
  ~Index();

  const CaptureFacts& facts() const;
  const std::vector<Lane>& lanes() const;
  /// Empty for a number that names nothing.
  const std::string& name(std::uint32_t id) const;
  std::uint32_t name_count() const;
  const Detail& detail(const Event& event) const;
  /// The lane of a row, and the row's depth in it.
  struct Place {
    std::size_t lane = 0;
    std::uint32_t depth = 0;
  };
  std::optional<Place> place(std::uint32_t row) const;
  /// The time that the events of a row fill, and how many there are.
  std::int64_t busy_ns(std::uint32_t row) const;
  std::uint64_t event_count(std::uint32_t row) const;

  /// Has the system begin to read what part() needs of these rows, so that they wait for the disk
  /// together instead of one after the other.
  void prepare(const std::vector<std::uint32_t>& rows, const Window& window,
               std::uint32_t pixels) const;
  /// The row's part of a window that is drawn `pixels` wide: its events, if there is room for them,
  /// else bins that are at least as wide as a pixel.
  Result<RowPart> part(std::uint32_t row, const Window& window, std::uint32_t pixels) const;
  /// The row's bins of one level in [first, last].
  Result<std::vector<Bin>> bins(std::uint32_t row, std::uint32_t level, std::int64_t first,
                                std::int64_t last) const;
  /// By name, for these rows together; names without events are left out.
  Result<std::vector<Total>> totals(const std::vector<std::uint32_t>& rows,
                                    const Window& window) const;

  enum class Direction { Next, Previous };
  /// The event with one of these names that begins next after `at_ns`, or last before it.
  /// `names[id]` says whether a name counts; it has name_count() elements.
  Result<std::optional<Event>> find(const std::vector<std::uint32_t>& rows,
                                    const std::vector<bool>& names, std::int64_t at_ns,
                                    Direction direction) const;
  /// Nothing if there is no such event.
  Result<std::optional<Event>> event(const EventId& id) const;

 private:
  struct Opened;
  class Blocks;
  explicit Index(std::unique_ptr<Opened> opened);

  std::unique_ptr<Opened> opened_;
};

}  // namespace profline::tiles
