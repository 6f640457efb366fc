#include "analysis/kernels/internal/demangle.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <cxxabi.h>

namespace profline::kernels::internal {
namespace {

constexpr std::size_t kLongestMangled = std::size_t{16} << 10U;
constexpr double kLongestName = 8e6;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// An upper bound of what a mangled name can become: repetitions (`S3_`, `T_`) count as much as the
/// largest part before them.
class Expansion {
 public:
  explicit Expansion(std::string_view text) : text_(text) {}

  bool is_bounded() {
    while (at_ < text_.size()) {
      step();
      if (in_doubt_) largest_ = std::max(largest_, sizes_.back());
      if (sizes_.back() > kLongestName) return false;
    }
    return true;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void add(double size) { sizes_.back() += size; }
  void open() { sizes_.push_back(0); }
  void close() {
    if (sizes_.size() == 1) return;
    const double size = sizes_.back();
    sizes_.pop_back();
    add(size);
    largest_ = std::max(largest_, sizes_.back());
  }

  /// `S_`, `S1A_`, `T_`, `T0_`: behind the letter.
  void repeat() {
    while (is_digit(peek()) || (peek() >= 'A' && peek() <= 'Z')) ++at_;
    if (peek() == '_') ++at_;
    add(largest_);
  }

  void step() {
    const char c = text_[at_++];
    if (is_digit(c)) {
      std::size_t length = static_cast<std::size_t>(c - '0');
      while (is_digit(peek()) && length < kLongestMangled) {
        length = length * 10 + static_cast<std::size_t>(text_[at_++] - '0');
      }
      at_ += std::min(length, text_.size() - at_);
      add(static_cast<double>(length) + 2);
      largest_ = std::max(largest_, static_cast<double>(length));
      return;
    }
    switch (c) {
      case 'X':
        in_doubt_ = true;
        open();
        return;
      case 'S':
        if (peek() >= 'a' && peek() <= 'z') {  // St, Sa, Ss: of the standard library
          ++at_;
          add(16);
        } else {
          repeat();
        }
        return;
      case 'T':
        repeat();
        return;
      case 'L':  // a literal: `Li128E`, or `L_Z` and a whole name
        if (peek() == '_') {
          in_doubt_ = true;
          open();
          return;
        }
        while (at_ < text_.size() && peek() != 'E') ++at_;
        add(24);
        ++at_;
        return;
      case 'I':
      case 'N':
      case 'F':
      case 'J':
      case 'Z':
        open();
        return;
      case 'U':
        if (peek() == 'l') open();
        return;
      case 'E':
        close();
        return;
      default:
        add(12);  // `unsigned long long`, `const`
        return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 2;
  std::vector<double> sizes_{0.0};
  double largest_ = 16;
  // Expressions are not followed, so behind one it is not known which part is inside of which, and
  // each repetition may be of all before it.
  bool in_doubt_ = false;
};

}  // namespace

std::optional<std::string> demangled(std::string_view mangled) {
  if (!mangled.starts_with("_Z") || mangled.size() > kLongestMangled) return std::nullopt;
  if (!Expansion(mangled).is_bounded()) return std::nullopt;
  int status = 0;
  const std::string text(mangled);
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || name == nullptr) return std::nullopt;
  return std::string(name.get());
}

}  // namespace profline::kernels::internal
