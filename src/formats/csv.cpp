#include "formats/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/strings.h"

namespace profline::csv {
namespace {

constexpr std::string_view kQuoteInside = "quote inside an unquoted cell";
constexpr std::string_view kTextAfterQuote = "text after a closing quote";
constexpr std::string_view kNeverClosed =
    "quote is never closed; nothing from here to the end was read";

/// The bytes that may end an unquoted cell or be wrong in it.
constexpr std::array<bool, 256> special_bytes() {
  std::array<bool, 256> special{};
  for (const char byte : {',', '"', '\n', '\r'}) special[static_cast<unsigned char>(byte)] = true;
  return special;
}
constexpr std::array<bool, 256> kSpecial = special_bytes();

std::size_t find_special(std::string_view text, std::size_t from) {
  while (from < text.size() && !kSpecial[static_cast<unsigned char>(text[from])]) ++from;
  return from;
}

std::size_t find_byte(std::string_view text, char byte, std::size_t from) {
  return std::min(text.find(byte, from), text.size());
}

bool starts_like_utf16(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

std::uint32_t character_column(std::string_view before) {
  const std::size_t line_end = before.rfind('\n');
  if (line_end != std::string_view::npos) before.remove_prefix(line_end + 1);
  const auto characters = std::count_if(before.begin(), before.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  });
  return static_cast<std::uint32_t>(characters) + 1;
}

/// Positions hold 32 bits; a line beyond that is reported as the last one they can hold.
std::uint32_t clamped(std::uint64_t line) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(line, std::numeric_limits<std::uint32_t>::max()));
}

bool needs_quotes(std::string_view cell) {
  // At the start of a file it would be read as a byte order mark.
  return find_special(cell, 0) != cell.size() || cell.starts_with(kByteOrderMark) ||
         starts_like_utf16(cell);
}

void append_cell(std::string& out, std::string_view cell) {
  if (!needs_quotes(cell)) {
    out += cell;
    return;
  }
  out += '"';
  for (const char byte : cell) {
    if (byte == '"') out += '"';
    out += byte;
  }
  out += '"';
}

template <typename Cells>
void append_cells(std::string& out, const Cells& cells) {
  PL_ASSERT(cells.size() > 0, "a record without cells cannot be written");
  if (cells.size() == 1 && cells.begin()->empty()) {
    out += "\"\"\n";  // an empty line would not be a record
    return;
  }
  bool first = true;
  for (const auto& cell : cells) {
    if (!first) out += ',';
    first = false;
    append_cell(out, cell);
  }
  out += '\n';
}

bool is_number(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return status == std::errc() && end == cell.data() + cell.size();
}

bool is_formula(std::string_view cell) {
  constexpr std::string_view kStarts = "=+-@\t\r";
  return !cell.empty() && kStarts.find(cell.front()) != std::string_view::npos && !is_number(cell);
}

template <typename Cells>
void append_harmless(std::string& out, const Cells& cells) {
  std::vector<std::string> harmless;
  harmless.reserve(cells.size());
  for (const auto& cell : cells) {
    harmless.emplace_back(is_formula(cell) ? "'" + std::string(cell) : std::string(cell));
  }
  append_cells(out, harmless);
}

}  // namespace

std::string Skipped::to_string() const {
  return Position{{}, clamped(line), column}.to_string() + ": " + why;
}

void SkipList::add(Skipped skipped) {
  ++count_;
  if (first_.size() < kKept) first_.push_back(std::move(skipped));
}

std::vector<std::string> SkipList::to_strings() const {
  std::vector<std::string> out;
  for (const Skipped& skipped : first_) out.push_back(skipped.to_string());
  if (count_ > first_.size()) {
    out.push_back("and " + std::to_string(count_ - first_.size()) + " more");
  }
  return out;
}

Reader::Reader(std::string_view text, ReaderOptions options)
    : options_(std::move(options)), window_(text) {}

Reader::Reader(ChunkSource source, ReaderOptions options)
    : options_(std::move(options)), source_(std::move(source)) {
  PL_ASSERT(source_ != nullptr, "a Reader needs something to read");
}

Result<const Record*> Reader::next() {
  if (broken_) return *broken_;
  Result<const Record*> record = read_record();
  if (!record) broken_ = record.error();
  return record;
}

Result<std::optional<std::string_view>> Reader::next_line() {
  if (broken_) return *broken_;
  Result<std::optional<std::string_view>> line = read_line();
  if (!line) broken_ = line.error();
  return line;
}

