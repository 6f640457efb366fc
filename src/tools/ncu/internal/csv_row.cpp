#include "tools/ncu/internal/csv_row.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/figures.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "tools/ncu/nvtx.h"

namespace profline::ncu::internal {
namespace {

using Place = Columns::Place;

/// A column whose name is the same in every version, or has the same beginning followed by a list
/// of its fields.
struct KnownColumn {
  std::string_view name;
  Place Columns::*place;
};

constexpr KnownColumn kExact[] = {
    {"ID", &Columns::id},
    {"Process ID", &Columns::process},
    {"Process Name", &Columns::process_name},
    {"Context", &Columns::context},
    {"Stream", &Columns::stream},
    {"Block Size", &Columns::block},
    {"Grid Size", &Columns::grid},
    {"Device", &Columns::device},
    {"CC", &Columns::capability},
    {"Invocations", &Columns::invocations},
    {"Domain", &Columns::range_domain},
    {"Section Name", &Columns::section},
    {"Metric Name", &Columns::metric_name},
    {"Metric Unit", &Columns::metric_unit},
    {"Metric Value", &Columns::metric_value},
    {"Rule Name", &Columns::rule},
    {"Rule Type", &Columns::rule_kind},
    {"Rule Description", &Columns::rule_text},
    {"NVTX Range Name", &Columns::range_name},
    {"Range Name", &Columns::range_name},
    {"NVTX Range", &Columns::range_name},
};
constexpr KnownColumn kPrefixed[] = {
    {"thread Domain:Push/Pop_Range", &Columns::push_pop},
    {"Id:Domain:Start/Stop_Range", &Columns::start_end},
    {"Range:PL_Type", &Columns::range_name},
};
// Known, but of no use to us.
constexpr std::string_view kIgnored[] = {"Host Name",       "Kernel Time",
                                         "Body Item Label", "Minimum",
                                         "Maximum",         "Estimated Speedup Type",
                                         "API Call ID",     "Estimated Speedup"};

constexpr KnownColumn kLaunchMetrics[] = {
    {"device__attribute_display_name", &Columns::device_name},
    {"device__attribute_compute_capability_major", &Columns::capability_major},
    {"device__attribute_compute_capability_minor", &Columns::capability_minor},
};

const KnownColumn* known(std::string_view name) {
  for (const KnownColumn& column : kExact) {
    if (column.name == name) return &column;
  }
  for (const KnownColumn& column : kPrefixed) {
    if (name.starts_with(column.name)) return &column;
  }
  return nullptr;
}

bool is_ignored(std::string_view name) {
  return std::find(std::begin(kIgnored), std::end(kIgnored), name) != std::end(kIgnored);
}

void place_launch_metric(Columns& columns, std::string_view name, std::size_t column) {
  for (const KnownColumn& metric : kLaunchMetrics) {
    if (metric.name == name) columns.*metric.place = column;
  }
  if (name == "launch__registers_per_thread") columns.registers.column = column;
  if (name == "launch__shared_mem_per_block_static") columns.static_shared.column = column;
  if (name == "launch__shared_mem_per_block_dynamic") columns.dynamic_shared.column = column;
  constexpr std::string_view kGrid = "launch__grid_dim_";
  constexpr std::string_view kBlock = "launch__block_dim_";
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const char letter = "xyz"[axis];
    if (name.size() == kGrid.size() + 1 && name.starts_with(kGrid) && name.back() == letter) {
      columns.grid_dim[axis].column = column;
    }
    if (name.size() == kBlock.size() + 1 && name.starts_with(kBlock) && name.back() == letter) {
      columns.block_dim[axis].column = column;
    }
  }
}

/// Assigns the columns by name; in the wide form, all unknown names are metrics.
std::vector<std::size_t> place_all(Columns& columns, std::span<const std::string_view> header,
                                   Place& kernel, Place& average) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string_view name = header[i];
    if (name == "Kernel Name") {
      if (!kernel) kernel = i;
    } else if (name == "Average") {
      average = i;
    } else if (const KnownColumn* column = known(name)) {
      if (!(columns.*column->place)) columns.*column->place = i;
    } else if (!is_ignored(name) && !name.empty()) {
      others.push_back(i);
    }
  }
  return others;
}

