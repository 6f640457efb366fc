#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profline {

/// Text in which nothing opens a tag, begins an entity or ends a quoted value: for HTML and SVG.
std::string html_escaped(std::string_view text);

/// Untrusted text for HTML, between tags or inside a quoted attribute: nothing in it opens a tag,
/// ends a value or reorders the text around it. Control characters, marks that reorder text and
/// bytes that are not UTF-8 become visible escapes, as in printable().
std::string html_text(std::string_view text);

}  // namespace profline

/// GitHub-flavoured Markdown. Names of kernels, operators, ranges and files are untrusted text:
/// pass them through code() or plain(), so that nothing in them ends a cell, opens markup or makes
/// a link.
namespace profline::markdown {

/// Running text.
std::string plain(std::string_view text);

/// A name, as code; longer ones are cut to `width` columns. An empty name becomes a dash.
std::string code(std::string_view text, std::size_t width = 100);

/// A table whose cells are already Markdown.
class Table {
 public:
  enum class Align { Left, Right };
  struct Column {
    std::string title;
    Align align = Align::Right;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Needs as many cells as there are columns.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace profline::markdown
