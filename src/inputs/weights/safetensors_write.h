#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/result.h"
#include "inputs/weights/tensor.h"

namespace profline::weights {

using Metadata = std::map<std::string, std::string>;

/// What a file will hold, before there are bytes.
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
  /// The data lies in the order of `tensors`; the first begins at a multiple of 8 bytes. An Error:
  /// two of one name, a name that is `__metadata__` or not UTF-8, a size that is no whole number of
  /// bytes, a header above kMaxHeaderBytes.
  static Result<SafetensorsWriter> create(const std::filesystem::path& path,
                                          std::span<const TensorLayout> tensors,
                                          const Metadata& metadata);
  /// More than the layout holds is an Error.
  Result<void> append(std::span<const std::byte> bytes);
  /// Less than the layout holds is an Error, and leaves no file.
  Result<void> commit();

 private:
  SafetensorsWriter(AtomicFile file, std::string path, std::uint64_t data_bytes);

  AtomicFile file_;
  std::string path_;
  std::uint64_t missing_bytes_;
};

/// All at once. Tensors of wider elements come first, as in the official writer, so that every one
/// is aligned; a tensor whose bytes do not fit its shape is an Error.
Result<void> write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                               const Metadata& metadata);

}  // namespace profline::weights
