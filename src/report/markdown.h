#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Markdown as GitHub reads it. Names of kernels, operators, ranges and files are untrusted text:
/// they go through code() or plain(), in which nothing ends a cell, opens markup or leads
/// elsewhere.
namespace profline::report::markdown {

/// Text between other text.
std::string plain(std::string_view text);

/// A name, as code; longer ones are cut to `width` columns. An empty one is a dash.
std::string code(std::string_view text, std::size_t width = 100);

/// A table whose cells are Markdown already.
class Table {
 public:
  enum class Align { Left, Right };
  struct Column {
    std::string title;
    Align align = Align::Right;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as columns.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace profline::report::markdown
