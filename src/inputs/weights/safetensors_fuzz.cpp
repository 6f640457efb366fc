// The header of any bytes is refused, or valid for them: the tensors cover the data exactly once.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "inputs/weights/safetensors.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using profline::weights::Header;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto header = profline::weights::read_header(file, "fuzz");
  if (!header) {
    require(!header.error().message().empty() && header.error().position().has_value());
    return 0;
  }
  std::uint64_t covered = header->data_begin;
  for (const Header::Entry& entry : header->entries) {
    require(header->data_begin + entry.begin == covered && entry.end >= entry.begin);
    covered += entry.end - entry.begin;
    std::uint64_t bits = profline::weights::bits(entry.dtype);
    for (const std::int64_t side : entry.shape) bits *= static_cast<std::uint64_t>(side);
    require(bits == 8 * (entry.end - entry.begin));
  }
  require(covered == size);
  return 0;
}
