#include "formats/chunks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include <zlib.h>

#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"

namespace profline {

ChunkSource chunks_of(std::string_view text) {
  return [text](std::span<char> into) mutable -> Result<std::size_t> {
    const std::size_t bytes = std::min(text.size(), into.size());
    std::memcpy(into.data(), text.data(), bytes);
    text.remove_prefix(bytes);
    return bytes;
  };
}

Result<ChunkSource> chunks_of_file(const std::filesystem::path& path) {
  // Shared because std::function copies what it holds; all copies read the same file.
  auto file = std::make_shared<FileDescriptor>(PL_TRY(open_for_reading(path)));
  return ChunkSource([file, path](std::span<char> into) -> Result<std::size_t> {
    const ssize_t bytes = read_some(file->get(), into.data(), into.size());
    if (bytes < 0) return os_error("read", path, errno);
    return static_cast<std::size_t>(bytes);
  });
}

namespace {

constexpr std::size_t kInputBytes = std::size_t{256} << 10U;
constexpr int kGzipOnly = 16 + MAX_WBITS;
constexpr std::string_view kMagic = "\x1f\x8b";

}  // namespace

bool is_gzip(std::string_view first_bytes) {
  return first_bytes.starts_with(kMagic);
}

struct GzipReader::State {
  explicit State(ChunkSource source) : compressed(std::move(source)), input(kInputBytes) {
    PL_ASSERT(inflateInit2(&stream, kGzipOnly) == Z_OK, "zlib needs some kilobytes");
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { inflateEnd(&stream); }

  /// Refills the input buffer if it is empty and more input follows.
  Result<void> fill();
  /// Between members: true when another one follows.
  Result<bool> next_member();
  void fail(std::string_view what);
  std::uint64_t position() const { return taken - stream.avail_in; }

  ChunkSource compressed;
  std::vector<char> input;
  z_stream stream{};
  std::uint64_t taken = 0;  // of the compressed bytes
  bool source_ended = false;
  bool between_members = false;
  bool ended = false;
  std::optional<std::string> problem;
};

Result<void> GzipReader::State::fill() {
  if (stream.avail_in > 0 || source_ended) return {};
  const std::size_t bytes = PL_TRY(compressed(input));
  source_ended = bytes == 0;
  taken += bytes;
  // zlib declares the pointer non-const, but does not write through it.
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(bytes);
  return {};
}

void GzipReader::State::fail(std::string_view what) {
  problem = std::string(what);
  ended = true;
}

Result<bool> GzipReader::State::next_member() {
  // Some writers pad with zeros up to a block size; like gzip, we ignore them.
  do {
    PL_TRY(fill());
    while (stream.avail_in > 0 && *stream.next_in == 0) {
      ++stream.next_in;
      --stream.avail_in;
    }
  } while (stream.avail_in == 0 && !source_ended);
  if (stream.avail_in == 0) return false;
  if (*stream.next_in != static_cast<unsigned char>(kMagic.front())) {
    fail("byte " + std::to_string(position()) +
         " of the gzip data: the data from here on is not gzip");
    return false;
  }
  inflateReset(&stream);
  between_members = false;
  return true;
}

GzipReader::GzipReader(ChunkSource compressed)
    : state_(std::make_unique<State>(std::move(compressed))) {}
GzipReader::GzipReader(GzipReader&&) noexcept = default;
GzipReader& GzipReader::operator=(GzipReader&&) noexcept = default;
GzipReader::~GzipReader() = default;

const std::optional<std::string>& GzipReader::problem() const {
  return state_->problem;
}

Result<std::size_t> GzipReader::read(std::span<char> into) {
  State& state = *state_;
  const std::size_t wanted = std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max());
  state.stream.next_out = reinterpret_cast<Bytef*>(into.data());
  state.stream.avail_out = static_cast<uInt>(wanted);
  while (!state.ended && state.stream.avail_out > 0) {
    if (state.between_members && !PL_TRY(state.next_member())) {
      state.ended = true;
      break;
    }
    PL_TRY(state.fill());
    const int outcome = inflate(&state.stream, Z_NO_FLUSH);
    if (outcome == Z_STREAM_END) {
      state.between_members = true;
    } else if (outcome == Z_BUF_ERROR || (outcome == Z_OK && state.stream.avail_in == 0)) {
      const bool stuck = outcome == Z_BUF_ERROR && state.stream.avail_in == 0;
      if (stuck && state.source_ended) {
        state.fail("the gzip data ends early, after " + counted(state.taken, "byte") +
                   ": the rest is missing");
      }
    } else if (outcome != Z_OK) {
      const char* why = state.stream.msg == nullptr ? "damaged" : state.stream.msg;
      state.fail("byte " + std::to_string(state.position()) + " of the gzip data: " + why);
    }
  }
  return wanted - state.stream.avail_out;
}

}  // namespace profline
