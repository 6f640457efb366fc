#include "analysis/kernels/canonical_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "analysis/kernels/internal/name_grammar.h"
#include "base/strings.h"

namespace profline::kernels {
namespace {

using internal::kExtraBegin;
using internal::kExtraEnd;
using internal::kPathBegin;
using internal::kPathEnd;
using internal::ParsedName;

/// With single blanks, so that names that cannot be parsed at least do not differ by layout.
std::string single_blanks(std::string_view text) {
  std::string out;
  for (const char c : trim(text)) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_blank) {
      out += c;
    } else if (out.back() != ' ') {
      out += ' ';
    }
  }
  return out;
}

std::string with_paths(std::string_view marked) {
  std::string text;
  for (const char c : marked) {
    if (c == kPathBegin || c == kExtraBegin || c == kExtraEnd) continue;
    if (c == kPathEnd) {
      text += "::";
    } else {
      text += c;
    }
  }
  return text;
}

/// The key and the namespaces of each name in it, one entry per name, in order.
void without_paths(std::string_view marked, CanonicalName& name) {
  std::size_t extra = 0;
  std::string* into = &name.key;
  for (const char c : marked) {
    if (c == kExtraBegin) ++extra;
    if (c == kExtraEnd) --extra;
    if (extra > 0 || c == kExtraEnd) continue;
    if (c == kPathBegin) {
      // The position in the key says whose namespaces they are.
      name.namespaces.push_back({name.key.size(), {}});
      into = &name.namespaces.back().path;
    } else if (c == kPathEnd) {
      into = &name.key;
    } else {
      *into += c;
    }
  }
}

/// Functions that run whatever they are given: the argument says what they do.
bool is_wrapper(std::string_view function) {
  constexpr auto kWrappers =
      std::to_array<std::string_view>({"vectorized_elementwise_kernel",
                                       "unrolled_elementwise_kernel",
                                       "elementwise_kernel",
                                       "elementwise_kernel_with_index",
                                       "index_elementwise_kernel",
                                       "legacy_elementwise_kernel",
                                       "vectorized_templated_elementwise_kernel",
                                       "reduce_kernel",
                                       "device_kernel",
                                       "Kernel",
                                       "Kernel2",
                                       "kernel",
                                       "cutlass_kernel",
                                       "multi_tensor_apply_kernel",
                                       "kernel_agent",
                                       "_kernel_agent",
                                       "DeviceReduceSingleTileKernel",
                                       "DeviceReduceKernel",
                                       "DeviceScanKernel",
                                       "distribution_elementwise_grid_stride_kernel",
                                       "static_kernel",
                                       "generic_kernel"});
  return std::find(kWrappers.begin(), kWrappers.end(), function) != kWrappers.end();
}

/// Names that say how and on what something is done, but not what.
bool says_little(std::string_view name) {
  constexpr auto kCommon = std::to_array<std::string_view>({"float",
                                                            "double",
                                                            "int",
                                                            "char",
                                                            "bool",
                                                            "long",
                                                            "short",
                                                            "unsigned",
                                                            "void",
                                                            "signed",
                                                            "Half",
                                                            "BFloat16",
                                                            "__half",
                                                            "__nv_bfloat16",
                                                            "half_t",
                                                            "bfloat16_t",
                                                            "half",
                                                            "nv_bfloat16",
                                                            "tfloat32_t",
                                                            "float_e4m3_t",
                                                            "float_e5m2_t",
                                                            "__nv_fp8_e4m3",
                                                            "Float8_e4m3fn",
                                                            "complex",
                                                            "int64_t",
                                                            "int32_t",
                                                            "uint32_t",
                                                            "uint8_t",
                                                            "array",
                                                            "tuple",
                                                            "Array",
                                                            "C",
                                                            "Layout",
                                                            "Shape",
                                                            "Stride",
                                                            "integral_constant",
                                                            "BinaryFunctor",
                                                            "AUnaryFunctor",
                                                            "BUnaryFunctor",
                                                            "ReduceOp",
                                                            "UnaryFunctor",
                                                            "func_wrapper_t",
                                                            "gpu_kernel_impl",
                                                            "gpu_kernel_impl_nocast",
                                                            "gpu_index_kernel",
                                                            "opmath_gpu_kernel_with_scalars",
                                                            "TensorIteratorBase",
                                                            "TensorIterator",
                                                            "OffsetCalculator",
                                                            "TrivialOffsetCalculator",
                                                            "LoadWithoutCast",
                                                            "StoreWithoutCast",
                                                            "LoadWithCast",
                                                            "StoreWithCast",
                                                            "enable_sm90_or_later",
                                                            "enable_sm80_to_sm89",
                                                            "enable_sm90",
                                                            "TensorListMetadata",
                                                            "OpaqueType",
                                                            "DeviceReducePolicy",
                                                            "Policy900",
                                                            "Policy800",
                                                            "Policy600",
                                                            "policy_hub",
                                                            "operator()",
                                                            "(anonymous namespace)"});
  return std::find(kCommon.begin(), kCommon.end(), name) != kCommon.end();
}

