#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/figures.h"
#include "base/strings.h"
#include "formats/csv.h"

namespace profline::csv {
namespace {

constexpr std::size_t kShown = 40;  // bytes of a wrong cell that a message quotes

Error not_a(std::string_view what, std::string_view text) {
  std::string shown(text.substr(0, kShown));
  if (text.size() > kShown) shown += "...";
  return Error(ErrorKind::Parse, "'" + shown + "' is not " + std::string(what));
}

/// Without its grouping commas; nothing when one is misplaced. The integer part must be one to
/// three digits, then groups of exactly three: 12,345,678.9
std::optional<std::string> ungrouped(std::string_view text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const auto* const integer_end = std::find_if(text.begin() + first, text.end(),
                                               [](char c) { return c != ',' && !is_digit(c); });
  const std::string_view integer =
      text.substr(first, static_cast<std::size_t>(integer_end - text.begin()) - first);
  const std::string_view rest = text.substr(first + integer.size());
  if (rest.find(',') != std::string_view::npos) return std::nullopt;

  std::string digits(text.substr(0, first));
  const std::size_t leading = integer.find(',');
  if (leading == 0 || leading > 3) return std::nullopt;
  for (std::size_t i = 0; i < integer.size(); ++i) {
    const bool comma_due = i >= leading && (i - leading) % 4 == 0;
    if (comma_due != (integer[i] == ',')) return std::nullopt;
    if (!comma_due) digits += integer[i];
  }
  if ((integer.size() - leading) % 4 != 0) return std::nullopt;
  digits += rest;
  return digits;
}

template <typename Number>
Result<Number> parse(std::string_view text, Thousands thousands, std::string_view what) {
  std::string_view plain = text;
  std::optional<std::string> without_commas;
  if (thousands == Thousands::Commas && text.find(',') != std::string_view::npos) {
    without_commas = ungrouped(text);
    if (!without_commas) return not_a(what, text);
    plain = *without_commas;
  }
  Number number{};
  const char* const last = plain.data() + plain.size();
  const auto [end, status] = std::from_chars(plain.data(), last, number);
  if (status == std::errc::invalid_argument || end != last) return not_a(what, text);
  if (status != std::errc()) return not_a(std::string(what) + " in range", text);
  return number;
}

constexpr std::size_t kSuggestions = 3;

std::string in_quotes(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += "'" + name + "'";
  }
  return text;
}

std::vector<std::string> owned(std::span<const std::string_view> cells) {
  return {cells.begin(), cells.end()};
}

Position header_position(const Reader& reader, std::uint64_t line) {
  return {reader.source(), static_cast<std::uint32_t>(line), 0};
}

/// The indices of all required columns, or every problem with them.
Result<std::vector<std::size_t>> find_all(const Header& header,
                                          std::span<const std::string> required) {
  std::vector<std::size_t> columns;
  std::vector<Error> problems;
  for (const std::string& name : required) {
    Result<std::size_t> column = header.require(name);
    if (column) {
      columns.push_back(*column);
    } else {
      problems.push_back(std::move(column).error());
    }
  }
  if (!problems.empty()) return Error::all(problems);
  return columns;
}

/// Searches for the header line by line, not record by record: a quote in a message before it must
/// not swallow it.
class HeaderSearch {
 public:
  HeaderSearch(Reader& reader, const TableOptions& options) : reader_(reader), options_(options) {}

  Result<Header> run() {
    while (true) {
      const std::uint64_t number = reader_.line();
      const std::optional<std::string_view> line = PL_TRY(reader_.next_line());
      if (!line) return not_found();
      ++lines_;
      if (std::optional<Header> header = candidate(*line, number)) return *std::move(header);
      if (preamble_.size() < TableReader::kKeptPreamble) preamble_.emplace_back(*line);
    }
  }
  std::vector<std::string> take_preamble() { return std::move(preamble_); }

 private:
  /// This line as a header, if it has all the columns. Remembers the line that had the most.
  std::optional<Header> candidate(std::string_view line, std::uint64_t number) {
    Reader alone(line, {.bad_records = BadRecords::Fail});
    const Result<const Record*> record = alone.next();
    if (!record || *record == nullptr) return std::nullopt;
    Header header(owned((*record)->cells), header_position(reader_, number));
    const auto present = static_cast<std::size_t>(
        std::count_if(options_.required.begin(), options_.required.end(),
                      [&](const std::string& name) { return header.find(name).has_value(); }));
    if (present == options_.required.size()) return header;
    if (present > most_present_) {
      most_present_ = present;
      closest_ = std::move(header);
    }
    return std::nullopt;
  }

