#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/kernels/canonical_name.h"
#include "base/error.h"

// Any text is a kernel name: it has a canonical name, which agrees with itself and is not much
// larger than the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using profline::kernels::canonical_name;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto name = canonical_name(text);
  PL_ASSERT(compatible(name, name), "a name agrees with itself");
  PL_ASSERT(name.full.size() < (std::size_t{64} << 20U), "a name does not explode");
  return 0;
}
