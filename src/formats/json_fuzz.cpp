// What parse_json accepts is written and read back equal; and it accepts what nlohmann::json does,
// except for what we refuse on purpose.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "formats/json.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Valid JSON to nlohmann, an error to us.
bool refused_on_purpose(std::string_view text, const std::string& message) {
  return message.starts_with("duplicate key") || message.starts_with("lists and maps are nested") ||
         message.starts_with("begins with a byte order mark") ||
         message.starts_with("an integer of") || text.find('\0') != std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tree = profline::parse_json(text, "fuzz");
  const bool accepted_by_theirs = nlohmann::json::accept(text);
  if (!tree) {
    require(!accepted_by_theirs || refused_on_purpose(text, tree.error().message()));
    require(tree.error().position()->line > 0 && tree.error().position()->column > 0);
    return 0;
  }
  require(accepted_by_theirs);
  for (const int indent : {0, 2}) {
    const auto written = profline::write_json(*tree, {.indent = indent});
    require(written.has_value());
    const auto back = profline::parse_json(*written, "written");
    require(back.has_value() && *back == *tree);
  }
  return 0;
}
