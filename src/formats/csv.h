#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
