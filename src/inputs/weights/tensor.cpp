#include "inputs/weights/tensor.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace profline::weights {
namespace {

struct Row {
  Dtype dtype;
  std::string_view name;
  std::uint64_t bits;
};

// In the order of the enumeration.
constexpr std::array kRows = {
    Row{Dtype::Bool, "BOOL", 8},
    Row{Dtype::F4, "F4", 4},
    Row{Dtype::F6E2M3, "F6_E2M3", 6},
    Row{Dtype::F6E3M2, "F6_E3M2", 6},
    Row{Dtype::U8, "U8", 8},
    Row{Dtype::I8, "I8", 8},
    Row{Dtype::F8E5M2, "F8_E5M2", 8},
    Row{Dtype::F8E4M3, "F8_E4M3", 8},
    Row{Dtype::F8E8M0, "F8_E8M0", 8},
    Row{Dtype::F8E4M3Fnuz, "F8_E4M3FNUZ", 8},
    Row{Dtype::F8E5M2Fnuz, "F8_E5M2FNUZ", 8},
    Row{Dtype::I16, "I16", 16},
    Row{Dtype::U16, "U16", 16},
    Row{Dtype::F16, "F16", 16},
    Row{Dtype::BF16, "BF16", 16},
    Row{Dtype::I32, "I32", 32},
    Row{Dtype::U32, "U32", 32},
    Row{Dtype::F32, "F32", 32},
    Row{Dtype::C64, "C64", 64},
    Row{Dtype::F64, "F64", 64},
    Row{Dtype::I64, "I64", 64},
    Row{Dtype::U64, "U64", 64},
};

const Row& row_of(Dtype dtype) {
  const Row& row = kRows.at(static_cast<std::size_t>(dtype));
  PL_ASSERT(row.dtype == dtype, "the table is in the order of the enumeration");
  return row;
}

}  // namespace

std::string_view name(Dtype dtype) {
  return row_of(dtype).name;
}

std::optional<Dtype> dtype_named(std::string_view name) {
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& one) { return one.name == name; });
  return row == kRows.end() ? std::nullopt : std::optional(row->dtype);
}

std::uint64_t bits(Dtype dtype) {
  return row_of(dtype).bits;
}

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
