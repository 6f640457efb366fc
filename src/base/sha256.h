#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace profline {

/// The SHA-256 of FIPS 180-4 over bytes that come in pieces. Uses the processor's SHA instructions
/// where it has them.
class Sha256 {
 public:
  /// Folds whole 64-byte blocks into the state; how, internal/sha256_blocks.h offers.
  using FoldBlocks = void (*)(std::uint32_t* state, const unsigned char* blocks, std::size_t count);

  Sha256();
  explicit Sha256(FoldBlocks fold_blocks);

  void update(std::string_view bytes);
  /// 64 lower-case hexadecimal digits over all bytes so far; more may follow.
  std::string hex_digest() const;

 private:
  static constexpr std::size_t kBlockBytes = 64;

  FoldBlocks fold_blocks_;
  std::array<std::uint32_t, 8> state_;
  std::array<unsigned char, kBlockBytes> pending_{};  // the begun block
  std::uint64_t total_bytes_ = 0;
};

std::string sha256_hex(std::string_view bytes);

/// Of a file's content, read in pieces; fails as read_file() does.
Result<std::string> sha256_file(const std::filesystem::path& path);

}  // namespace profline