using Cells = std::span<const std::string_view>;

/// What ncu prints instead of a number.
bool is_absent(std::string_view text) {
  constexpr std::string_view kAbsent[] = {"",        "n/a",  "N/A",      "nan",       "-nan",
                                          "NaN",     "inf",  "-inf",     "Inf",       "-",
                                          "no data", "+inf", "nan(ind)", "-nan(ind)", "infinity"};
  return std::find(std::begin(kAbsent), std::end(kAbsent), text) != std::end(kAbsent);
}

/// Without ncu's mark for doubtful values and without the list of a metric's instances: `5,460 (1:
/// 8; 16: 8)` is 5,460.
std::string_view aggregate(std::string_view text) {
  text = trim(text);
  constexpr std::string_view kDoubtful = "(!)";
  if (text.starts_with(kDoubtful)) text = trim(text.substr(kDoubtful.size()));
  if (!text.ends_with(')')) return text;
  if (text.starts_with('(')) return {};  // instances without a total
  const std::size_t open = text.find(" (");
  if (open == std::string_view::npos || text.empty() || text[0] < '-' || text[0] > '9') return text;
  return text.substr(0, open);
}

template <typename Number>
std::optional<Number> whole(std::string_view text) {
  Number value{};
  text = trim(text);
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

/// `(384, 1, 1)`; zeros for anything else.
std::array<std::uint32_t, 3> dimensions(std::string_view text) {
  std::array<std::uint32_t, 3> size{};
  if (!text.starts_with('(') || !text.ends_with(')')) return size;
  const auto parts = split(text.substr(1, text.size() - 2), ',');
  if (parts.size() != size.size()) return size;
  for (std::size_t axis = 0; axis < size.size(); ++axis) {
    const auto value = whole<std::uint32_t>(parts[axis]);
    if (!value) return {};
    size[axis] = *value;
  }
  return size;
}

/// `dram__bytes.sum` for `DRAM Bytes (dram__bytes.sum)`; else the text itself.
std::string_view metric_name(std::string_view text) {
  if (!text.ends_with(')')) return text;
  const std::size_t open = text.rfind(" (");
  if (open == std::string_view::npos) return text;
  const std::string_view inner = text.substr(open + 2, text.size() - open - 3);
  return inner.find("__") == std::string_view::npos ? text : inner;
}

std::uint32_t as_uint32(double value) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  return value >= 0 && value <= kMost ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

std::size_t Columns::fewest_cells() const {
  if (form == Form::Wide) return size;
  std::size_t last = kernel;
  for (const Place& place : {metric_name, metric_value}) last = std::max(last, place.value_or(0));
  return last + 1;
}

std::optional<Columns> columns_of(std::span<const std::string_view> header, Names& names,
                                  const std::function<bool(std::string_view)>& keep) {
  Columns columns;
  columns.size = header.size();
  Place kernel;
  Place average;
  const std::vector<std::size_t> others = place_all(columns, header, kernel, average);
  if (!kernel) return std::nullopt;
  columns.kernel = *kernel;
  if (columns.metric_name && columns.metric_value) {
    columns.form = Form::Long;
    return columns;
  }
  if (columns.metric_name && average) {
    columns.form = Form::Summary;
    columns.metric_value = average;
    return columns;
  }
  // A program's own table may have a column of this name: ncu's also has an id, and metrics.
  if (!columns.id || columns.metric_name || others.empty()) return std::nullopt;
  for (const std::size_t column : others) {
    const std::string_view name = header[column];
    columns.metrics.push_back({column, names.id_of(name), 0, 1, !keep || keep(name)});
    place_launch_metric(columns, name, column);
  }
  return columns;
}

void RowReader::begin(Columns columns) {
  columns_ = std::move(columns);
  kernels_.clear();
}

std::string_view RowReader::cell(Cells cells, const Columns::Place& place) const {
  if (!place || *place >= cells.size()) return {};
  return cells[*place];
}

Names::Id RowReader::base_unit(std::string_view unit, double& factor) {
  factor = 1;
  const auto scale = unit_scale(trim(unit));
  if (!scale) {
    ++unknown_units_[std::string(unit)];
    return report_.names.id_of(unit);
  }
  factor = scale->factor;
  return report_.names.id_of(scale->base);
}

bool RowReader::is_units_row(Cells cells) const {
  if (columns_.form != Form::Wide) return false;
  return trim(cell(cells, columns_.id)).empty() && trim(cells[columns_.kernel]).empty();
}

void RowReader::take_units(Cells cells) {
  for (Columns::Metric& metric : columns_.metrics) {
    if (!metric.is_kept) continue;
    metric.unit = base_unit(cells[metric.column], metric.factor);
  }
  // Large sizes of shared memory are printed in Kbyte.
  for (Columns::LaunchMetric* metric : {&columns_.static_shared, &columns_.dynamic_shared}) {
    const auto scale = unit_scale(trim(cell(cells, metric->column)));
    metric->factor = scale ? scale->factor : 1;
  }
}

void RowReader::add_value(ProfiledKernel& kernel, Counter counter, double factor,
                          std::string_view text, NumberStyle style) {
  const std::string_view value = aggregate(text);
  if (const auto number = parse_number(value, style)) {
    ++report_.cells.numbers;
    counter.value = *number * factor;
    kernel.counters.push_back(counter);
    return;
  }
  if (is_absent(value)) {
    ++report_.cells.absent;
    return;
  }
  ++report_.cells.texts;
  kernel.texts.push_back({counter.name, counter.section, report_.names.id_of(value)});
}

void RowReader::add_ranges(Cells cells, ProfiledKernel& kernel) {
  const auto add = [&](std::string_view text, RangeKind kind) {
    for (const NvtxRange& range : parse_nvtx_state(text)) {
      kernel.ranges.push_back(
          {report_.names.id_of(range.domain), report_.names.id_of(range.name), kind});
    }
  };
  add(cell(cells, columns_.start_end), RangeKind::StartEnd);
  add(cell(cells, columns_.push_pop), RangeKind::PushPop);
  if (const std::string_view name = trim(cell(cells, columns_.range_name)); !name.empty()) {
    std::string_view domain = trim(cell(cells, columns_.range_domain));
    if (domain == "<default domain>") domain = {};
    const std::string entry = '"' + std::string(domain) + ':' + std::string(name) + '"';
    const std::vector<NvtxRange> parsed = parse_nvtx_state(entry);
    const std::string& label = parsed.empty() ? std::string(name) : parsed.front().name;
    kernel.ranges.push_back({report_.names.id_of(domain),
                             report_.names.id_of(label == entry ? name : label),
                             RangeKind::PushPop});
  }
}

ProfiledKernel RowReader::describe_kernel(Cells cells) {
  ProfiledKernel kernel;
  kernel.id = whole<std::uint64_t>(cell(cells, columns_.id));
  kernel.process = whole<std::int64_t>(cell(cells, columns_.process)).value_or(0);
  kernel.process_name = report_.names.id_of(trim(cell(cells, columns_.process_name)));
  const std::string_view name = cells[columns_.kernel];
  kernel.name = report_.names.id_of(name);
  kernel.is_range = name == "range";
  kernel.shape.grid = dimensions(cell(cells, columns_.grid));
  kernel.shape.block = dimensions(cell(cells, columns_.block));
  kernel.device = whole<std::int32_t>(cell(cells, columns_.device)).value_or(0);
  kernel.compute_capability = report_.names.id_of(trim(cell(cells, columns_.capability)));
  kernel.context = whole<std::int64_t>(cell(cells, columns_.context));
  kernel.stream = whole<std::int64_t>(cell(cells, columns_.stream));
  kernel.launches = whole<std::uint64_t>(cell(cells, columns_.invocations)).value_or(1);
  add_ranges(cells, kernel);
  if (kernel.is_range && !kernel.ranges.empty()) kernel.name = kernel.ranges.back().name;
  return kernel;
}

/// Values that older versions have only as metrics.
void RowReader::describe_launch(Cells cells, ProfiledKernel& kernel, NumberStyle style) {
  const auto number = [&](const Columns::LaunchMetric& metric) {
    const auto value = parse_number(aggregate(cell(cells, metric.column)), style);
    return as_uint32(value.value_or(0) * metric.factor);
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!columns_.grid) kernel.shape.grid[axis] = number(columns_.grid_dim[axis]);
    if (!columns_.block) kernel.shape.block[axis] = number(columns_.block_dim[axis]);
  }
  kernel.shape.registers_per_thread = number(columns_.registers);
  kernel.shape.static_shared_bytes = number(columns_.static_shared);
  kernel.shape.dynamic_shared_bytes = number(columns_.dynamic_shared);
  kernel.device_name = report_.names.id_of(trim(cell(cells, columns_.device_name)));
  if (!columns_.capability && columns_.capability_major && columns_.capability_minor) {
    kernel.compute_capability =
        report_.names.id_of(std::string(cell(cells, columns_.capability_major)) + '.' +
                            std::string(cell(cells, columns_.capability_minor)));
  }
}

