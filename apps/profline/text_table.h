#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profline {

/// Colours of a text, if enabled.
class Palette {
 public:
  explicit Palette(bool in_color) : in_color_(in_color) {}

  std::string heading(std::string_view text) const { return paint("\x1b[1m", text); }
  std::string faint(std::string_view text) const { return paint("\x1b[2m", text); }
  std::string warning(std::string_view text) const { return paint("\x1b[33m", text); }
  std::string accent(std::string_view text) const { return paint("\x1b[36m", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const;

  bool in_color_;
};

/// Columns of text, each as wide as its widest cell; one of them takes the rest of the line and is
/// cut to fit. If a line is too narrow for all columns, optional ones are left out, and a line
/// below the table names them.
class TextTable {
 public:
  enum class Align { Left, Right };
  struct Column {
    std::string title;
    Align align = Align::Right;
    bool stretches = false;  ///< takes the rest of the line; at most one column
    int spare = 0;           ///< 0: always shown; higher values are left out sooner
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column. Control characters are made visible.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  /// Lines of at most `width` columns if the stretching column permits, indented by two.
  std::string render(std::size_t width, const Palette& palette) const;

 private:
  std::vector<std::size_t> natural_widths() const;
  /// Indices of the columns that fit into `width`.
  std::vector<std::size_t> shown_columns(std::size_t width,
                                         const std::vector<std::size_t>& widths) const;
  std::string left_out(const std::vector<std::size_t>& shown) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The text, or a dash in place of an empty one.
inline std::string or_dash(std::string text) {
  return text.empty() ? "–" : std::move(text);
}

/// The width of stdout: its terminal's width, or 120 if it is not a terminal.
std::size_t output_width();

/// `text` for a terminal of that width. A line that is too long is broken between words and
/// continues below the start of its last column; one that begins with `$ ` is a command to copy and
/// stays unbroken.
std::string wrap_lines(std::string_view text, std::size_t width);

/// The same for stdout if it is a terminal; otherwise, and especially in a file, text stays
/// unchanged.
std::string for_terminal(std::string text);

}  // namespace profline
