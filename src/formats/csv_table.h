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

/// The numbers in profilers' tables, parsed strictly and the same in every locale. The whole text
/// must be the number: blanks and units around it are an Error.
namespace profline::csv {

enum class Thousands {
  None,    ///< 1234567.5
  Commas,  ///< also 1,234,567.5, as ncu prints; a comma in any other place is an Error
};

/// An integer in the range of int64.
Result<std::int64_t> parse_integer(std::string_view text, Thousands thousands = Thousands::None);

/// A finite decimal number, with or without fraction and exponent. `nan` and `inf` are refused,
/// because they would spoil a sum unnoticed.
Result<double> parse_number(std::string_view text, Thousands thousands = Thousands::None);

/// The number before a percent sign, with at most one blank between them: 71.4 for `71.4%`.
Result<double> parse_percent(std::string_view text, Thousands thousands = Thousands::None);

/// The names of a table's columns. Columns are found by name, never by position: releases of nsys
/// and ncu move them.
class Header {
 public:
  Header(std::vector<std::string> names, Position position);

  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  /// The first column with exactly this name.
  std::optional<std::size_t> find(std::string_view name) const;
  /// The only column with exactly this name; the Error suggests the nearest names, or says that
  /// there are two.
  Result<std::size_t> require(std::string_view name) const;

 private:
  std::vector<std::string> names_;
  Position position_;
  std::unordered_map<std::string, std::size_t> first_;  // name to column
};

/// What to do with a row that has fewer cells than the header.
enum class ShortRows {
  Skip,  ///< skip it and list it in `skipped()`
  /// Treat the missing cells as empty, if the row reaches every required column: ncu's details page
  /// ends most of its rows early.
  Pad,
};

struct TableOptions {
  /// Columns without which this is not the expected table. At least one if there is a preamble,
  /// because they identify the header.
  std::vector<std::string> required = {};
  /// Lines before the header are skipped (ncu logs begin with `==PROF== ...`) and kept in
  /// `preamble()`. The header is then the first line that has all required columns.
  bool preamble = false;
  ShortRows short_rows = ShortRows::Skip;
};

/// A table with a header: its rows one by one, each with as many cells as the header. Rows with
/// more (or fewer: see ShortRows) are skipped and listed in `skipped()`.
class TableReader {
 public:
  /// Reads up to the header. An Error if there is no header, or if it lacks a required column.
  static Result<TableReader> open(Reader reader, const TableOptions& options);

  const Header& header() const { return header_; }
  /// The lines before the header, at most `kKeptPreamble` of them.
  const std::vector<std::string>& preamble() const { return preamble_; }

  /// The next row, or null at the end.
  Result<const Record*> next();
  /// Rejects the row that `next()` returned last: `line 2: not a kernel row`.
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
