#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "web/markup.h"

namespace profline::web {

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
