#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/strings.h"
#include "serve/target.h"

namespace {

bool is_inside(std::string_view path) {
  if (path.empty()) return true;
  for (const std::string_view part : profline::split(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return path.find('\0') == std::string_view::npos;
}

}  // namespace

// Whatever arrives as the target of a request: it is refused, or it names a page and paths that
// stay inside their folders, and its own address means the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace profline;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto target = serve::parse_target(input);
  if (!target) return 0;
  PL_ASSERT(is_inside(target->path), "the path stays in its folder");
  PL_ASSERT(is_inside(target->id), "the id is a folder below a root");
  PL_ASSERT(target->query.entries.size() <= serve::kMostParameters, "parameters are bounded");
  const std::string address = serve::address_of(*target);
  PL_ASSERT(std::all_of(address.begin(), address.end(), [](char c) { return c > ' ' && c < 0x7F; }),
            "an address is printable ASCII");
  if (address.size() > serve::kLongestTarget) return 0;  // escapes made it longer
  const auto again = serve::parse_target(address);
  PL_ASSERT(again && *again == *target, "an address reads back as what it was made from");
  return 0;
}
