#include "records/range_use.h"

#include "base/strings.h"

namespace profline {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.';
}

}  // namespace

std::string folder_name(std::string_view label) {
  constexpr std::size_t kLongest = 100;
  label = trim(label);
  std::string name;
  for (std::size_t i = 0; i < label.size() && name.size() < kLongest; ++i) {
    if (label.substr(i, 2) == "::") {
      name += "__";
      ++i;
    } else if (is_plain(label[i])) {
      name += label[i];
    } else if (name.empty() || name.back() != '_') {
      name += '_';
    }
  }
  const std::size_t first = name.find_first_not_of("._");
  if (first == std::string::npos) return "range";
  const std::size_t last = name.find_last_not_of("._");
  return name.substr(first, last - first + 1);
}

}  // namespace profline