Result<const Record*> Reader::read_record() {
  PL_TRY(begin_input());
  while (true) {
    start_ = at_;
    if (!PL_TRY(available())) return nullptr;
    spans_.clear();
    problem_.reset();
    record_.line = line_;
    PL_TRY(scan_record());
    if (problem_) {
      Skipped bad = describe(*problem_);
      if (options_.bad_records == BadRecords::Fail) {
        return Error(ErrorKind::Parse, std::move(bad.why),
                     {options_.source, clamped(bad.line), bad.column});
      }
      skipped_.add(std::move(bad));
    } else if (!is_blank()) {
      publish();
      return &record_;
    }
  }
}

Result<std::optional<std::string_view>> Reader::read_line() {
  PL_TRY(begin_input());
  start_ = at_;
  record_.line = line_;
  while (true) {
    at_ = find_byte(window_, '\n', at_);
    if (at_ < window_.size() || !PL_TRY(available())) break;
  }
  std::string_view line = window_.substr(start_, at_ - start_);
  const bool ended = at_ < window_.size();
  if (ended) ++at_;
  if (at_ - start_ > options_.max_record_bytes) return too_long();
  if (!ended && line.empty()) return std::nullopt;
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Drops the byte order mark at the start of the first line.
Result<void> Reader::begin_input() {
  if (begun_) return {};
  begun_ = true;
  PL_TRY(available(kByteOrderMark.size() - 1));
  if (starts_like_utf16(window_)) {
    return Error(ErrorKind::Parse, "text is UTF-16 where UTF-8 is expected",
                 {options_.source, 1, 1});
  }
  if (window_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  return {};
}

Result<void> Reader::scan_record() {
  while (true) {
    pass_plain_cells();
    const bool quoted = PL_TRY(available()) && window_[at_] == '"';
    const CellEnd end = quoted ? PL_TRY(scan_quoted()) : PL_TRY(scan_unquoted());
    if (at_ - start_ > options_.max_record_bytes) return too_long();
    if (spans_.size() > options_.max_record_cells) {
      return Error(ErrorKind::Parse,
                   "record has more than " + std::to_string(options_.max_record_cells) + " cells",
                   {options_.source, clamped(record_.line), 0});
    }
    if (end == CellEnd::Record) return {};
  }
}

/// The common case in a tight loop: unquoted cells that end in a comma inside the window. Stops
/// short of the limits, which scan_record checks cell by cell.
void Reader::pass_plain_cells() {
  const std::size_t stop = std::min(window_.size(), start_ + options_.max_record_bytes);
  while (spans_.size() < options_.max_record_cells) {
    const std::size_t end = find_special(window_.substr(0, stop), at_);
    if (end >= stop || window_[end] != ',') return;
    spans_.push_back({at_ - start_, end - start_, false});
    at_ = end + 1;
  }
}

Result<Reader::CellEnd> Reader::scan_unquoted() {
  const std::size_t begin = at_ - start_;
  while (true) {
    at_ = find_special(window_, at_);
    const std::size_t end = at_ - start_;
    if (const std::optional<CellEnd> kind = PL_TRY(cell_end())) {
      spans_.push_back({begin, end, false});
      return *kind;
    }
    if (window_[at_] == '"') note(end, kQuoteInside);
    ++at_;  // that quote, a lone CR, or the first byte of a new chunk
  }
}

Result<Reader::CellEnd> Reader::scan_quoted() {
  const std::size_t open = at_ - start_;
  bool doubled_quotes = false;
  ++at_;
  while (true) {
    const std::size_t from = at_;
    at_ = find_byte(window_, '"', at_);
    const auto passed = window_.substr(from, at_ - from);
    line_ += static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
    if (at_ == window_.size()) {
      if (PL_TRY(available())) continue;
      note(open, kNeverClosed);
      return CellEnd::Record;
    }
    const bool doubled = PL_TRY(available(1)) && window_[at_ + 1] == '"';
    if (!doubled) break;
    doubled_quotes = true;
    at_ += 2;
  }
  spans_.push_back({open + 1, at_ - start_, doubled_quotes});
  ++at_;
  if (const std::optional<CellEnd> kind = PL_TRY(cell_end())) return *kind;
  note(at_ - start_, kTextAfterQuote);
  return scan_unquoted();
}

/// Steps over the end of a cell, if that comes next.
Result<std::optional<Reader::CellEnd>> Reader::cell_end() {
  if (!PL_TRY(available())) return CellEnd::Record;
  const char byte = window_[at_];
  if (byte == ',') {
    ++at_;
    return CellEnd::Comma;
  }
  if (byte == '\n') {
    ++at_;
    ++line_;
    return CellEnd::Record;
  }
  if (byte != '\r') return std::nullopt;
  // The input may end between CR and LF.
  const bool more = PL_TRY(available(1));
  if (more && window_[at_ + 1] != '\n') return std::nullopt;
  at_ += more ? 2 : 1;
  ++line_;
  return CellEnd::Record;
}

/// Whether there is a byte `ahead` of at_; asks the source if it is not in the window.
Result<bool> Reader::available(std::size_t ahead) {
  while (at_ + ahead >= window_.size()) {
    if (!PL_TRY(refill())) return false;
  }
  return true;
}

/// Extends the window by a chunk and drops what precedes the current record. Offsets from start_
/// remain valid, indices into window_ other than start_ and at_ do not.
Result<bool> Reader::refill() {
  if (!source_) return false;
  if (window_.size() - start_ > options_.max_record_bytes) return too_long();
  take_over_tail();
  const std::string_view chunk = PL_TRY(source_());
  if (chunk.empty()) {
    source_ = nullptr;
    return false;
  }
  if (window_.empty()) {
    window_ = chunk;
    window_is_buffer_ = false;
    return true;
  }
  buffer_.insert(buffer_.end(), chunk.begin(), chunk.end());
  window_ = {buffer_.data(), buffer_.size()};
  return true;
}

/// Copies the unfinished record, because its chunk is about to be freed.
void Reader::take_over_tail() {
  if (window_is_buffer_) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(start_));
  } else {
    const std::string_view tail = window_.substr(start_);
    buffer_.assign(tail.begin(), tail.end());
  }
  at_ -= start_;
  start_ = 0;
  window_ = {buffer_.data(), buffer_.size()};
  window_is_buffer_ = true;
}

