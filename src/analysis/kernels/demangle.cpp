#include <algorithm>
#include <csetjmp>
#include <cstddef>

#include <libiberty/demangle.h>

#include "analysis/kernels/internal/name_grammar.h"

namespace profline::kernels::internal {
namespace {

constexpr std::size_t kLongestMangled = std::size_t{16} << 10U;
constexpr std::size_t kLongestName = std::size_t{4} << 20U;
// The library refuses names longer than this unless told not to limit its recursion. The names of
// CUTLASS' kernels are, and reach us mangled in Kineto's traces, which asks the same library. Then
// it is for us to see that they are not nested without end.
constexpr std::size_t kLongestLimited = 1024;
constexpr std::size_t kDeepestNesting = 256;
constexpr std::size_t kLongestRun = 512;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Behind an identifier, which is its length and that many letters, or behind a plain number.
std::size_t behind_number(std::string_view mangled, std::size_t at) {
  std::size_t length = 0;
  for (; at < mangled.size() && is_digit(mangled[at]); ++at) {
    length = std::min(length * 10 + static_cast<std::size_t>(mangled[at] - '0'), kLongestMangled);
  }
  const bool is_plain = at < mangled.size() && (mangled[at] == 'E' || mangled[at] == '_');
  return is_plain ? at : at + length;
}

/// How deep the library's parser goes: a part opened is inside those still open, and each letter of
/// a run (`PPPKi`) may be inside the one before.
bool is_shallow(std::string_view mangled) {
  constexpr std::string_view kOpens = "IJNFXZ";
  std::size_t open = 0;
  std::size_t run = 0;
  for (std::size_t at = 2; at < mangled.size();) {
    const char c = mangled[at];
    if (is_digit(c)) {
      at = behind_number(mangled, at);
      run = 0;
      continue;
    }
    ++at;
    run = c == 'E' ? 0 : run + 1;
    if (c == 'E' && open > 0) --open;
    if (kOpens.find(c) != std::string_view::npos) ++open;
    if (open > kDeepestNesting || run > kLongestRun) return false;
  }
  return true;
}

struct Output {
  std::string text;
  std::jmp_buf stop;
};

/// The library has no way to be stopped but this one: it holds nothing at this point that would
/// have to be given back.
void take(const char* piece, std::size_t length, void* opaque) {
  auto& output = *static_cast<Output*>(opaque);
  if (output.text.size() + length > kLongestName) std::longjmp(output.stop, 1);
  output.text.append(piece, length);
}

/// False when it is no mangled name, or its text is too long.
bool write_demangled(const char* mangled, int options, Output& output) {
  // NOLINTNEXTLINE(cert-err52-cpp): what is jumped over is C
  if (setjmp(output.stop) != 0) return false;
  return cplus_demangle_v3_callback(mangled, options, &take, &output) != 0;
}

}  // namespace

std::optional<std::string> demangled(std::string_view mangled) {
  if (!mangled.starts_with("_Z") || mangled.size() > kLongestMangled) return std::nullopt;
  int options = DMGL_PARAMS | DMGL_TYPES;
  if (mangled.size() > kLongestLimited) {
    if (!is_shallow(mangled)) return std::nullopt;
    options |= DMGL_NO_RECURSE_LIMIT;
  }
  const std::string text(mangled);
  Output output;
  if (!write_demangled(text.c_str(), options, output)) return std::nullopt;
  return std::move(output.text);
}

}  // namespace profline::kernels::internal
