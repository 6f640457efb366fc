#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

/// CSV according to RFC 4180: what `nsys stats`, `ncu --csv` and our own reports use. This file
/// handles records and cells; csv_table.h adds headers and the numbers in the cells.
namespace profline::csv {

/// A record that was skipped, and why.
struct Skipped {
  std::uint64_t line = 0;
  std::uint32_t column = 0;  // in characters, from 1; 0: the whole record
  std::string why;

  bool operator==(const Skipped&) const = default;
  /// `line 7, column 3: quote inside an unquoted cell`
  std::string to_string() const;
};

/// What was skipped in an input: all of it counted, but only the first `kKept` described, so that
/// gigabytes of bad records do not fill the memory with messages.
class SkipList {
 public:
  static constexpr std::size_t kKept = 100;

  void add(Skipped skipped);
  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  const std::vector<Skipped>& first() const { return first_; }
  /// One line each, and `and 23 more` at the end when not all were kept.
  std::vector<std::string> to_strings() const;

 private:
  std::vector<Skipped> first_;
  std::uint64_t count_ = 0;
};

enum class BadRecords {
  Skip,  ///< skip the record and list it in `skipped()`
  Fail,  ///< an Error with its line and column
};

struct ReaderOptions {
  BadRecords bad_records = BadRecords::Skip;
  /// Longest record, its line end included; at least 16. A longer one is an Error, because the
  /// usual cause is a quote that is never closed, which would swallow the rest of the file.
  std::size_t max_record_bytes = std::size_t{16} << 20U;
  std::size_t max_record_cells = std::size_t{1} << 18U;
  std::string source = {};  // file name for the positions of Errors; may be empty
};

/// Returns the input piece by piece; an empty piece is the end. A piece must stay valid until the
/// next call.
using ChunkSource = std::function<Result<std::string_view>()>;

/// One line of a table. Its views are valid until the reader's next call.
struct Record {
  std::uint64_t line = 0;  // of its first character, from 1
  std::span<const std::string_view> cells;
};

/// Reads records one by one, in memory bounded by `max_record_bytes` and one chunk.
///
///   while (const csv::Record* record = PL_TRY(reader.next())) use(record->cells);
///
/// Lines end in LF or CRLF, the last one perhaps in neither; a lone CR is data. Empty lines are not
/// records. A UTF-8 byte order mark is dropped; UTF-16 is an Error. Cells keep their blanks and any
/// byte; they point into the input unless quotes were doubled or the record crosses a chunk.
///
/// A quote in the wrong place makes its record a bad one; the reader continues after that record,
/// having treated the quote as an ordinary character. A quote that is never closed loses everything
/// to the end of the input: what may be the inside of a cell is never turned into records.
class Reader {
 public:
  explicit Reader(std::string_view text, ReaderOptions options = {});
  explicit Reader(ChunkSource source, ReaderOptions options = {});

  /// The next record, or null at the end. An Error is final: every later call returns it again.
  Result<const Record*> next();

  /// The next line verbatim, without its end and ignoring quotes; nothing at the end. Valid until
  /// the next call.
  Result<std::optional<std::string_view>> next_line();

  /// The line number of the next record or line, from 1.
  std::uint64_t line() const { return line_; }
  const std::string& source() const { return options_.source; }
  const SkipList& skipped() const { return skipped_; }
  /// Adds to the same list, for callers that reject a record after it was read.
  void skip(Skipped skipped) { skipped_.add(std::move(skipped)); }

 private:
  struct Cell {  // offsets from the start of the record
    std::size_t begin;
    std::size_t end;
    bool doubled_quotes;
  };
  struct Problem {
    std::size_t offset;
    std::string_view what;
  };
  enum class CellEnd { Comma, Record };

  Result<const Record*> read_record();
  Result<std::optional<std::string_view>> read_line();
  Result<void> begin_input();
  Result<void> scan_record();
  void pass_plain_cells();
  Result<CellEnd> scan_unquoted();
  Result<CellEnd> scan_quoted();
  Result<std::optional<CellEnd>> cell_end();
  Result<bool> available(std::size_t ahead = 0);
  Result<bool> refill();
  void take_over_tail();
  void note(std::size_t offset, std::string_view what);
  Skipped describe(const Problem& problem) const;
  Error too_long() const;
  bool is_blank() const;
  void publish();

  ReaderOptions options_;
  ChunkSource source_;
  // Vectors, not strings: their bytes stay where they are when the Reader is moved.
  std::vector<char> buffer_;     // a record that crosses chunks, and what follows it
  std::vector<char> unescaped_;  // cells of this record with doubled quotes undone
  std::string_view window_;      // the part of the input in memory
  bool window_is_buffer_ = false;
  bool begun_ = false;
  std::size_t start_ = 0;  // of the current record, in window_
  std::size_t at_ = 0;     // next byte to look at, in window_
  std::uint64_t line_ = 1;
  std::vector<Cell> spans_;
  std::optional<Problem> problem_;
  std::vector<std::string_view> cells_;
  Record record_;
  SkipList skipped_;
  std::optional<Error> broken_;
};

/// Appends one record and its LF. Cells are quoted only where they must be; any byte survives.
/// There is at least one cell.
void append_record(std::string& out, std::span<const std::string_view> cells);
void append_record(std::string& out, std::span<const std::string> cells);
void append_record(std::string& out, std::initializer_list<std::string_view> cells);

/// The same for a table that people open in a spreadsheet, where a name from a capture could be
/// read as a formula: a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return gets a
/// `'` in front, unless it is a number.
void append_export(std::string& out, std::span<const std::string> cells);
void append_export(std::string& out, std::initializer_list<std::string_view> cells);

/// All records as one text.
std::string write(std::span<const std::vector<std::string>> records);

}  // namespace profline::csv

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
