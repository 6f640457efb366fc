#include "inputs/tokenizer/internal/regex.h"

// Must be told before the header: strings of bytes.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <array>
#include <string>
#include <utility>

#include <pcre2.h>

#include "base/assert.h"
#include "inputs/tokenizer/internal/oniguruma.h"

namespace profline::tokenizer::internal {
namespace {

constexpr std::size_t kMaxPatternBytes = 1 << 16;
// Of a single match. Patterns of real tokenizers stay far below.
constexpr std::uint32_t kMaxSteps = 1'000'000;
constexpr std::uint32_t kMaxHeapKibibytes = 1 << 17;
constexpr std::size_t kJitStackBytes = 1 << 16;
constexpr std::size_t kMaxJitStackBytes = 1 << 22;

template <typename T, void (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
using CodeHandle = std::unique_ptr<pcre2_code, Releaser<pcre2_code, pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context,
                                       Releaser<pcre2_compile_context, pcre2_compile_context_free>>;
using MatchContext =
    std::unique_ptr<pcre2_match_context, Releaser<pcre2_match_context, pcre2_match_context_free>>;
using MatchData =
    std::unique_ptr<pcre2_match_data, Releaser<pcre2_match_data, pcre2_match_data_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Releaser<pcre2_jit_stack, pcre2_jit_stack_free>>;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

std::size_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

}  // namespace

struct Regex::Code {
  CodeHandle handle;
};

Regex::Regex(std::unique_ptr<const Code> code) : code_(std::move(code)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view oniguruma) {
  const std::string pattern = PL_TRY(pcre_pattern(oniguruma));
  const CompileContext context(pcre2_compile_context_create(nullptr));
  PL_ASSERT(context, "there is memory");
  pcre2_set_max_pattern_length(context.get(), kMaxPatternBytes);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int code = 0;
  PCRE2_SIZE offset = 0;
  CodeHandle handle(pcre2_compile(units(pattern), pattern.size(),
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &code, &offset,
                                  context.get()));
  if (!handle) {
    return Error(ErrorKind::Parse, "pattern is not valid: " + message_of(code) + " (after '" +
                                       pattern.substr(0, std::min<std::size_t>(offset, 80)) + "')");
  }
  // Without it matching is slower and the same: a machine may have no such compiler.
  static_cast<void>(pcre2_jit_compile(handle.get(), PCRE2_JIT_COMPLETE));
  return Regex(std::make_unique<const Code>(Code{std::move(handle)}));
}

struct RegexScanner::State {
  MatchContext context{pcre2_match_context_create(nullptr)};
  MatchData data{pcre2_match_data_create(1, nullptr)};
  JitStack stack;
};

RegexScanner::RegexScanner() : state_(std::make_unique<State>()) {
  PL_ASSERT(state_->context && state_->data, "there is memory");
  pcre2_set_match_limit(state_->context.get(), kMaxSteps);
  pcre2_set_heap_limit(state_->context.get(), kMaxHeapKibibytes);
}
RegexScanner::~RegexScanner() = default;

Result<void> RegexScanner::find_all(const Regex& regex, std::string_view text,
                                    std::vector<Match>& matches) {
  const auto match = [&](std::size_t from, std::uint32_t options) {
    return pcre2_match(regex.code_->handle.get(), units(text), text.size(), from,
                       options | PCRE2_NO_UTF_CHECK, state_->data.get(), state_->context.get());
  };
  std::size_t from = 0;
  std::size_t last_end = std::string_view::npos;
  while (from <= text.size()) {
    int found = match(from, 0);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT && !state_->stack) {
      // The machine's own stack is enough for almost every pattern; this one needs more.
      state_->stack.reset(pcre2_jit_stack_create(kJitStackBytes, kMaxJitStackBytes, nullptr));
      pcre2_jit_stack_assign(state_->context.get(), nullptr, state_->stack.get());
      found = match(from, 0);
    }
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = match(from, PCRE2_NO_JIT);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      return Error(ErrorKind::Config,
                   "pattern takes too much work on this text: " + message_of(found));
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(state_->data.get());
    // \K in a lookahead could put the end first; the translation refuses \K.
    PL_ASSERT(ends[0] <= ends[1], "a match does not end before it begins");
    if (ends[0] == ends[1] && ends[1] == last_end) {
      from += from < text.size() ? character_bytes(text[from]) : 1;
      continue;
    }
    matches.push_back({ends[0], ends[1]});
    from = last_end = ends[1];
  }
  return {};
}

}  // namespace profline::tokenizer::internal
