// SHA-256 with the x86 SHA extensions; empty on other processors.

#include "base/digests.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

namespace profline::internal {
namespace {

#define PL_SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

struct State {
  __m128i abef, cdgh;
};

PL_SHA_TARGET inline __m128i load(const void* bytes) {
  return _mm_loadu_si128(static_cast<const __m128i*>(bytes));
}

/// Four rounds with the words `w` and the constants from `t` on.
PL_SHA_TARGET inline void four_rounds(State& s, __m128i w, std::size_t t) {
  const __m128i wk = _mm_add_epi32(w, load(&kSha256RoundConstants[t]));
  s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, wk);
  s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_shuffle_epi32(wk, 0x0E));
}

/// The four words of the schedule that follow the sixteen in w0 to w3.
PL_SHA_TARGET inline __m128i next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3) {
  const __m128i minus_seven = _mm_alignr_epi8(w3, w2, 4);
  const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), minus_seven);
  return _mm_sha256msg2_epu32(sum, w3);
}

PL_SHA_TARGET inline void fold_block(State& s, const unsigned char* block) {
  const __m128i to_big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i w0 = _mm_shuffle_epi8(load(block), to_big_endian);
  __m128i w1 = _mm_shuffle_epi8(load(block + 16), to_big_endian);
  __m128i w2 = _mm_shuffle_epi8(load(block + 32), to_big_endian);
  __m128i w3 = _mm_shuffle_epi8(load(block + 48), to_big_endian);
  for (std::size_t t = 0; t < 48; t += 16) {
    four_rounds(s, w0, t);
    w0 = next_words(w0, w1, w2, w3);
    four_rounds(s, w1, t + 4);
    w1 = next_words(w1, w2, w3, w0);
    four_rounds(s, w2, t + 8);
    w2 = next_words(w2, w3, w0, w1);
    four_rounds(s, w3, t + 12);
    w3 = next_words(w3, w0, w1, w2);
  }
  four_rounds(s, w0, 48);
  four_rounds(s, w1, 52);
  four_rounds(s, w2, 56);
  four_rounds(s, w3, 60);
}

PL_SHA_TARGET void fold_with_sha_instructions(std::uint32_t* state, const unsigned char* blocks,
                                              std::size_t count) {
  // The instructions expect the eight words as (a, b, e, f) and (c, d, g, h), highest first.
  const __m128i badc = _mm_shuffle_epi32(load(state), 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(load(state + 4), 0x1B);
  State s{_mm_alignr_epi8(badc, efgh, 8), _mm_blend_epi16(efgh, badc, 0xF0)};
  for (; count > 0; --count, blocks += 64) {
    const State before = s;
    fold_block(s, blocks);
    s.abef = _mm_add_epi32(s.abef, before.abef);
    s.cdgh = _mm_add_epi32(s.cdgh, before.cdgh);
  }
  const __m128i feba = _mm_shuffle_epi32(s.abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(s.cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#undef PL_SHA_TARGET

/// Asks the processor itself: GCC 12's __builtin_cpu_supports does not know "sha".
bool cpu_has_sha() {
  constexpr unsigned kSsse3 = 1U << 9U;
  constexpr unsigned kSse41 = 1U << 19U;
  constexpr unsigned kSha = 1U << 29U;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSsse3) == 0 || (c & kSse41) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
}

}  // namespace

Sha256::FoldBlocks sha256_fold_accelerated() {
  return cpu_has_sha() ? fold_with_sha_instructions : nullptr;
}

}  // namespace profline::internal

#else

namespace profline::internal {
Sha256::FoldBlocks sha256_fold_accelerated() {
  return nullptr;
}
}  // namespace profline::internal

#endif
