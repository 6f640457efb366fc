#include <algorithm>

#include "inputs/tokenizer/internal/text_pieces.h"

// Must be defined before the header: strings of bytes.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <array>
#include <string>
#include <utility>

#include <pcre2.h>

#include "base/error.h"
#include "base/strings.h"

namespace profline::tokenizer::internal {
namespace {

constexpr std::size_t kMaxPatternBytes = 1 << 16;
// For a single match. Patterns of real tokenizers stay far below.
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

constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
// Outside a class Oniguruma also counts these as word characters: superscript digits and fractions.
constexpr std::string_view kLooseWord =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";
constexpr std::string_view kHexDigits = "0-9a-fA-F";
constexpr std::size_t kNone = std::string_view::npos;

Error unsupported(const std::string& what) {
  return Error(ErrorKind::Parse, "pattern with " + what + " is not supported");
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern) {}

  Result<std::string> run() {
    while (!rest_.empty()) {
      if (rest_.front() == '\\') {
        PL_TRY(escape());
      } else if (in_class_) {
        PL_TRY(class_character());
      } else {
        PL_TRY(character());
      }
    }
    return std::move(out_);
  }

 private:
  void copy(std::size_t count) {
    out_ += rest_.substr(0, count);
    rest_.remove_prefix(std::min(count, rest_.size()));
  }
  void replace(std::size_t count, std::string_view text) {
    out_ += text;
    rest_.remove_prefix(count);
  }
  /// A set of characters, in a place where one is allowed.
  void set(std::string_view items) {
    replace(2, in_class_ ? std::string(items) : "[" + std::string(items) + "]");
  }
  Result<void> negated_set(std::string_view items) {
    if (in_class_) return unsupported("'" + std::string(rest_.substr(0, 2)) + "' within a class");
    replace(2, "[^" + std::string(items) + "]");
    return {};
  }

  Result<void> escape() {
    if (rest_.size() < 2) return Error(ErrorKind::Parse, "pattern ends in the middle of an escape");
    class_begins_ = false;
    switch (rest_[1]) {
      case 's':
        replace(2, R"(\p{White_Space})");
        break;
      case 'S':
        replace(2, R"(\P{White_Space})");
        break;
      case 'w':
        set(in_class_ ? kWord : kLooseWord);
        break;
      case 'W':
        return negated_set(kLooseWord);
      case 'h':
        set(kHexDigits);
        break;
      case 'H':
        return negated_set(kHexDigits);
      case 'p':
      case 'P':
        property();
        break;
      case 'u':
        return code_unit();
      case 'b':
      case 'B':
        boundary();
        break;
      default:
        return plain_escape();
    }
    return {};
  }

  Result<void> plain_escape() {
    // Each means something else, or nothing, in one of the libraries.
    if (std::string_view("QEKRXGNCgk").find(rest_[1]) != kNone) {
      return unsupported("'" + std::string(rest_.substr(0, 2)) + "'");
    }
    copy(2);
    return {};
  }

  void property() {
    const std::size_t end = rest_.size() > 2 && rest_[2] == '{' ? rest_.find('}') : kNone;
    copy(end == kNone ? 2 : end + 1);
  }

  Result<void> code_unit() {
    const std::string_view digits = rest_.substr(2, 4);
    if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != kNone) {
      return Error(ErrorKind::Parse, "pattern has '\\u' without four hexadecimal digits");
    }
    replace(6, "\\x{" + std::string(digits) + "}");
    return {};
  }

  void boundary() {
    if (in_class_) {
      copy(2);  // a backspace
      return;
    }
    const std::string word = "[" + std::string(kLooseWord) + "]";
    const bool at = rest_[1] == 'b';
    replace(2, "(?:(?<=" + word + (at ? ")(?!" : ")(?=") + word + ")|(?<!" + word +
                   (at ? ")(?=" : ")(?!") + word + "))");
  }

  Result<void> class_character() {
    const bool first = std::exchange(class_begins_, false);
    if (rest_.starts_with("[:")) return named_class();
    if (rest_.front() == '[') return unsupported("a class within a class");
    if (rest_.starts_with("&&")) return unsupported("'&&' within a class");
    if (rest_.front() == '^' && first && out_.back() == '[') class_begins_ = true;
    if (rest_.front() == ']' && !first) in_class_ = false;
    copy(1);
    return {};
  }

  /// `[:alpha:]`: wider here than in PCRE2, which uses categories, not properties.
  Result<void> named_class() {
    struct Name {
      std::string_view text, items;
    };
    constexpr Name kNames[] = {
        {"[:alpha:]", R"(\p{Alphabetic})"},       {"[:digit:]", R"(\p{Nd})"},
        {"[:alnum:]", R"(\p{Alphabetic}\p{Nd})"}, {"[:upper:]", R"(\p{Uppercase})"},
        {"[:lower:]", R"(\p{Lowercase})"},        {"[:space:]", R"(\p{White_Space})"}};
    for (const Name& name : kNames) {
      if (!rest_.starts_with(name.text)) continue;
      replace(name.text.size(), name.items);
      return {};
    }
    return unsupported("'" + std::string(rest_.substr(0, rest_.find(']') + 1)) + "'");
  }

  Result<void> character() {
    if (rest_.front() == '[') {
      in_class_ = true;
      class_begins_ = true;
      copy(1);
      return {};
    }
    if (rest_.front() == '{') return interval();
    if (rest_.starts_with("(*")) return unsupported("'(*'");
    if (rest_.starts_with("(?")) return group();
    copy(1);
    return {};
  }

  /// `{2}`, `{2,}`, `{2,3}`, `{,3}`; anything else is a brace.
  Result<void> interval() {
    std::size_t end = 1;
    bool comma = false;
    bool digits = false;
    while (end < rest_.size() && (is_digit(rest_[end]) || (rest_[end] == ',' && !comma))) {
      (rest_[end] == ',' ? comma : digits) = true;
      ++end;
    }
    if (!digits || end == rest_.size() || rest_[end] != '}') {
      copy(1);
      return {};
    }
    const std::string_view after = rest_.substr(end + 1);
    if (after.starts_with('+')) {
      return unsupported("'" + std::string(rest_.substr(0, end + 2)) + "'");
    }
    if (rest_[1] == ',') replace(1, "{0");
    copy(rest_.find('}') + 1);
    return {};
  }

  /// `(?i)`, `(?m-i:`: options; `(?:`, `(?<=` and the like mean the same in both.
  Result<void> group() {
    std::size_t end = 2;
    while (end < rest_.size() && (rest_[end] == '-' || (rest_[end] >= 'a' && rest_[end] <= 'z'))) {
      ++end;
    }
    const bool options = end > 2 && end < rest_.size() && (rest_[end] == ')' || rest_[end] == ':');
    if (!options) {
      copy(2);
      return {};
    }
    std::string text(rest_.substr(0, end));
    if (text.find_first_not_of("(?imx-") != kNone) return unsupported("'" + text + "'");
    std::replace(text.begin(), text.end(), 'm', 's');
    replace(end, text);
    return {};
  }

  std::string_view rest_;
  std::string out_;
  bool in_class_ = false;
  bool class_begins_ = false;  // a ']' here would be an ordinary character
};

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
  // Without it matching is slower, but the same: a machine may lack the JIT compiler.
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
      // The machine stack suffices for almost every pattern; this one needs more.
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

Result<std::string> pcre_pattern(std::string_view oniguruma) {
  return Translator(oniguruma).run();
}

}  // namespace profline::tokenizer::internal
