#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/result.h"

namespace profline::weights {

/// Every element type of the safetensors format.
enum class Dtype : std::uint8_t {
  Bool,
  F4,
  F6E2M3,
  F6E3M2,
  U8,
  I8,
  F8E5M2,
  F8E4M3,
  F8E8M0,
  F8E4M3Fnuz,
  F8E5M2Fnuz,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  C64,
  F64,
  I64,
  U64,
};

/// In the spelling of the format: `BF16`.
std::string_view name(Dtype dtype);
std::optional<Dtype> dtype_named(std::string_view name);
/// The size of one element, in bits: some are smaller than a byte.
std::uint64_t bits(Dtype dtype);

/// Whether the model can be loaded from it.
constexpr bool is_weight_dtype(Dtype dtype) {
  return dtype == Dtype::F32 || dtype == Dtype::F16 || dtype == Dtype::BF16;
}

/// The upper half of `value`, rounded to nearest, ties to even. NaN stays NaN.
constexpr std::uint16_t to_bf16(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  if ((word & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((word >> 16) | 0x40U);
  return static_cast<std::uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
}
constexpr float from_bf16(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

using Shape = std::vector<std::int64_t>;

/// `[64, 3, 16, 16]`
std::string to_string(const Shape& shape);

/// A tensor in a file that is mapped into memory; row-major, little-endian. The bytes belong to the
/// SafetensorsFile or Checkpoint it came from and are valid as long as that lives.
struct Tensor {
  std::string name;
  Dtype dtype = Dtype::F32;
  Shape shape;
  std::span<const std::byte> bytes;

  /// Whether the bytes can be read as elements in place. The format does not guarantee it; files
  /// from the official writer and from ours are aligned.
  bool is_aligned() const;
};

/// The size of a tensor of this shape, in bits; nothing if it exceeds 64 bits.
inline std::optional<std::uint64_t> bit_size(Dtype dtype, const Shape& shape) {
  std::uint64_t product = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product)) {
      return std::nullopt;
    }
  }
  if (__builtin_mul_overflow(product, bits(dtype), &product)) return std::nullopt;
  return product;
}

/// The bytes of a file, mapped read-only: pages are read when they are accessed.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  /// Does not move when the MappedFile is moved.
  std::string_view bytes() const { return {static_cast<const char*>(start_), size_}; }

 private:
  MappedFile(void* start, std::size_t size) : start_(start), size_(size) {}
  void unmap();

  void* start_ = nullptr;  // null for an empty file
  std::size_t size_ = 0;
};

/// The safetensors format: a little-endian u64 with the header's length, a JSON header
/// (`name -> {dtype, shape, data_offsets}`, optional `__metadata__`), the tensors' bytes.

/// The official limit.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

/// The content of a header, checked against the file.
struct Header {
  struct Entry {
    std::string name;
    Dtype dtype = Dtype::F32;
    Shape shape;
    std::uint64_t begin = 0;  ///< from the start of the data
    std::uint64_t end = 0;
  };
  std::vector<Entry> entries;                   ///< in the order of their data
  std::map<std::string, std::string> metadata;  ///< of `__metadata__`
  std::uint64_t data_begin = 0;                 ///< from the start of the file
};

/// Reads and checks the header of a whole file's bytes. Like the official reader: the length is at
/// most kMaxHeaderBytes and inside the file, the header is UTF-8 and a JSON object without
/// duplicate names, each dtype is known, each size is that of shape and dtype (without overflow),
/// and the data covers the rest of the file without holes or overlap, whatever the order of names.
/// Nothing is allocated that the bytes present do not justify. `source` is the file's name in
/// messages.
Result<Header> read_header(std::string_view file, const std::string& source);

/// A safetensors file, mapped read-only. It must not be truncated while it is open.
class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::filesystem::path& path);

  /// In the order of their data.
  std::span<const Tensor> tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  SafetensorsFile(MappedFile file, Header header);

  MappedFile file_;
  std::vector<Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

using Metadata = std::map<std::string, std::string>;

/// The content of a file to be written, without its bytes.
struct TensorLayout {
  std::string name;
  Dtype dtype = Dtype::F32;
  Shape shape;

  std::uint64_t byte_count() const;
};

/// Writes a safetensors file whose bytes need never be in memory together; it appears complete or
/// not at all.
///
///   auto writer = PL_TRY(SafetensorsWriter::create(path, layout, {{"format", "pt"}}));
///   for (...) PL_TRY(writer.append(bytes));  // in the order of the layout, in any pieces
///   PL_TRY(writer.commit());
class SafetensorsWriter {
 public:
  /// The data is in the order of `tensors`; the first begins at a multiple of 8 bytes. An Error for
  /// two tensors of one name, a name that is `__metadata__` or not UTF-8, a size that is not a
  /// whole number of bytes, a header above kMaxHeaderBytes.
  static Result<SafetensorsWriter> create(const std::filesystem::path& path,
                                          std::span<const TensorLayout> tensors,
                                          const Metadata& metadata);
  /// More bytes than in the layout are an Error.
  Result<void> append(std::span<const std::byte> bytes);
  /// Fewer bytes than in the layout are an Error, and leave no file.
  Result<void> commit();

 private:
  SafetensorsWriter(AtomicFile file, std::string path, std::uint64_t data_bytes);

  AtomicFile file_;
  std::string path_;
  std::uint64_t missing_bytes_;
};

/// Writes all at once. Tensors of wider elements come first, as in the official writer, so that
/// every one is aligned; a tensor whose bytes do not fit its shape is an Error.
Result<void> write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                               const Metadata& metadata);

}  // namespace profline::weights
