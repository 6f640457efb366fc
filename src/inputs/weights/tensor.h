#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inputs/weights/dtype.h"

namespace profline::weights {

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

  /// Whether the bytes may be read as elements where they are. The format promises it for no file;
  /// those of the official writer and of ours keep it.
  bool is_aligned() const;
};

}  // namespace profline::weights
