// What was read can be written, and reads back as the same values.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "formats/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const profline::Result<profline::Node> first = profline::parse_yaml(text, "fuzz.yaml");
  if (!first) {
    if (first.error().to_string().size() > (std::size_t{1} << 14U) + 2 * size) std::abort();
    return 0;
  }
  const std::string written = profline::write_yaml(*first);
  const profline::Result<profline::Node> second = profline::parse_yaml(written, "written.yaml");
  if (!second || !(*second == *first)) {
    std::fprintf(stderr, "written:\n%s\n%s\n", written.c_str(),
                 second ? "reads back as something else" : second.error().to_string().c_str());
    std::abort();
  }
  return 0;
}
