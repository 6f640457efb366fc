#pragma once

#include <cstddef>
#include <cstdint>

/// The layout of `recorded/ranges-<pid>-<time>.bin`, shared by its writer (src/recorder) and its
/// reader (src/tools/recorder). docs/formats/recorded.md describes it. All numbers have the byte
/// order of the machine, which is little-endian.
///
/// A file is a header and chunks. Each thread writes into a chunk of its own that is mapped into
/// memory, its stage; a full stage is copied to the end of the file and begins again. The
/// kernel therefore already has everything that was recorded when the process dies.
namespace profline::recorder {

inline constexpr std::uint64_t kFileMagic = 0x5345474e41524c50;  // "PLRANGES"
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"

inline constexpr std::size_t kHeaderBytes = 4096;
/// Chunks begin at multiples of this.
inline constexpr std::size_t kChunkAlignment = 4096;
/// The size and alignment of a stage: at least the size of a page on every supported machine.
inline constexpr std::size_t kStageBytes = 65536;
/// The longest name that is kept whole.
inline constexpr std::size_t kNameBytes = 65536;

/// Why something was not recorded.
enum class Loss : std::uint32_t {
  Limit,    ///< the file reached its size limit
  Disk,     ///< the file could not be created or extended; FileHeader::error is the errno
  Memory,   ///< no memory for the recorder's tables
  Threads,  ///< too many threads recorded at the same time
  Signal,   ///< a signal handler interrupted the recorder in the same thread
};
inline constexpr std::size_t kLosses = 5;

struct FileHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t pid;
  std::uint32_t parent_pid;
  std::uint64_t start_ns;       ///< CLOCK_MONOTONIC when the file was created
  std::uint64_t start_unix_ns;  ///< CLOCK_REALTIME at the same moment
  std::uint32_t forked;         ///< 1: the process was recording when it was forked
  std::int32_t error;           ///< errno of the first failure; 0: nothing failed
  std::uint64_t lost[kLosses];  ///< events that were not recorded, by Loss
  std::uint64_t first_loss_ns;  ///< CLOCK_MONOTONIC; 0: nothing was lost
  std::uint64_t names_lost;     ///< events whose name was not kept
  char program[256];            ///< ends with a zero byte
};
static_assert(sizeof(FileHeader) <= kHeaderBytes);

enum class ChunkKind : std::uint32_t { Events = 1, Names = 2 };

struct ChunkHeader {
  std::uint32_t magic;
  std::uint32_t kind;   ///< ChunkKind
  std::uint32_t bytes;  ///< of the whole chunk, header included
  std::uint32_t stage;  ///< number of the stage that it is, or is a copy of
  /// Lap in the upper half: how often the stage was copied before. In the lower half: bytes in
  /// use, header included. One store updates both, so a copy and its stage never disagree.
  std::uint64_t state;
  std::uint32_t thread;  ///< the thread that was recording when the lap began; 0: no thread
  std::uint32_t reserved[9];
};
static_assert(sizeof(ChunkHeader) == 64);

enum class EventKind : std::uint8_t {
  Push = 1,      ///< a range opened on this thread
  Pop = 2,       ///< the innermost range of the domain on this thread ended
  Start = 3,     ///< a range that any thread may end; an Id follows
  End = 4,       ///< an Id follows
  Id = 5,        ///< `value` is the number of the range
  Mark = 6,      ///< a moment
  Step = 7,      ///< a step of the innermost open range ended
  Number = 8,    ///< `value` is a property of the innermost open request
  Thread = 9,    ///< the following events are from thread `name`
  Request = 10,  ///< as Push, for a range that is a request whatever its name
  /// A range of the default domain with no event in it, shorter than 2^24 ns: the bits of the
  /// domain are its duration. Half the size of Push and Pop.
  Leaf = 11
};
inline constexpr std::uint64_t kLeafLimitNs = std::uint64_t{1} << 24;

struct Event {
  std::uint64_t value;  ///< CLOCK_MONOTONIC in nanoseconds, unless the kind says otherwise
  std::uint64_t meta;   ///< kind: 8 bits; domain: 24 bits; name: 32 bits
};
static_assert(sizeof(Event) == 16);

constexpr std::uint64_t pack_meta(EventKind kind, std::uint32_t domain, std::uint32_t name) {
  return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(domain & 0xffffffU) << 8 |
         static_cast<std::uint64_t>(name) << 32;
}

/// Precedes the text of a name, which is padded to a multiple of 16 bytes.
struct NameHeader {
  std::uint32_t id;
  std::uint32_t bytes;
  std::uint32_t truncated;  ///< 1: the name was longer
  std::uint32_t reserved;
};
static_assert(sizeof(NameHeader) == 16);

constexpr std::size_t padded_name_bytes(std::size_t bytes) {
  return (bytes + 15) / 16 * 16;
}

// Domains are named by the same numbers as ranges.
inline constexpr std::uint32_t kNoName = 0;      ///< the empty name; the default domain
inline constexpr std::uint32_t kLostName = 1;    ///< the name was not kept
inline constexpr std::uint32_t kFirstName = 16;  ///< of those that a file defines
/// Names that are kept; it also bounds the numbers of domains.
inline constexpr std::uint32_t kMaxNames = 1U << 18;

}  // namespace profline::recorder
