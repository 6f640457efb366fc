#include "tools/ncu/internal/csv_columns.h"

#include <algorithm>

namespace profline::ncu::internal {
namespace {

using Place = Columns::Place;

/// A column that every version calls the same, or that begins alike where the rest of its name
/// lists its fields.
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
// Named, but of no use to us.
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

/// Names whose columns are metrics in the wide form: all that are not known otherwise.
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

}  // namespace profline::ncu::internal
