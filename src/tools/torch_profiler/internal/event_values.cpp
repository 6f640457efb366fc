#include <algorithm>
#include <charconv>
#include <limits>

#include "base/strings.h"
#include "tools/torch_profiler/internal/trace_event.h"

namespace profline::torch_profiler::internal {
namespace {

template <typename Integer>
std::optional<Integer> whole(std::string_view text, int base) {
  Integer value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc() || end == text.data()) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  // Python's notation for an integer that became a float.
  const bool only_zeros =
      rest.starts_with('.') && rest.substr(1).find_first_not_of('0') == rest.npos;
  if (!rest.empty() && !only_zeros) return std::nullopt;
  return value;
}

template <typename Integer>
std::optional<Integer> integer(const RawValue& value) {
  if (!value.is_present() || value.kind() == RawValue::Kind::Container) return std::nullopt;
  const std::string_view text =
      value.kind() == RawValue::Kind::String ? trim(value.text()) : value.text();
  if (text.starts_with("0x") || text.starts_with("0X")) return whole<Integer>(text.substr(2), 16);
  return whole<Integer>(text, 10);
}

/// A parsed decimal number: mantissa * 10^exponent.
struct Decimal {
  std::uint64_t mantissa = 0;
  int exponent = 0;
  bool negative = false;
  bool good = false;
};

class DecimalReader {
 public:
  explicit DecimalReader(std::string_view text) : text_(text) {}

  Decimal read() {
    Decimal number;
    number.negative = takes('-');
    if (!number.negative) takes('+');
    std::size_t digits = read_digits(number, 0);
    if (takes('.')) digits += read_digits(number, -1);
    if (digits == 0) return {};
    if (takes('e') || takes('E')) {
      const bool down = takes('-');
      if (!down) takes('+');
      const auto exponent = whole<int>(text_.substr(at_), 10);
      if (!exponent || *exponent > kFarthest || !is_digit(text_[at_])) return {};
      number.exponent += down ? -*exponent : *exponent;
      at_ = text_.size();
    }
    number.good = at_ == text_.size();
    return number;
  }

 private:
  static constexpr int kFarthest = 1000;

  bool takes(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// `step` is the effect of a digit after the point on the exponent. Digits beyond those that fit
  /// (19) affect only the exponent.
  std::size_t read_digits(Decimal& number, int step) {
    constexpr std::uint64_t kRoom = std::numeric_limits<std::uint64_t>::max() / 10 - 1;
    const std::size_t first = at_;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      if (number.mantissa <= kRoom) {
        number.mantissa = number.mantissa * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
        number.exponent += step;
      } else if (number.exponent < kFarthest) {
        number.exponent += step + 1;
      }
    }
    return at_ - first;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// mantissa * 10^exponent, rounded half away from zero; nothing if it does not fit.
std::optional<std::int64_t> scaled(std::uint64_t mantissa, int exponent) {
  bool round_up = false;
  for (; exponent < 0 && (mantissa > 0 || round_up); ++exponent) {
    round_up = mantissa % 10 >= 5;
    mantissa /= 10;
  }
  if (round_up) ++mantissa;
  for (; exponent > 0 && mantissa > 0; --exponent) {
    if (__builtin_mul_overflow(mantissa, std::uint64_t{10}, &mantissa)) return std::nullopt;
  }
  if (mantissa > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(mantissa);
}

void append_utf8(std::string& out, unsigned point) {
  const auto byte = [&](unsigned value) { out += static_cast<char>(value); };
  if (point < 0x80U) {
    byte(point);
  } else if (point < 0x800U) {
    byte(0xC0U | (point >> 6U));
    byte(0x80U | (point & 0x3FU));
  } else if (point < 0x10000U) {
    byte(0xE0U | (point >> 12U));
    byte(0x80U | ((point >> 6U) & 0x3FU));
    byte(0x80U | (point & 0x3FU));
  } else {
    byte(0xF0U | (point >> 18U));
    byte(0x80U | ((point >> 12U) & 0x3FU));
    byte(0x80U | ((point >> 6U) & 0x3FU));
    byte(0x80U | (point & 0x3FU));
  }
}

/// The UTF-16 unit that `\uXXXX` at the front of `text` denotes.
std::optional<unsigned> utf16_unit(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  unsigned value = 0;
  const auto [end, failure] = std::from_chars(text.data() + 2, text.data() + 6, value, 16);
  if (failure != std::errc() || end != text.data() + 6) return std::nullopt;
  return value;
}

/// Appends the character for the `\u` at the front of `text`; returns the bytes consumed, 0 if it
/// is invalid.
std::size_t append_unicode(std::string& out, std::string_view text) {
  const auto first = utf16_unit(text);
  if (!first) return 0;
  if (*first < 0xD800U || *first > 0xDFFFU) {
    append_utf8(out, *first);
    return 6;
  }
  const auto second = utf16_unit(text.substr(6));
  if (*first > 0xDBFFU || !second || *second < 0xDC00U || *second > 0xDFFFU) return 0;
  append_utf8(out, 0x10000U + ((*first - 0xD800U) << 10U) + (*second - 0xDC00U));
  return 12;
}

}  // namespace

std::optional<std::uint64_t> unsigned_of(const RawValue& value) {
  return integer<std::uint64_t>(value);
}

std::optional<std::int64_t> signed_of(const RawValue& value) {
  return integer<std::int64_t>(value);
}

std::optional<std::int64_t> trailing_number(const RawValue& value) {
  if (const auto number = signed_of(value)) return number;
  if (value.kind() != RawValue::Kind::String) return std::nullopt;
  const std::string_view text = trim(value.text());
  std::size_t first = text.size();
  while (first > 0 && is_digit(text[first - 1])) --first;
  return whole<std::int64_t>(text.substr(first), 10);
}

RawTime time_of(const RawValue& value, ClockUnit unit) {
  if (!value.is_present()) return {};
  if (value.kind() == RawValue::Kind::Container) return {.state = RawTime::State::NotANumber};
  const std::string_view text =
      value.kind() == RawValue::Kind::String ? trim(value.text()) : value.text();
  const Decimal number = DecimalReader(text).read();
  if (!number.good) return {.state = RawTime::State::NotANumber};
  const auto ns =
      scaled(number.mantissa, number.exponent + (unit == ClockUnit::Microseconds ? 3 : 0));
  if (!ns) return {.state = RawTime::State::TooLarge};
  return {RawTime::State::Good, number.exponent < 0, number.negative ? -*ns : *ns};
}

std::string unescaped(std::string_view text, bool& bad_escape) {
  constexpr std::string_view kFrom = "\"\\/bfnrt";
  constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t backslash = std::min(text.find('\\', at), text.size());
    out.append(text.substr(at, backslash - at));
    at = backslash;
    if (at == text.size()) break;
    const std::size_t known =
        at + 1 < text.size() ? kFrom.find(text[at + 1]) : std::string_view::npos;
    std::size_t taken = 0;
    if (known != std::string_view::npos) {
      out += kTo[known];
      taken = 2;
    } else {
      taken = append_unicode(out, text.substr(at));
    }
    if (taken == 0) {
      bad_escape = true;
      out += '\\';
      taken = 1;
    }
    at += taken;
  }
  return out;
}

}  // namespace profline::torch_profiler::internal