  Error not_found() const {
    if (closest_) return find_all(*closest_, options_.required).error();
    return Error(
        ErrorKind::Parse,
        "no header with " + in_quotes(options_.required) + " in " + counted(lines_, "line"),
        {reader_.source(), 0, 0});
  }

  Reader& reader_;
  const TableOptions& options_;
  std::vector<std::string> preamble_;
  std::uint64_t lines_ = 0;
  std::size_t most_present_ = 0;
  std::optional<Header> closest_;
};

Result<Header> first_record(Reader& reader) {
  const Record* record = PL_TRY(reader.next());
  if (record == nullptr) {
    return Error(ErrorKind::Parse, "no header: the input has no records", {reader.source(), 0, 0});
  }
  return Header(owned(record->cells), header_position(reader, record->line));
}

}  // namespace

Result<std::int64_t> parse_integer(std::string_view text, Thousands thousands) {
  return parse<std::int64_t>(text, thousands, "an integer");
}

Result<double> parse_number(std::string_view text, Thousands thousands) {
  const double number = PL_TRY(parse<double>(text, thousands, "a number"));
  if (!std::isfinite(number)) return not_a("a finite number", text);
  return number;
}

Result<double> parse_percent(std::string_view text, Thousands thousands) {
  if (!text.ends_with('%')) return not_a("a percentage", text);
  std::string_view number = text.substr(0, text.size() - 1);
  if (number.ends_with(' ')) number.remove_suffix(1);
  const Result<double> value = parse_number(number, thousands);
  if (!value) return not_a("a percentage", text);
  return *value;
}

Header::Header(std::vector<std::string> names, Position position)
    : names_(std::move(names)), position_(std::move(position)) {
  for (std::size_t column = 0; column < names_.size(); ++column) {
    first_.try_emplace(names_[column], column);
  }
}

std::optional<std::size_t> Header::find(std::string_view name) const {
  const auto found = first_.find(std::string(name));
  if (found == first_.end()) return std::nullopt;
  return found->second;
}

Result<std::size_t> Header::require(std::string_view name) const {
  const std::optional<std::size_t> column = find(name);
  if (!column) {
    const std::vector<std::string> close = nearest(name, names_, kSuggestions);
    return Error(ErrorKind::Parse,
                 "no column '" + std::string(name) + "'" +
                     (close.empty() ? "" : " (nearest: " + in_quotes(close) + ")"),
                 position_);
  }
  if (std::find(names_.begin() + static_cast<std::ptrdiff_t>(*column) + 1, names_.end(), name) !=
      names_.end()) {
    return Error(ErrorKind::Parse, "column '" + std::string(name) + "' occurs twice", position_);
  }
  return *column;
}

Result<TableReader> TableReader::open(Reader reader, const TableOptions& options) {
  PL_ASSERT(!options.preamble || !options.required.empty(),
            "a header after a preamble is recognised by its columns");
  HeaderSearch search(reader, options);
  Header header = options.preamble ? PL_TRY(search.run()) : PL_TRY(first_record(reader));
  const std::vector<std::size_t> columns = PL_TRY(find_all(header, options.required));
  const std::size_t size = header.size();
  TableReader table(std::move(reader), std::move(header), search.take_preamble());
  table.fewest_cells_ = size;
  if (options.short_rows == ShortRows::Pad) {
    const auto last = std::max_element(columns.begin(), columns.end());
    table.fewest_cells_ = last == columns.end() ? 1 : *last + 1;
  }
  return table;
}

Result<const Record*> TableReader::next() {
  while (const Record* record = PL_TRY(reader_.next())) {
    row_ = *record;
    const std::size_t size = row_.cells.size();
    if (size == header_.size()) return &row_;
    if (size > header_.size() || size < fewest_cells_) {
      skip(counted(size, "cell") + " where the header has " + std::to_string(header_.size()));
      continue;
    }
    padded_.assign(row_.cells.begin(), row_.cells.end());
    padded_.resize(header_.size());
    row_.cells = padded_;
    return &row_;
  }
  return nullptr;
}

void TableReader::skip(std::string why) {
  reader_.skip({row_.line, 0, std::move(why)});
}

}  // namespace profline::csv
