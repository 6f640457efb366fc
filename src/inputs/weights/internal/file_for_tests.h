#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profline::weights::testing {

/// A safetensors file with this header, valid or not, and that many bytes of data.
inline std::string file_with(std::string_view header, std::size_t data_bytes) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) {
    file += static_cast<char>(static_cast<unsigned char>(std::uint64_t{header.size()} >> shift));
  }
  file += header;
  for (std::size_t i = 0; i < data_bytes; ++i) file += static_cast<char>(i % 128);
  return file;
}

}  // namespace profline::weights::testing
