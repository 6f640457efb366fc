#include "pipeline/child_output.h"

#include <algorithm>

#include "base/strings.h"

namespace profline::pipeline {
namespace {

constexpr std::size_t kMostBegun = 4096;

bool is_count(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == text.size()) return false;
  constexpr std::string_view kDigits = "0123456789";
  return text.find_first_not_of(kDigits) == slash &&
         kDigits.find(text[slash + 1]) != std::string_view::npos;
}

}  // namespace

std::string_view shown_part(std::string_view line) {
  line = trim(line);
  if (line.starts_with("warning: ")) return {};
  const std::size_t gap = line.find("  ");
  if (gap == std::string_view::npos) return line;
  const std::string_view rest = trim(line.substr(gap));
  const bool is_one_word = line.substr(0, gap).find(' ') == std::string_view::npos;
  if (is_one_word && is_count(rest)) return rest;
  const bool is_step = rest == "started" || rest.starts_with("ok  ");
  return is_one_word && is_step ? std::string_view() : line;
}

void ChildOutput::show(std::string_view line) {
  const std::string_view shown = shown_part(line);
  if (!shown.empty()) progress_.note(shown);
}

void ChildOutput::take(std::string_view bytes) {
  if (bytes.empty()) progress_.tick();
  while (!bytes.empty()) {
    // A progress bar that redraws itself returns to the start of its line.
    const std::size_t end = bytes.find_first_of("\r\n");
    begun_ += bytes.substr(0, std::min(end, bytes.size()));
    if (end == std::string_view::npos) break;
    show(begun_);
    begun_.clear();
    bytes.remove_prefix(end + 1);
  }
  if (begun_.size() > kMostBegun) begun_.clear();
}

}  // namespace profline::pipeline
