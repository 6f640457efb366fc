#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "formats/csv.h"

/// The numbers that stand in profilers' tables, read strictly and the same in every locale. All of
/// the text must be the number: blanks and units around it are an Error, not ignored.
namespace profline::csv {

enum class Thousands {
  None,    ///< 1234567.5
  Commas,  ///< also 1,234,567.5, as ncu prints; a comma in any other place is an Error
};

/// An integer in int64.
Result<std::int64_t> parse_integer(std::string_view text, Thousands thousands = Thousands::None);

/// A finite decimal number, with or without fraction and exponent. `nan` and `inf` are refused: a
/// sum must not swallow them unseen.
Result<double> parse_number(std::string_view text, Thousands thousands = Thousands::None);

/// The number before a percent sign, one blank between them allowed: 71.4 for `71.4%`.
Result<double> parse_percent(std::string_view text, Thousands thousands = Thousands::None);

/// The names of a table's columns. Columns are found by name, never by position: every release of
/// nsys and ncu moves them.
class Header {
 public:
  Header(std::vector<std::string> names, Position position);

  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  /// The first column of exactly this name.
  std::optional<std::size_t> find(std::string_view name) const;
  /// The only column of exactly this name; an Error tells of the nearest names there are, or that
  /// there are two.
  Result<std::size_t> require(std::string_view name) const;

 private:
  std::vector<std::string> names_;
  Position position_;
  std::unordered_map<std::string, std::size_t> first_;  // name to column
};

/// What to do with a row that has fewer cells than the header.
enum class ShortRows {
  Skip,  ///< leave it out and tell
  /// Take the missing cells for empty ones, if the row reaches every required column: ncu's details
  /// page ends most of its rows early.
  Pad,
};

struct TableOptions {
  /// Columns without which this is not the table that was meant. At least one where there is a
  /// preamble, for they are what a header is recognised by.
  std::vector<std::string> required = {};
  /// Lines before the header are passed over (ncu logs begin with `==PROF== ...`) and kept in
  /// `preamble()`. The header is then the first line that has all required columns.
  bool preamble = false;
  ShortRows short_rows = ShortRows::Skip;
};

/// A table with a header: its rows one by one, each with as many cells as the header. Rows with
/// more (or fewer: see ShortRows) are left out and told in `skipped()`.
class TableReader {
 public:
  /// Reads up to the header. An Error when there is none, or when it lacks a required column.
  static Result<TableReader> open(Reader reader, const TableOptions& options);

  const Header& header() const { return header_; }
  /// The lines before the header, at most `kKeptPreamble` of them.
  const std::vector<std::string>& preamble() const { return preamble_; }

  /// The next row, or null at the end.
  Result<const Record*> next();
  /// Tells that the row `next()` gave last is of no use: `line 2: not a kernel row`.
  void skip(std::string why);
  const SkipList& skipped() const { return reader_.skipped(); }

  static constexpr std::size_t kKeptPreamble = 1000;

 private:
  TableReader(Reader reader, Header header, std::vector<std::string> preamble)
      : reader_(std::move(reader)), header_(std::move(header)), preamble_(std::move(preamble)) {}

  Reader reader_;
  Header header_;
  std::vector<std::string> preamble_;
  std::size_t fewest_cells_ = 0;
  Record row_;
  std::vector<std::string_view> padded_;
};

}  // namespace profline::csv