std::string short_name_of(const ParsedName& parsed) {
  if (!is_wrapper(parsed.function)) return parsed.function;
  const auto found = std::find_if(parsed.mentioned.begin(), parsed.mentioned.end(),
                                  [](const std::string& name) { return !says_little(name); });
  return found == parsed.mentioned.end() ? parsed.function : parsed.function + '<' + *found + '>';
}

/// The namespaces of `some` are some of those of `all`, in their order.
bool are_some_of(std::string_view some, std::string_view all) {
  std::size_t at = 0;
  const auto next = [](std::string_view path, std::size_t from) {
    return std::min(path.find("::", from), path.size());
  };
  for (std::size_t begin = 0; begin < some.size();) {
    const std::size_t end = next(some, begin);
    const std::string_view wanted = some.substr(begin, end - begin);
    bool found = false;
    while (!found && at < all.size()) {
      const std::size_t stop = next(all, at);
      found = all.substr(at, stop - at) == wanted;
      at = stop + 2;
    }
    if (!found) return false;
    begin = end + 2;
  }
  return true;
}

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

/// The distinct words that all tools have in common, in order of first appearance.
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

CanonicalName canonical_name(std::string_view text) {
  const std::optional<std::string> plain = internal::demangled(trim(text));
  std::string source = single_blanks(plain ? std::string_view(*plain) : text);
  // AMD's compiler adds this mark to the descriptor of a kernel.
  if (source.ends_with(".kd")) source.resize(source.size() - 3);
  CanonicalName name;
  const auto parsed = internal::parse_name(source);
  if (!parsed) {
    name.full = name.key = name.short_name = name.function = source;
    return name;
  }
  name.full = with_paths(parsed->marked);
  without_paths(parsed->marked, name);
  name.function = parsed->function.empty() ? name.key : parsed->function;
  name.short_name = parsed->function.empty() ? name.key : short_name_of(*parsed);
  return name;
}

bool compatible(const CanonicalName& a, const CanonicalName& b) {
  if (a.key != b.key) return false;
  std::size_t j = 0;
  // A name without namespaces on one side matches any namespaces on the other.
  for (const auto& scope : a.namespaces) {
    while (j < b.namespaces.size() && b.namespaces[j].at < scope.at) ++j;
    if (j == b.namespaces.size() || b.namespaces[j].at != scope.at) continue;
    const std::string& other = b.namespaces[j].path;
    if (!are_some_of(scope.path, other) && !are_some_of(other, scope.path)) return false;
  }
  return true;
}

std::string exact_regex(std::string_view name) {
  return '^' + escaped(name) + '$';
}

std::string spelling_regex(std::string_view name) {
  // Each word may match at several places, so few words keep the search short.
  constexpr std::size_t kMostWords = 10;
  if (std::all_of(name.begin(), name.end(), is_word)) return exact_regex(name);
  const CanonicalName canonical = canonical_name(name);
  const std::size_t function = canonical.key.find(canonical.function);
  if (canonical.function.empty() || function == std::string::npos) return exact_regex(name);
  // No word character before or after, so that it is not part of a longer name.
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