void Reader::note(std::size_t offset, std::string_view what) {
  if (!problem_) problem_ = Problem{offset, what};
}

Skipped Reader::describe(const Problem& problem) const {
  const std::string_view before = window_.substr(start_, problem.offset);
  const auto line_ends = std::count(before.begin(), before.end(), '\n');
  return {record_.line + static_cast<std::uint64_t>(line_ends), character_column(before),
          std::string(problem.what)};
}

Error Reader::too_long() const {
  return Error(ErrorKind::Parse,
               "record is longer than " + std::to_string(options_.max_record_bytes) +
                   " bytes (is a quote never closed?)",
               {options_.source, clamped(record_.line), 0});
}

/// Whether the line was empty; `""` on a line of its own is a record of one empty cell.
bool Reader::is_blank() const {
  return spans_.size() == 1 && spans_[0].begin == 0 && spans_[0].end == 0;
}

void Reader::publish() {
  const std::string_view text = window_.substr(start_, at_ - start_);
  cells_.clear();
  unescaped_.clear();
  for (const Cell& cell : spans_) {
    const std::string_view raw = text.substr(cell.begin, cell.end - cell.begin);
    if (!cell.doubled_quotes) {
      cells_.push_back(raw);
      continue;
    }
    unescaped_.reserve(text.size());  // up front: the views into it must stay valid
    const std::size_t begin = unescaped_.size();
    for (std::size_t i = 0; i < raw.size(); ++i) {
      unescaped_.push_back(raw[i]);
      if (raw[i] == '"') ++i;
    }
    cells_.emplace_back(unescaped_.data() + begin, unescaped_.size() - begin);
  }
  record_.cells = cells_;
}

void append_record(std::string& out, std::span<const std::string_view> cells) {
  append_cells(out, cells);
}
void append_record(std::string& out, std::span<const std::string> cells) {
  append_cells(out, cells);
}
void append_record(std::string& out, std::initializer_list<std::string_view> cells) {
  append_cells(out, cells);
}

void append_export(std::string& out, std::span<const std::string> cells) {
  append_harmless(out, cells);
}
void append_export(std::string& out, std::initializer_list<std::string_view> cells) {
  append_harmless(out, cells);
}

std::string write(std::span<const std::vector<std::string>> records) {
  std::string out;
  for (const std::vector<std::string>& record : records) append_record(out, record);
  return out;
}

}  // namespace profline::csv
