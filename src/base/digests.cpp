#include "base/digests.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace profline {
namespace {

constexpr std::size_t kBlockBytes = 64;
using State = std::array<std::uint32_t, 4>;

/// T of RFC 1321, 3.4: the whole part of 2^32 times |sin(i + 1)|, i in radians.
std::array<std::uint32_t, 64> sines() {
  std::array<std::uint32_t, 64> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<std::uint32_t>(
        std::floor(std::ldexp(std::fabs(std::sin(static_cast<double>(i + 1))), 32)));
  }
  return table;
}

constexpr std::array<std::array<int, 4>, 4> kShifts = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

std::uint32_t word(std::string_view block, std::size_t index) {
  std::uint32_t value = 0;
  for (std::size_t byte = 4; byte-- > 0;) {
    value = value << 8U | static_cast<unsigned char>(block[4 * index + byte]);
  }
  return value;
}

void fold(std::string_view block, State& state) {
  static const std::array<std::uint32_t, 64> table = sines();
  auto [a, b, c, d] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t round = i / 16;
    std::uint32_t mixed = 0;
    std::size_t at = 0;
    switch (round) {
      case 0:
        mixed = (b & c) | (~b & d), at = i;
        break;
      case 1:
        mixed = (b & d) | (c & ~d), at = (5 * i + 1) % 16;
        break;
      case 2:
        mixed = b ^ c ^ d, at = (3 * i + 5) % 16;
        break;
      default:
        mixed = c ^ (b | ~d), at = 7 * i % 16;
        break;
    }
    mixed += a + table[i] + word(block, at);
    a = d, d = c, c = b;
    b += std::rotl(mixed, kShifts[round][i % 4]);
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

/// The bytes that complete the last block: the rest, a one bit, zeros, the length in bits.
std::string padding(std::string_view rest, std::uint64_t total_bytes) {
  std::string tail(rest);
  tail += '\x80';
  while (tail.size() % kBlockBytes != kBlockBytes - 8) tail += '\0';
  for (unsigned byte = 0; byte < 8; ++byte) {
    tail += static_cast<char>((total_bytes * 8) >> (8 * byte) & 0xFFU);
  }
  return tail;
}

}  // namespace

std::string md5_hex(std::string_view bytes) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
  const std::string tail = padding(bytes.substr(whole), bytes.size());
  for (const std::string_view part : {bytes.substr(0, whole), std::string_view(tail)}) {
    for (std::size_t at = 0; at < part.size(); at += kBlockBytes) {
      fold(part.substr(at, kBlockBytes), state);
    }
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint32_t part : state) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      const std::uint32_t value = part >> (8 * byte) & 0xFFU;
      hex += kDigits[value >> 4U];
      hex += kDigits[value & 0xFU];
    }
  }
  return hex;
}

namespace internal {

const std::array<std::uint32_t, 64> kSha256RoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

namespace {

std::uint32_t big_endian_word(const unsigned char* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24U | static_cast<std::uint32_t>(bytes[1]) << 16U |
         static_cast<std::uint32_t>(bytes[2]) << 8U | static_cast<std::uint32_t>(bytes[3]);
}

/// W of FIPS 180-4, 6.2.2: the block's 16 words, and 48 derived from them.
std::array<std::uint32_t, 64> message_schedule(const unsigned char* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian_word(block + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t a = w[t - 15];
    const std::uint32_t b = w[t - 2];
    const std::uint32_t sigma0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U);
    const std::uint32_t sigma1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U);
    w[t] = sigma1 + w[t - 7] + sigma0 + w[t - 16];
  }
  return w;
}

}  // namespace

void sha256_fold_portable(std::uint32_t* state, const unsigned char* blocks, std::size_t count) {
  for (; count > 0; --count, blocks += 64) {
    const std::array<std::uint32_t, 64> w = message_schedule(blocks);
    std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    std::uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (std::size_t t = 0; t < 64; ++t) {
      const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t choice = (e & f) ^ (~e & g);
      const std::uint32_t t1 = h + sum1 + choice + kSha256RoundConstants[t] + w[t];
      const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
      h = g, g = f, f = e, e = d + t1;
      d = c, c = b, b = a, a = t1 + sum0 + majority;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
}

}  // namespace internal

namespace {

Sha256::FoldBlocks best_fold() {
  // Asked once: in a virtual machine each cpuid is a call into the hypervisor.
  static const Sha256::FoldBlocks accelerated = internal::sha256_fold_accelerated();
  return accelerated != nullptr ? accelerated : internal::sha256_fold_portable;
}

}  // namespace

Sha256::Sha256() : Sha256(best_fold()) {}

// H(0) of FIPS 180-4, 5.3.3.
Sha256::Sha256(FoldBlocks fold_blocks)
    : fold_blocks_(fold_blocks), state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::update(std::string_view bytes) {
  const std::size_t begun = total_bytes_ % kBlockBytes;
  total_bytes_ += bytes.size();
  if (begun != 0) {
    const std::size_t taken = std::min(kBlockBytes - begun, bytes.size());
    std::copy_n(bytes.data(), taken, pending_.data() + begun);
    bytes.remove_prefix(taken);
    if (begun + taken < kBlockBytes) return;
    fold_blocks_(state_.data(), pending_.data(), 1);
  }
  const std::size_t whole = bytes.size() / kBlockBytes;
  if (whole > 0) {
    fold_blocks_(state_.data(), reinterpret_cast<const unsigned char*>(bytes.data()), whole);
  }
  bytes.remove_prefix(whole * kBlockBytes);
  std::copy_n(bytes.data(), bytes.size(), pending_.data());
}

std::string Sha256::hex_digest() const {
  // FIPS 180-4, 5.1.1: a one bit, zeros, and the length in bits as the last 8 bytes of a block.
  Sha256 rest = *this;
  std::string padding("\x80");
  while ((total_bytes_ + padding.size()) % kBlockBytes != kBlockBytes - 8) padding += '\0';
  const std::uint64_t total_bits = total_bytes_ * 8;
  for (int shift = 56; shift >= 0; shift -= 8) {
    padding += static_cast<char>(static_cast<unsigned char>(total_bits >> shift));
  }
  rest.update(padding);

  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (const std::uint32_t word : rest.state_) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += kDigits[(word >> shift) & 0xFU];
  }
  return hex;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex_digest();
}

Result<std::string> sha256_file(const std::filesystem::path& path) {
  constexpr std::size_t kPieceBytes = std::size_t{256} * 1024;
  const FileDescriptor file = PL_TRY(open_for_reading(path));
  std::vector<char> piece(kPieceBytes);
  Sha256 hash;
  while (true) {
    const ssize_t count = read_some(file.get(), piece.data(), piece.size());
    if (count < 0) return os_error("read", path, errno);
    if (count == 0) return hash.hex_digest();
    hash.update({piece.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace profline
