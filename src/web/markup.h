#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profline::web {

/// An attribute whose value gets escaped. One with an empty name is left out.
struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

/// HTML that is safe by construction: names of kernels, operators, files and all other external
/// text enter through text() and attribute values, which escape them.
class Markup {
 public:
  Markup() = default;

  const std::string& html() const { return html_; }
  bool empty() const { return html_.empty(); }
  Markup& operator+=(const Markup& other);
  friend Markup operator+(Markup left, const Markup& right) { return left += right; }

 private:
  explicit Markup(std::string html) : html_(std::move(html)) {}
  friend Markup text(std::string_view untrusted);
  friend Markup verbatim(std::string_view ours);
  friend Markup element(std::string_view tag, Attributes attributes, const Markup& children);

  std::string html_;
};

/// Escapes untrusted text. Control characters, marks that reorder text and bytes that are not UTF-8
/// become visible escapes.
Markup text(std::string_view untrusted);

/// Trusted HTML, unchanged: only constants of this program and its assets.
Markup verbatim(std::string_view ours);

/// `<tag name="value">children</tag>`; void elements (`col`, `meta`) without an end. Tags and
/// attribute names are constants of this program.
Markup element(std::string_view tag, Attributes attributes, const Markup& children = {});
inline Markup element(std::string_view tag, const Markup& children) {
  return element(tag, {}, children);
}

/// The JSON in a form that is safe inside a <script> element of type application/json: nothing in
/// it ends the element.
std::string json_for_script(const std::string& json);

/// JavaScript that is safe inside a <script> element: `</script` is escaped as in a string.
std::string code_for_script(std::string_view code);

/// What the reader sees, and the value that the column sorts by.
struct Cell {
  Markup shown;
  std::optional<double> value = {};  ///< sort key; absent: the text, or last if unknown
  std::optional<double> bar = {};    ///< 0 to 1: the filled part of the cell
};

/// A table that is complete without JavaScript; the page's script adds sorting by any column and,
/// where requested, a search and filters.
class Table {
 public:
  enum class Align {
    Left,
    Right,
    Text,  ///< left-aligned, wrapped
  };
  struct Column {
    std::string title;
    Align align = Align::Right;
    std::string hint = {};   ///< tooltip that explains the column
    bool is_choice = false;  ///< rows can be filtered by its values
  };

  /// `id` names it in links and tests; `label` is its caption for screen readers.
  Table(std::string id, std::string label, std::vector<Column> columns)
      : id_(std::move(id)), label_(std::move(label)), columns_(std::move(columns)) {}

  Table& with_search() {
    has_search_ = true;
    return *this;
  }
  /// One cell per column.
  void add(const std::vector<Cell>& cells);
  bool empty() const { return rows_ == 0; }
  std::size_t rows() const { return rows_; }
  std::size_t bytes() const { return body_.html().size(); }
  Markup markup() const;

 private:
  Markup row(const std::vector<Cell>& cells) const;

  std::string id_;
  std::string label_;
  std::vector<Column> columns_;
  Markup body_;
  std::size_t rows_ = 0;
  bool has_search_ = false;
};

// Cells of the kinds that reports use most; an unknown value is a dash and sorts last.
Cell text_cell(std::string_view untrusted);
Cell code_cell(std::string_view untrusted);
Cell duration_cell(const std::optional<double>& ns);
Cell share_cell(const std::optional<double>& share);
/// A share with a bar.
Cell bar_cell(const std::optional<double>& share);
Cell count_cell(const std::optional<double>& number);
/// With all digits.
Cell number_cell(std::uint64_t number);

/// A short name that expands to the full one; both are untrusted.
Markup long_name(std::string_view friendly, std::string_view whole);
/// `<code>`, cut to `width` columns.
Markup code(std::string_view untrusted, std::size_t width = 120);

}  // namespace profline::web
