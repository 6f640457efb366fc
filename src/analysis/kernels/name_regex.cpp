#include "analysis/kernels/name_regex.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "analysis/kernels/canonical_name.h"

namespace profline::kernels {
namespace {

std::string escaped(std::string_view text) {
  constexpr std::string_view kSpecial = "\\^$.|?*+()[]{}";
  std::string regex;
  for (const char letter : text) {
    if (kSpecial.find(letter) != std::string_view::npos) regex += '\\';
    regex += letter;
  }
  return regex;
}

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool is_number(std::string_view word) {
  return std::isdigit(static_cast<unsigned char>(word.front())) != 0;
}

/// What one tool writes and another does not: `false` is 0, `{lambda()#1}` is `[lambda() (instance
/// 1)]`.
bool is_spelling(std::string_view word) {
  constexpr auto kWords =
      std::to_array<std::string_view>({"0", "1", "true", "false", "const", "lambda", "operator",
                                       "anonymous", "namespace", "unnamed", "instance", "enum"});
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// The different words of the text that all tools have in common, in the order of their first.
std::vector<std::string> words_of(std::string_view text, std::size_t at_most) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size() && words.size() < at_most;) {
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && is_word(text[i])) ++i;
    const std::string_view word = text.substr(begin, i - begin);
    if (is_spelling(word)) continue;
    if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
  }
  return words;
}

}  // namespace

std::string exact_regex(std::string_view name) {
  return '^' + escaped(name) + '$';
}

std::string spelling_regex(std::string_view name) {
  // Each word may be looked for at several places: few of them keep the search short.
  constexpr std::size_t kMostWords = 10;
  if (std::all_of(name.begin(), name.end(), is_word)) return exact_regex(name);
  const CanonicalName canonical = canonical_name(name);
  const std::size_t function = canonical.key.find(canonical.function);
  if (canonical.function.empty() || function == std::string::npos) return exact_regex(name);
  // Nothing that could be part of a longer name before it or after it.
  std::string regex = "(^|[ :>])" + escaped(canonical.function) + "($|[^a-zA-Z0-9_])";
  const std::string_view rest =
      std::string_view(canonical.key).substr(function + canonical.function.size());
  for (const std::string& word : words_of(rest, kMostWords)) {
    // Numbers may have a suffix: 2ul.
    regex += ".*\\b" + word + (is_number(word) ? "[ul]*" : "") + "\\b";
  }
  return regex;
}

}  // namespace profline::kernels
