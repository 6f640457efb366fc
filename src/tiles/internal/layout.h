#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// The file of an index: blocks of events, their totals by name and bins, then the directory that
/// finds them, then a trailer. It is read on the machine that wrote it, so numbers are as in
/// memory.
///
/// A row is a lane at one depth: its events do not overlap, so both their starts and their ends are
/// in order, the time that they fill is the sum of their durations, and a point in time is found by
/// bisection. Times count from the beginning of the capture.
namespace profline::tiles::internal {

/// Changes with the layout and with what an index contains.
inline constexpr std::uint32_t kLayoutVersion = 1;
inline constexpr std::uint64_t kMagic = 0x31454C4954464C50;  // "PLFTILE1"

inline constexpr std::uint32_t kEventsPerBlock = 256;
inline constexpr std::uint32_t kBinsPerBlock = 256;
/// Totals are kept for each block, for this many blocks, and for this many of those.
inline constexpr std::uint32_t kFanOut = 32;
/// Bins that fewer events touch are not kept: they are computed from their events.
inline constexpr std::uint32_t kLeastEventsOfBin = 16;
/// The narrowest bins are 1.024 us wide, and each level has bins twice as wide.
inline constexpr std::uint32_t kFirstLevel = 10;
inline constexpr std::uint32_t kLastLevel = 62;

struct StoredEvent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t name = 0;
  std::uint32_t detail = 0;
};
/// An event of a block whose events all begin and end within 4 s of the first.
struct ShortEvent {
  std::uint32_t after_first_ns = 0;
  std::uint32_t duration_ns = 0;
  std::uint32_t name = 0;
  std::uint32_t detail = 0;
};
struct StoredBin {
  std::int64_t index = 0;  ///< the bin covers [index << level, (index + 1) << level)
  std::int64_t busy_ns = 0;
  std::int64_t name_ns = 0;
  std::uint32_t name = 0;    ///< the one with most time in the bin
  std::uint32_t events = 0;  ///< that begin in the bin
};
struct NameTotal {
  std::int64_t busy_ns = 0;
  std::uint32_t name = 0;
  std::uint32_t events = 0;
};

/// Where something is in the file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t checksum = 0;
};
struct EventBlock {
  std::int64_t first_start_ns = 0;
  std::int64_t last_start_ns = 0;
  std::int64_t last_end_ns = 0;
  std::uint64_t events_before = 0;
  Extent events{};
  Extent totals{};
  std::uint32_t count = 0;
  std::uint32_t is_short = 0;
};
struct BinBlock {
  std::int64_t first_index = 0;
  std::int64_t last_index = 0;
  Extent bins;
};

/// A checksum that finds damage, not malice.
inline std::uint32_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0x9E3779B97F4A7C15U ^ bytes.size();
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9U;
    hash ^= hash >> 29U;
    bytes.remove_prefix(sizeof word);
  }
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x94D049BB133111EBU;
    hash ^= hash >> 31U;
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

/// The bytes of plain values.
template <typename T>
std::string_view bytes_of(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Values out of bytes; a remainder is ignored.
template <typename T>
std::vector<T> values_of(std::string_view bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// Writes the directory.
class ByteWriter {
 public:
  template <typename T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view text) {
    value(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  template <typename T>
  void list(const std::vector<T>& values) {
    value(static_cast<std::uint64_t>(values.size()));
    bytes_ += bytes_of(values);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads it back. After the end everything is empty and is_good() false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T value() {
    T value{};
    const std::string_view bytes = take(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(value<std::uint64_t>())); }
  template <typename T>
  std::vector<T> list() {
    const auto count = value<std::uint64_t>();
    if (count > rest_.size() / sizeof(T)) is_good_ = false;
    return is_good_ ? values_of<T>(take(count * sizeof(T))) : std::vector<T>();
  }
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) is_good_ = false;
    if (!is_good_) return {};
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

  std::string_view rest_;
  bool is_good_ = true;
};

/// The last bytes of the file.
struct Trailer {
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_bytes = 0;
  std::uint32_t directory_checksum = 0;
  std::uint32_t layout_version = kLayoutVersion;
  std::uint64_t magic = kMagic;
};

}  // namespace profline::tiles::internal
