#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "records/counters.h"
#include "tools/ncu/csv_reader.h"
#include "tools/ncu/internal/csv_numbers.h"

namespace profline::ncu::internal {

/// The kind of ncu table.
enum class Form {
  Wide,     ///< `--page raw`: one row per launch, one column per metric
  Long,     ///< `--page details`: one row per metric of a launch
  Summary,  ///< `--print-summary`: one row per metric over launches
};

/// The columns of a row, found by the names in the header: releases of ncu move them.
struct Columns {
  using Place = std::optional<std::size_t>;
  struct Metric {
    std::size_t column = 0;
    Names::Id name = 0;
    Names::Id unit = 0;
    double factor = 1;
    bool is_kept = true;
  };

  struct LaunchMetric {
    Place column;
    double factor = 1;
  };

  Form form = Form::Wide;
  std::size_t size = 0;  ///< cells of the header
  std::size_t kernel = 0;
  Place id, process, process_name, context, stream, block, grid, device, capability, invocations;
  Place push_pop, start_end;       ///< NVTX, one cell with all open ranges
  Place range_domain, range_name;  ///< NVTX in summaries
  Place section, metric_name, metric_unit, metric_value, rule, rule_kind, rule_text;
  std::vector<Metric> metrics;  ///< of the wide form, by column
  /// Metrics of the wide form that also describe the launch and the device.
  Place device_name, capability_major, capability_minor;
  LaunchMetric grid_dim[3], block_dim[3], registers, static_shared, dynamic_shared;

  /// The fewest cells a row may have.
  std::size_t fewest_cells() const;
};

/// The columns of a header; nothing if this is not a header of an ncu table.
std::optional<Columns> columns_of(std::span<const std::string_view> header, Names& names,
                                  const std::function<bool(std::string_view)>& keep);

/// Turns the rows of one table, whose columns and number style are known, into kernels of a report.
class RowReader {
 public:
  RowReader(CounterReport& report, const ReadOptions& options)
      : report_(report), options_(options) {}

  /// Begins a table. The previous one is finished: ids may start again.
  void begin(Columns columns);
  const Columns& columns() const { return columns_; }

  /// Takes the row of units of the wide form; later numbers are scaled with it.
  void take_units(std::span<const std::string_view> cells);
  bool is_units_row(std::span<const std::string_view> cells) const;

  void take(std::span<const std::string_view> cells, std::uint64_t line, NumberStyle style);

  /// Adds notes about problems.
  void finish();

 private:
  std::string_view cell(std::span<const std::string_view> cells, const Columns::Place& place) const;
  ProfiledKernel describe_kernel(std::span<const std::string_view> cells);
  void describe_launch(std::span<const std::string_view> cells, ProfiledKernel& kernel,
                       NumberStyle style);
  ProfiledKernel& kernel_of_row(std::span<const std::string_view> cells);
  void add_ranges(std::span<const std::string_view> cells, ProfiledKernel& kernel);
  void add_value(ProfiledKernel& kernel, Counter counter, double factor, std::string_view text,
                 NumberStyle style);
  void take_long(std::span<const std::string_view> cells, std::uint64_t line, NumberStyle style);
  Names::Id base_unit(std::string_view unit, double& factor);

  CounterReport& report_;
  const ReadOptions& options_;
  Columns columns_;
  std::unordered_map<std::string, std::size_t> kernels_;  // of the long forms, by identity
  std::string key_;
  std::unordered_map<std::string, std::uint64_t> unknown_units_;  // with counts of counters
};

}  // namespace profline::ncu::internal
