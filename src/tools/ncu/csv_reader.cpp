#include "tools/ncu/csv_reader.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "tools/ncu/internal/csv_row.h"

namespace profline::ncu {
namespace {

using internal::Columns;
using internal::Form;
using internal::RowReader;
using Cells = std::span<const std::string_view>;

constexpr std::size_t kRowsToGuessBy = 200;
constexpr std::size_t kKeptNotes = 50;
constexpr std::size_t kNoteBytes = 400;

/// A row that cannot be parsed yet: its numbers may be written in one of two ways.
struct PendingRow {
  std::uint64_t line = 0;
  std::vector<std::string> cells;
};

class ReportReader {
 public:
  ReportReader(csv::Reader reader, const ReadOptions& options)
      : reader_(std::move(reader)), options_(options), rows_(report_, options) {
    report_.source = options.source;
  }

  Result<CounterReport> run() {
    PL_TRY(find_header());
    while (const csv::Record* record = PL_TRY(reader_.next())) take(*record);
    read_pending();
    if (guess_.is_contradictory()) {
      report_.reading.notes.push_back(std::string("numbers are written in two ways: '") +
                                      guess_.style().decimal + "' was taken for the decimal sign");
    }
    report_bad_records();
    rows_.finish();
    return std::move(report_);
  }

 private:
  /// Line by line, not record by record: a quote in the program's output must not swallow the
  /// header.
  Result<void> find_header() {
    while (const auto line = PL_TRY(reader_.next_line())) {
      if (line->find("Kernel Name") != std::string_view::npos && begin_table(*line)) return {};
      note_preamble(*line);
    }
    return no_table();
  }

  bool begin_table(std::string_view line) {
    csv::Reader alone(line, {.bad_records = csv::BadRecords::Fail});
    const Result<const csv::Record*> record = alone.next();
    if (!record || *record == nullptr) return false;
    auto columns = internal::columns_of((*record)->cells, report_.names, options_.keep);
    if (!columns) return false;
    rows_.begin(*std::move(columns));
    return true;
  }

  /// ncu's own messages: warnings and errors are worth reporting, progress is not.
  void note_preamble(std::string_view line) {
    const std::string_view text = trim(line);
    const bool is_warning = text.starts_with("==WARNING==");
    if (!is_warning && !text.starts_with("==ERROR==")) return;
    const std::string_view words = trim(text.substr(text.find("==", 2) + 2));
    if (words.find("profiled") != std::string_view::npos && words.starts_with("No ")) {
      nothing_profiled_ = std::string(words);
    }
    if (report_.reading.notes.size() >= kKeptNotes) return;
    report_.reading.notes.push_back((is_warning ? "ncu warns: " : "ncu failed: ") +
                                    printable(words.substr(0, kNoteBytes)));
  }

  Error no_table() const {
    const Position nowhere{options_.source, 0, 0};
    if (!nothing_profiled_.empty()) {
      return Error(ErrorKind::Parse, "nothing to read: ncu says '" + nothing_profiled_ + "'",
                   nowhere)
          .with_reason("nothing_profiled");
    }
    std::string message =
        "no table of ncu's in it: no line has the columns 'ID' and 'Kernel Name' with metrics, or "
        "'Kernel Name', 'Metric Name' and 'Metric Value', as --csv --page raw or details prints";
    for (const std::string& note : report_.reading.notes) message += "; " + note;
    return Error(ErrorKind::Parse, std::move(message), nowhere).with_reason("no_table");
  }

  void take(const csv::Record& record) {
    if (is_header_again(record.cells)) {
      read_pending();
      auto columns = internal::columns_of(record.cells, report_.names, options_.keep);
      if (columns) {
        rows_.begin(*std::move(columns));
        return;
      }
    }
    if (!has_row_shape(record)) return;
    if (rows_.is_units_row(record.cells)) {
      read_pending();
      rows_.take_units(record.cells);
      return;
    }
    if (is_decided_) {
      rows_.take(record.cells, record.line, guess_.style());
      return;
    }
    consider(record.cells);
    pending_.push_back({record.line, {record.cells.begin(), record.cells.end()}});
    if (guess_.is_certain() || pending_.size() >= kRowsToGuessBy) {
      read_pending();
      is_decided_ = true;
    }
  }

