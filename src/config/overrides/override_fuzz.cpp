#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "config/overrides/override.h"

namespace {

using profline::config::Override;
using profline::config::OverrideValue;

/// A plain value is read back unchanged from its text.
void check_reads_back(const OverrideValue& value) {
  const auto text = profline::config::print_value(value);
  PL_ASSERT(text, "a plain value has a text");
  const auto again = profline::config::parse_override("k=" + *text);
  PL_ASSERT(again && again->value, "what was printed can be read");
  PL_ASSERT(*again->value == value, "and gives the same value");
}

void check_value(const Override& override) {
  const OverrideValue& value = *override.value;
  // Functions and interpolations produce strings with characters that need quotes, but Hydra writes
  // them without.
  const bool has_functions = override.text.find('(') != std::string::npos;
  const bool is_plain = !has_functions && override.text.find("${") == std::string::npos;
  if (const auto* choice = value.get<profline::config::ChoiceSweep>(); choice && is_plain) {
    for (const OverrideValue& item : choice->items) check_reads_back(item);
  } else if (is_plain) {
    check_reads_back(value);
  }
  if (value.is_sweep()) {
    const auto items = profline::config::sweep_items(override, {}, 100);
    PL_ASSERT(!items || items->size() <= 100, "no more items than asked for");
  } else {
    const auto node = profline::config::to_node(value, "override");
    PL_ASSERT(node || has_functions, "only a function puts a sweep into a value");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto override = profline::config::parse_override(text);
  if (!override) {
    PL_ASSERT(!override.error().reason().empty(), "every Error has a reason");
    PL_ASSERT(override.error().position()->column > 0, "and a place");
    return 0;
  }
  if (override->value) check_value(*override);
  return 0;
}