void RowReader::take(Cells cells, std::uint64_t line, NumberStyle style) {
  if (columns_.form != Form::Wide) {
    take_long(cells, line, style);
    return;
  }
  ProfiledKernel kernel = describe_kernel(cells);
  describe_launch(cells, kernel, style);
  kernel.counters.reserve(columns_.metrics.size());
  for (const Columns::Metric& metric : columns_.metrics) {
    if (!metric.is_kept) {
      ++report_.cells.left_out;
      continue;
    }
    add_value(kernel, {metric.name, 0, metric.unit, 0}, metric.factor, cells[metric.column], style);
  }
  kernel.counters.shrink_to_fit();
  report_.kernels.push_back(std::move(kernel));
  ++report_.reading.used;
}

ProfiledKernel& RowReader::kernel_of_row(Cells cells) {
  key_.clear();
  for (const Columns::Place& place :
       {columns_.process, columns_.id, Columns::Place(columns_.kernel), columns_.grid,
        columns_.block, columns_.device, columns_.range_domain, columns_.range_name}) {
    key_ += cell(cells, place);
    key_ += '\0';
  }
  const auto [found, is_new] = kernels_.try_emplace(key_, report_.kernels.size());
  if (is_new) report_.kernels.push_back(describe_kernel(cells));
  return report_.kernels[found->second];
}

