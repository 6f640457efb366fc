#include "config/key_path.h"

#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "config/python_number.h"

namespace profline::config {

std::vector<std::string> split_key(std::string_view key) {
  // The head: leading dots, then everything up to the next dot or bracket.
  std::size_t at = std::min(key.find_first_not_of('.'), key.size());
  at = std::min(key.find_first_of(".[", at), key.size());

  std::vector<std::string> steps;
  for (const std::string_view part : split(key.substr(0, at), '.')) steps.emplace_back(part);
  if (at < key.size() && key[at] == '[' && steps.back().empty()) steps.pop_back();

  while (at < key.size()) {
    if (key[at] == '.') {
      const std::size_t end = std::min(key.find_first_of(".[", at + 1), key.size());
      steps.emplace_back(key.substr(at + 1, end - at - 1));
      at = end;
      continue;
    }
    const std::size_t end = key[at] == '[' ? key.find_first_of("]\n", at) : std::string_view::npos;
    if (end != std::string_view::npos && key[end] == ']') {
      steps.emplace_back(key.substr(at + 1, end - at - 1));
      at = end + 1;
    } else {
      ++at;
    }
  }
  // OmegaConf fails on a bracket that is never closed; a key of that name is not there either way.
  if (steps.empty()) steps.emplace_back(key);
  return steps;
}

std::optional<std::int64_t> list_index(std::string_view text) {
  const std::optional<Node> number = parse_python_int(text);
  if (!number) return std::nullopt;
  if (number->is_int()) return number->as_int();
  const bool negative = number->as_big_int().front() == '-';
  return negative ? std::numeric_limits<std::int64_t>::min()
                  : std::numeric_limits<std::int64_t>::max();
}

std::string join_key(std::string_view key, std::string_view step) {
  std::string joined(key);
  if (!joined.empty()) joined += '.';
  joined += step;
  return joined;
}

std::string join_key(std::string_view key, std::size_t index) {
  return std::string(key) + '[' + std::to_string(index) + ']';
}

}  // namespace profline::config