  /// Concatenated logs contain several tables, whose columns may differ.
  static bool is_header_again(Cells cells) {
    constexpr std::size_t kColumnsBeforeMetrics = 16;
    const Cells first = cells.first(std::min(cells.size(), kColumnsBeforeMetrics));
    return std::find(first.begin(), first.end(), "Kernel Name") != first.end();
  }

  /// False, and counted as skipped, for anything that is not a row of this table.
  bool has_row_shape(const csv::Record& record) {
    const Columns& columns = rows_.columns();
    const std::size_t size = record.cells.size();
    if (size >= columns.fewest_cells() && size <= columns.size + 1) return true;
    const std::string where = "line " + std::to_string(record.line);
    if (record.cells.front().starts_with("==")) {
      note_preamble(record.cells.front());
      report_.reading.skip("a line of ncu's log", where);
    } else {
      report_.reading.skip("not as many cells as the header", where);
    }
    return false;
  }

  void consider(Cells cells) {
    const Columns& columns = rows_.columns();
    if (columns.form != Form::Wide) {
      if (*columns.metric_value < cells.size()) guess_.see(cells[*columns.metric_value]);
      return;
    }
    for (const Columns::Metric& metric : columns.metrics) guess_.see(cells[metric.column]);
  }

  void read_pending() {
    std::vector<std::string_view> cells;
    for (const PendingRow& row : pending_) {
      cells.assign(row.cells.begin(), row.cells.end());
      rows_.take(cells, row.line, guess_.style());
    }
    pending_.clear();
  }

  /// Records that are not CSV; the reader describes only the first of them.
  void report_bad_records() {
    const csv::SkipList& skipped = reader_.skipped();
    std::uint64_t described = 0;
    for (const csv::Skipped& bad : skipped.first()) {
      report_.reading.skip(bad.why, "line " + std::to_string(bad.line));
      ++described;
    }
    for (; described < skipped.count(); ++described) {
      report_.reading.skip("another bad record", "");
    }
  }

  csv::Reader reader_;
  const ReadOptions& options_;
  CounterReport report_;
  RowReader rows_;
  NumberStyleGuess guess_;
  bool is_decided_ = false;
  std::vector<PendingRow> pending_;
  std::string nothing_profiled_;
};

csv::ReaderOptions reader_options(const ReadOptions& options) {
  csv::ReaderOptions csv_options;
  csv_options.source = options.source;
  return csv_options;
}

/// Reads a file in pieces.
class FileChunks {
 public:
  explicit FileChunks(FileDescriptor file) : file_(std::move(file)), buffer_(kChunk) {}

  Result<std::string_view> next(const std::string& path) {
    const ssize_t bytes = read_some(file_.get(), buffer_.data(), buffer_.size());
    if (bytes < 0) return os_error("read", path, errno);
    return std::string_view(buffer_.data(), static_cast<std::size_t>(bytes));
  }

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 20U;
  FileDescriptor file_;
  std::vector<char> buffer_;
};

}  // namespace

Result<CounterReport> read_csv(std::string_view text, const ReadOptions& options) {
  return ReportReader(csv::Reader(text, reader_options(options)), options).run();
}

Result<CounterReport> read_csv(csv::ChunkSource chunks, const ReadOptions& options) {
  return ReportReader(csv::Reader(std::move(chunks), reader_options(options)), options).run();
}

Result<CounterReport> load_csv(const std::string& path, const ReadOptions& options) {
  // Shared because std::function requires its content to be copyable.
  const auto chunks = std::make_shared<FileChunks>(PL_TRY(open_for_reading(path)));
  ReadOptions named = options;
  if (named.source.empty()) named.source = path;
  return read_csv([chunks, path] { return chunks->next(path); }, named);
}

}  // namespace profline::ncu
