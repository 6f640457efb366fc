#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profline::web {

/// Value of an attribute, escaped. An attribute that is left out: an empty name.
struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

/// HTML that is safe by how it was made: names of kernels, operators, files and whatever else comes
/// from outside get in through text() and attribute values, which escape.
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

/// Untrusted text: escaped, and with control characters, marks that reorder text and bytes that
/// are not UTF-8 written as visible escapes.
Markup text(std::string_view untrusted);

/// HTML of our own, as it is: constants of this program and its assets, nothing else.
Markup verbatim(std::string_view ours);

/// `<tag name="value">children</tag>`; void elements (`col`, `meta`) without an end. Tags and
/// attribute names are constants of this program.
Markup element(std::string_view tag, Attributes attributes, const Markup& children = {});
inline Markup element(std::string_view tag, const Markup& children) {
  return element(tag, {}, children);
}

/// Text for the inside of a <script> element of type application/json: the same JSON in which
/// nothing ends the element.
std::string json_for_script(const std::string& json);

/// JavaScript for the inside of a <script> element, `</script` in it escaped as in a string.
std::string code_for_script(std::string_view code);

/// What a reader sees, and what the column is sorted by.
struct Cell {
  Markup shown;
  std::optional<double> value = {};  ///< sorts by it; nothing: by its text, or last where unknown
  std::optional<double> bar = {};    ///< 0 to 1: how far the cell is filled
};

/// A table that is whole without JavaScript; the page's script adds sorting by any column and,
/// where it is wanted, a search and choices.
class Table {
 public:
  enum class Align {
    Left,
    Right,
    Text,  ///< to the left, in as many lines as it takes
  };
  struct Column {
    std::string title;
    Align align = Align::Right;
    std::string hint = {};   ///< what it means, on demand
    bool is_choice = false;  ///< rows can be narrowed down to one of its values
  };

  /// `id` names it in links and tests; `label` is its caption for who does not see the page.
  Table(std::string id, std::string label, std::vector<Column> columns)
      : id_(std::move(id)), label_(std::move(label)), columns_(std::move(columns)) {}

  Table& with_search() {
    has_search_ = true;
    return *this;
  }
  /// As many cells as columns.
  void add(const std::vector<Cell>& cells);
  /// A row that stays last however the table is sorted: what was left out.
  void add_last(const std::vector<Cell>& cells);
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
  Markup last_;
  std::size_t rows_ = 0;
  bool has_search_ = false;
};

// Cells of what the reports are full of; what is not known is a dash and sorts last.
Cell text_cell(std::string_view untrusted);
Cell code_cell(std::string_view untrusted);
Cell duration_cell(const std::optional<double>& ns);
Cell share_cell(const std::optional<double>& share);
/// With a bar behind it.
Cell bar_cell(const std::optional<double>& share);
Cell count_cell(const std::optional<double>& number);
/// All of its digits.
Cell number_cell(std::uint64_t number);

/// A name as people say it, with the whole one on demand; both are untrusted.
Markup long_name(std::string_view friendly, std::string_view whole);
/// `<code>`, at most `width` columns of it.
Markup code(std::string_view untrusted, std::size_t width = 120);

}  // namespace profline::web