void RowReader::take_long(Cells cells, std::uint64_t line, NumberStyle style) {
  const std::string_view name = metric_name(trim(cell(cells, columns_.metric_name)));
  const std::string_view rule = trim(cell(cells, columns_.rule));
  if (name.empty() && rule.empty()) {
    report_.reading.skip("neither a metric nor a rule", "line " + std::to_string(line));
    return;
  }
  ++report_.reading.used;
  ProfiledKernel& kernel = kernel_of_row(cells);
  const Names::Id section = report_.names.id_of(trim(cell(cells, columns_.section)));
  if (!rule.empty()) {
    kernel.advice.push_back({section, report_.names.id_of(rule),
                             report_.names.id_of(trim(cell(cells, columns_.rule_kind))),
                             report_.names.id_of(trim(cell(cells, columns_.rule_text)))});
  }
  if (name.empty()) return;
  if (options_.keep && !options_.keep(name)) {
    ++report_.cells.left_out;
    return;
  }
  double factor = 1;
  const Names::Id unit = base_unit(cell(cells, columns_.metric_unit), factor);
  const std::string_view value = cell(cells, columns_.metric_value);
  if (name == "device__attribute_display_name") {
    kernel.device_name = report_.names.id_of(aggregate(value));
  }
  add_value(kernel, {report_.names.id_of(name), section, unit, 0}, factor, value, style);
}

void RowReader::finish() {
  std::vector<std::string> notes;
  for (const auto& [unit, count] : unknown_units_) {
    notes.push_back("unit '" + printable(unit) + "' is not known: " + counted(count, "counter") +
                    " kept as written");
  }
  std::sort(notes.begin(), notes.end());
  for (std::string& note : notes) report_.reading.notes.push_back(std::move(note));
  unknown_units_.clear();
}

}  // namespace profline::ncu::internal
