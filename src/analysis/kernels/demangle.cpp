#include <algorithm>
#include <csetjmp>
#include <cstddef>

#include <libiberty/demangle.h>

#include "analysis/kernels/internal/name_grammar.h"
#include "base/strings.h"

namespace profline::kernels::internal {
namespace {

constexpr std::size_t kLongestMangled = std::size_t{16} << 10U;
constexpr std::size_t kLongestName = std::size_t{4} << 20U;
// The library rejects names longer than this unless its recursion limit is switched off. Names of
// CUTLASS kernels are longer, and appear mangled in Kineto's traces because Kineto uses the same
// library. With the limit off, we must make sure that they are not nested without bound.
constexpr std::size_t kLongestLimited = 1024;
constexpr std::size_t kDeepestNesting = 256;
constexpr std::size_t kLongestRun = 512;

/// Skips an identifier, which is its length followed by that many letters, or a plain number.
std::size_t behind_number(std::string_view mangled, std::size_t at) {
  std::size_t length = 0;
  for (; at < mangled.size() && is_digit(mangled[at]); ++at) {
    length = std::min(length * 10 + static_cast<std::size_t>(mangled[at] - '0'), kLongestMangled);
  }
  const bool is_plain = at < mangled.size() && (mangled[at] == 'E' || mangled[at] == '_');
  return is_plain ? at : at + length;
}

/// How deep the library's parser recurses: an opened part is nested in those still open, and each
/// letter of a run (`PPPKi`) may be nested in the one before.
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

/// The only way to stop the library: at this point it holds nothing that would have to be released.
void take(const char* piece, std::size_t length, void* opaque) {
  auto& output = *static_cast<Output*>(opaque);
  if (output.text.size() + length > kLongestName) std::longjmp(output.stop, 1);
  output.text.append(piece, length);
}

/// False if it is not a mangled name, or if its text is too long.
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
