#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "analysis/ranks/analysis.h"

namespace profline::ranks {
namespace {

/// The last number in a file's name: 12 for `trace_rank12.json.gz`; what follows the name's first
/// dot is no part of it, unless it is a number: `trace.12.json`.
std::optional<std::int64_t> number_in(const std::string& source) {
  std::string name = std::filesystem::path(source).filename().string();
  for (const char* ending : {".gz", ".json", ".sqlite", ".pt", ".trace"}) {
    if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
  }
  const std::size_t rank = name.rfind("rank");
  if (rank != std::string::npos) {
    const std::size_t first = name.find_first_of("0123456789", rank);
    if (first != std::string::npos && first <= rank + 5) {
      const std::size_t end = name.find_first_not_of("0123456789", first);
      name.resize(end == std::string::npos ? name.size() : end);
    }
  }
  const std::size_t last = name.find_last_of("0123456789");
  if (last == std::string::npos) return std::nullopt;
  const std::size_t before = name.find_last_not_of("0123456789", last);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  constexpr std::size_t kMostDigits = 6;  // more is a date or a process
  if (last + 1 - first > kMostDigits) return std::nullopt;
  return std::stoll(name.substr(first, last + 1 - first));
}

/// Sets the ranks if each capture has a different number.
template <typename NumberOf>
bool number_by(std::span<Capture> captures, NumberOf number_of) {
  std::set<std::int64_t> known;
  for (const Capture& capture : captures) {
    const std::optional<std::int64_t> number = number_of(capture);
    if (!number || *number < 0 || !known.insert(*number).second) return false;
  }
  for (Capture& capture : captures) capture.rank = *number_of(capture);
  return true;
}

}  // namespace

std::string number_ranks(std::span<Capture> captures) {
  if (number_by(captures, [](const Capture& capture) { return std::optional(capture.rank); })) {
    return "the captures themselves";
  }
  if (number_by(captures, [](const Capture& capture) { return number_in(capture.source); })) {
    return "the names of the files";
  }
  std::int64_t next = 0;
  const bool one_file = std::all_of(captures.begin(), captures.end(), [&](const Capture& capture) {
    return capture.source == captures.front().source;
  });
  for (Capture& capture : captures) capture.rank = next++;
  return one_file ? "the order of the processes' devices" : "the order in which they were given";
}

}  // namespace profline::ranks
