#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profline {

/// How the text of a scalar may be written in block context, following PyYAML's emitter.
struct ScalarAnalysis {
  bool is_empty = true;
  bool has_breaks = false;
  bool plain = true;   // no indicator or space makes it something else
  bool single = true;  // survives in single quotes
  bool block = false;  // survives as literal text
};

ScalarAnalysis analyse_scalar(std::u32string_view text);

/// The code points of UTF-8; one U+FFFD for each invalid byte.
std::u32string decode_utf8(std::string_view bytes);

/// Assembles YAML text: indentation, the space between tokens and the width of lines.
class YamlEmitter {
 public:
  enum class Style { Plain, Single, Double, Literal };

  /// An indicator, tag or quote; `spaced` puts a space in front unless there is one. With
  /// `keeps_indention`, what follows still counts as the first thing on its line.
  void indicator(std::string_view text, bool spaced, bool keeps_indention = false);
  void scalar(std::u32string_view text, Style style, bool may_fold);
  /// Goes to the current indentation, on a new line unless already there.
  void indent();

  /// The level of indentation; -1 at the top level.
  int level() const { return indent_; }
  void set_level(int indent) { indent_ = indent; }
  /// Whether nothing but indentation and `-`, `?`, `:` is on this line.
  bool at_indention() const { return at_indention_; }

  std::string take() { return std::move(out_); }

 private:
  void plain(std::u32string_view text, bool may_fold);
  void single_quoted(std::u32string_view text, bool may_fold);
  void double_quoted(std::u32string_view text, bool may_fold);
  void literal(std::u32string_view text);
  void append(std::u32string_view text);
  void line_break();
  void fold();

  std::string out_;
  int indent_ = -1;
  std::size_t column_ = 0;  // in characters
  bool after_space_ = true;
  bool at_indention_ = true;
};

}  // namespace profline
