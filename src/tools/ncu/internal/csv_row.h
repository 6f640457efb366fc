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

/// Which of ncu's tables this is.
enum class Form {
  Wide,     ///< `--page raw`: a row a launch, a column a metric
  Long,     ///< `--page details`: a row a metric of a launch
  Summary,  ///< `--print-summary`: a row a metric over launches
};

/// Where things stand in a row, by the names in the header: every release of ncu moves them.
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
  Place push_pop, start_end;       ///< NVTX, one cell with all that is open
  Place range_domain, range_name;  ///< NVTX in summaries
  Place section, metric_name, metric_unit, metric_value, rule, rule_kind, rule_text;
  std::vector<Metric> metrics;  ///< of the wide form, by column
  /// Metrics of the wide form that also say what was launched where.
  Place device_name, capability_major, capability_minor;
  LaunchMetric grid_dim[3], block_dim[3], registers, static_shared, dynamic_shared;

  /// Fewest cells that make a row.
  std::size_t fewest_cells() const;
};

/// The columns of a header; nothing when this is no header of ncu's.
std::optional<Columns> columns_of(std::span<const std::string_view> header, Names& names,
                                  const std::function<bool(std::string_view)>& keep);

/// Turns the rows of one table, whose columns and number style are known, into kernels of a report.
class RowReader {
 public:
  RowReader(CounterReport& report, const ReadOptions& options)
      : report_(report), options_(options) {}

  /// A table begins. What came before is finished: ids may begin again.
  void begin(Columns columns);
  const Columns& columns() const { return columns_; }

  /// Takes the row of units of the wide form; numbers below are scaled by it.
  void take_units(std::span<const std::string_view> cells);
  bool is_units_row(std::span<const std::string_view> cells) const;

  void take(std::span<const std::string_view> cells, std::uint64_t line, NumberStyle style);

  /// Tells what came up.
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
  std::unordered_map<std::string, std::size_t>
      kernels_;  // of the long forms, by what tells them apart
  std::string key_;
  std::unordered_map<std::string, std::uint64_t> unknown_units_;  // and how many counters had them
};

}  // namespace profline::ncu::internal
