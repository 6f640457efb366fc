#include "inputs/weights/tensor.h"

namespace profline::weights {

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

bool Tensor::is_aligned() const {
  const std::uint64_t element = bits(dtype) / 8;
  return element <= 1 || reinterpret_cast<std::uintptr_t>(bytes.data()) % element == 0;
}

}  // namespace profline::weights
