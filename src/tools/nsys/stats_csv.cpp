#include "tools/nsys/stats_csv.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/strings.h"
#include "formats/csv.h"

namespace profline::nsys {
namespace {

enum class Meaning { Percent, Total, Instances, Mean, Median, Min, Max, StdDev, Grid, Block, Name };

struct Spelling {
  std::string_view text;  // in lower case, without blanks, unit and quotes
  Meaning meaning;
};
// 2020: Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,Name
// 2022: Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
constexpr std::array kSpellings = {
    Spelling{"totaltime", Meaning::Total},
    Spelling{"instances", Meaning::Instances},
    Spelling{"invocations", Meaning::Instances},
    Spelling{"calls", Meaning::Instances},
    Spelling{"count", Meaning::Instances},
    Spelling{"avg", Meaning::Mean},
    Spelling{"average", Meaning::Mean},
    Spelling{"mean", Meaning::Mean},
    Spelling{"med", Meaning::Median},
    Spelling{"median", Meaning::Median},
    Spelling{"min", Meaning::Min},
    Spelling{"minimum", Meaning::Min},
    Spelling{"max", Meaning::Max},
    Spelling{"maximum", Meaning::Max},
    Spelling{"stddev", Meaning::StdDev},
    Spelling{"gridxyz", Meaning::Grid},
    Spelling{"blockxyz", Meaning::Block},
    Spelling{"name", Meaning::Name},
    Spelling{"kernelname", Meaning::Name},
};

struct Unit {
  std::string_view text;
  double ns;
};
constexpr std::array kUnits = {
    Unit{"ns", 1},   Unit{"nsec", 1},   Unit{"nanoseconds", 1},
    Unit{"us", 1e3}, Unit{"usec", 1e3}, Unit{"microseconds", 1e3},
    Unit{"ms", 1e6}, Unit{"msec", 1e6}, Unit{"milliseconds", 1e6},
    Unit{"s", 1e9},  Unit{"sec", 1e9},  Unit{"seconds", 1e9},
};

struct Column {
  std::size_t index = 0;
  double unit_ns = 1;
};
using Columns = std::map<Meaning, Column>;

std::string compact(std::string_view text) {
  std::string kept;
  for (const char letter : text) {
    if (letter == ' ' || letter == '\t') continue;
    kept += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return kept;
}

/// The meaning and the unit of a column with this header: `Total Time (us)`.
std::optional<std::pair<Meaning, double>> meaning_of(std::string_view header) {
  const std::string text = compact(header);
  if (text == "time(%)" || text == "time%") return std::pair(Meaning::Percent, 1.0);
  const std::size_t open = text.find('(');
  const std::string_view base = std::string_view(text).substr(0, open);
  double unit_ns = 1;
  if (open != std::string::npos && text.ends_with(')')) {
    const std::string_view unit = std::string_view(text).substr(open + 1, text.size() - open - 2);
    const auto known = std::ranges::find(kUnits, unit, &Unit::text);
    if (known == kUnits.end()) return std::nullopt;
    unit_ns = known->ns;
  }
  const auto known = std::ranges::find(kSpellings, base, &Spelling::text);
  if (known == kSpellings.end()) return std::nullopt;
  return std::pair(known->meaning, unit_ns);
}

template <typename Names>
Columns columns_of(const Names& names) {
  Columns columns;
  for (std::size_t index = 0; index < std::size(names); ++index) {
    if (const auto found = meaning_of(names[index])) {
      columns.try_emplace(found->first, Column{index, found->second});
    }
  }
  return columns;
}

bool is_kernel_summary(const Columns& columns) {
  return columns.count(Meaning::Name) > 0 && columns.count(Meaning::Instances) > 0 &&
         (columns.count(Meaning::Total) > 0 || columns.count(Meaning::Percent) > 0);
}

/// Progress bars end in a carriage return, and the header may follow on the same line.
std::string with_lines(std::string_view text) {
  std::string lines(text);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const bool alone = lines[at] == '\r' && (at + 1 == lines.size() || lines[at + 1] != '\n');
    if (alone) lines[at] = '\n';
  }
  return lines;
}

/// The names in the header: the first line that has the columns of a kernel summary.
Result<std::vector<std::string>> find_header(std::string_view text, const std::string& source) {
  for (const std::string_view line : lines(text)) {
    csv::Reader reader(line);
    const Result<const csv::Record*> record = reader.next();
    if (!record || *record == nullptr) continue;
    const std::span<const std::string_view> cells = (*record)->cells;
    if (is_kernel_summary(columns_of(cells))) {
      return std::vector<std::string>(cells.begin(), cells.end());
    }
  }
  return Error(
      ErrorKind::Parse,
      "no header of a kernel summary; expected columns like 'Time (%)', 'Total Time (ns)', "
      "'Instances' and 'Name', as 'nsys stats --report cuda_gpu_kern_sum --format csv' "
      "prints them",
      {source, 0, 0});
}

/// Three numbers separated by blanks, as in `  40    1    1`.
std::optional<std::array<std::uint32_t, 3>> dimensions(std::string_view text) {
  std::array<std::uint32_t, 3> dims{};
  std::size_t count = 0;
  for (const std::string_view part : split(text, ' ')) {
    if (part.empty()) continue;
    const auto number = csv::parse_integer(part);
    if (!number || *number < 0 || *number > UINT32_MAX || count == 3) return std::nullopt;
    dims[count++] = static_cast<std::uint32_t>(*number);
  }
  if (count != 3) return std::nullopt;
  return dims;
}

class SummaryReader {
 public:
  explicit SummaryReader(Columns columns) : columns_(std::move(columns)) {}

