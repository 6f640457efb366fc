#include "base/command_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace profline {
namespace {

bool is_starter(const std::string& word) {
  static constexpr std::array<std::string_view, 9> kStarters = {
      "env", "nice", "nohup", "timeout", "taskset", "numactl", "stdbuf", "chrt", "time"};
  const std::string name = std::filesystem::path(word).filename().string();
  return std::find(kStarters.begin(), kStarters.end(), name) != kStarters.end();
}

/// An option, a variable, or a number such as `10m`, `0-3` or `0x30`.
bool is_argument(const std::string& word) {
  if (word.starts_with('-')) return true;
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos) return word.substr(0, equals).find('/') == std::string::npos;
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0 &&
         word.find_first_not_of("0123456789abcdefxmsh.,-:") == std::string::npos;
}

}  // namespace

std::span<const std::string> program_words(std::span<const std::string> command) {
  std::span<const std::string> rest = command;
  while (!rest.empty() && is_starter(rest.front())) {
    rest = rest.subspan(1);
    while (!rest.empty() && is_argument(rest.front())) {
      const bool names_variable = rest.front() == "-u" && rest.size() > 1;  // env -u HOME
      rest = rest.subspan(names_variable ? 2 : 1);
    }
  }
  return rest.empty() ? command : rest;
}

}  // namespace profline
