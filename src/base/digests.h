#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace profline {

/// The MD5 of RFC 1321 as 32 lower-case hexadecimal digits: a short name for a long text, used for
/// compatibility with existing folder names. Not for security; use Sha256 for that.
std::string md5_hex(std::string_view bytes);

/// The SHA-256 of FIPS 180-4 over bytes that arrive in pieces. Uses the processor's SHA
/// instructions where available.
class Sha256 {
 public:
  /// Folds whole 64-byte blocks into the state; the implementations are at the end of this file.
  using FoldBlocks = void (*)(std::uint32_t* state, const unsigned char* blocks, std::size_t count);

  Sha256();
  explicit Sha256(FoldBlocks fold_blocks);

  void update(std::string_view bytes);
  /// The digest of all bytes so far as 64 lower-case hexadecimal digits; more may follow.
  std::string hex_digest() const;

 private:
  static constexpr std::size_t kBlockBytes = 64;

  FoldBlocks fold_blocks_;
  std::array<std::uint32_t, 8> state_;
  std::array<unsigned char, kBlockBytes> pending_{};  // the incomplete block
  std::uint64_t total_bytes_ = 0;
};

std::string sha256_hex(std::string_view bytes);

/// The SHA-256 of a file's content, read in pieces; fails as read_file() does.
Result<std::string> sha256_file(const std::filesystem::path& path);

}  // namespace profline

namespace profline::internal {

/// K of FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first
/// 64 primes.
extern const std::array<std::uint32_t, 64> kSha256RoundConstants;

void sha256_fold_portable(std::uint32_t* state, const unsigned char* blocks, std::size_t count);

/// The implementation with the processor's SHA instructions; null where it has none.
Sha256::FoldBlocks sha256_fold_accelerated();

}  // namespace profline::internal
