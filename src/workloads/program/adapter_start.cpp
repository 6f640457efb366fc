#include "workloads/program/adapter_start.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/command_words.h"

namespace profline::program {
namespace {

/// `python3`, `/usr/bin/python3.11`, but not `python3-config`.
bool is_python(const std::string& word) {
  constexpr std::string_view kName = "python";
  const std::string name = std::filesystem::path(word).filename().string();
  return name.starts_with(kName) &&
         name.find_first_not_of("0123456789.", kName.size()) == std::string::npos;
}

/// The option among those of Python that keeps it from reading PYTHONPATH or from importing
/// sitecustomize; empty without one. Letters may be joined, as in `-Bs`.
std::string isolating_option(std::span<const std::string> words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-') || word == "-") return "";
    if (word.starts_with("--")) {
      if (word == "--check-hash-based-pycs") ++i;
      continue;
    }
    for (std::size_t at = 1; at < word.size(); ++at) {
      const char letter = word[at];
      if (letter == 'E' || letter == 'I' || letter == 'S') return {'-', letter};
      if (letter == 'c' || letter == 'm') return "";
      if (letter == 'W' || letter == 'X') {
        if (at + 1 == word.size()) ++i;  // its value is the next word
        break;
      }
    }
  }
  return "";
}

}  // namespace

std::optional<NotAdapted> why_not_adapted(std::span<const std::string> command,
                                          std::span<const std::string> processes,
                                          const Recording& recording) {
  if (recording.adapter_started) return std::nullopt;
  const std::span<const std::string> words = program_words(command);
  const bool is_command = !words.empty() && is_python(words.front());
  const std::string option = is_command ? isolating_option(words) : "";
  if (!option.empty()) {
    return NotAdapted{
        "Python was started with " + option + ", so profline's Python adapter did not start",
        "start Python without " + option};
  }
  if (!is_command && std::none_of(processes.begin(), processes.end(), is_python)) {
    return std::nullopt;
  }
  return NotAdapted{
      "profline's Python adapter did not start: PYTHONPATH was replaced, or Python was started "
      "with -E, -I or -S or is older than 3.9",
      "extend PYTHONPATH instead of replacing it (PYTHONPATH=FOLDER:$PYTHONPATH), and start Python "
      "without these options"};
}

}  // namespace profline::program