  Result<KernelSummaryRow> row(const csv::Record& record) const {
    KernelSummaryRow row;
    row.name = trim(cell(record, Meaning::Name));
    if (row.name.empty()) return Error(ErrorKind::Parse, "no kernel name");
    const auto instances =
        csv::parse_integer(trim(cell(record, Meaning::Instances)), csv::Thousands::Commas);
    if (!instances || *instances < 0)
      return not_a(record, "a number of instances", Meaning::Instances);
    row.instances = static_cast<std::uint64_t>(*instances);
    row.total_ns = total(record);
    row.time_percent = percent(record);
    if (!row.total_ns && !row.time_percent) return not_a(record, "a total time", Meaning::Total);
    row.mean_ns = time(record, Meaning::Mean);
    row.median_ns = time(record, Meaning::Median);
    row.min_ns = time(record, Meaning::Min);
    row.max_ns = time(record, Meaning::Max);
    row.stddev_ns = time(record, Meaning::StdDev);
    row.grid = dimensions(cell(record, Meaning::Grid));
    row.block = dimensions(cell(record, Meaning::Block));
    return row;
  }

  /// The header of a table that follows this one.
  bool is_header(const csv::Record& record) const { return compact(record.cells[0]) == "time(%)"; }

 private:
  std::string_view cell(const csv::Record& record, Meaning meaning) const {
    const auto column = columns_.find(meaning);
    return column == columns_.end() ? std::string_view() : record.cells[column->second.index];
  }
  Error not_a(const csv::Record& record, const std::string& what, Meaning meaning) const {
    return Error(ErrorKind::Parse, "'" + std::string(cell(record, meaning)) + "' is not " + what);
  }
  std::optional<double> time(const csv::Record& record, Meaning meaning) const {
    const auto number = csv::parse_number(trim(cell(record, meaning)), csv::Thousands::Commas);
    if (!number) return std::nullopt;
    return *number * columns_.at(meaning).unit_ns;
  }
  std::optional<std::int64_t> total(const csv::Record& record) const {
    const std::string_view text = trim(cell(record, Meaning::Total));
    const auto whole = csv::parse_integer(text, csv::Thousands::Commas);
    if (whole && columns_.at(Meaning::Total).unit_ns == 1) {
      return *whole < 0 ? std::nullopt : std::optional(*whole);
    }
    const auto number = time(record, Meaning::Total);
    constexpr double kMost = 9e18;
    if (!number || *number < 0 || *number > kMost) return std::nullopt;
    return std::llround(*number);
  }
  std::optional<double> percent(const csv::Record& record) const {
    const std::string_view text = trim(cell(record, Meaning::Percent));
    auto number = csv::parse_number(text, csv::Thousands::Commas);
    if (!number) number = csv::parse_percent(text, csv::Thousands::Commas);
    if (!number || *number < 0) return std::nullopt;
    return *number;
  }

  Columns columns_;
};

void add_skipped(const csv::SkipList& skipped, Reading& reading) {
  std::uint64_t described = 0;
  for (const csv::Skipped& one : skipped.first()) {
    reading.skip(one.why, "line " + std::to_string(one.line));
    ++described;
  }
  if (skipped.count() > described) {
    reading.skip("not a row of the table", "after those above", skipped.count() - described);
  }
}

}  // namespace

Result<KernelSummary> read_kernel_summary(std::string_view text, const std::string& source) {
  const std::string lines = with_lines(text);
  const std::vector<std::string> header = PL_TRY(find_header(lines, source));
  csv::TableReader table = PL_TRY(csv::TableReader::open(csv::Reader(lines, {.source = source}),
                                                         {.required = header, .preamble = true}));
  const SummaryReader reader(columns_of(header));
  KernelSummary summary;
  bool ended = false;
  while (const csv::Record* record = PL_TRY(table.next())) {
    ended = ended || reader.is_header(*record);
    if (ended) {
      table.skip("belongs to another table");
      continue;
    }
    Result<KernelSummaryRow> row = reader.row(*record);
    if (!row) {
      table.skip(row.error().message());
      continue;
    }
    summary.rows.push_back(std::move(row).value());
    ++summary.reading.used;
  }
  add_skipped(table.skipped(), summary.reading);
  return summary;
}

}  // namespace profline::nsys
