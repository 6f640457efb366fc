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

namespace profline::ncu {

/// How numbers are written in a table. ncu uses the locale it runs under: `1,234.5`, `1.234,5`, `1
/// 234,5`, `1'234.5` are the same number.
struct NumberStyle {
  char decimal = '.';
  bool operator==(const NumberStyle&) const = default;
};

/// Guesses the style from the cells of a table. `1,234` alone proves nothing, `46.51` or
/// `1,234,567` do.
class NumberStyleGuess {
 public:
  void see(std::string_view cell);
  /// Enough cells were seen.
  bool is_certain() const { return points_ != commas_ && points_ + commas_ >= kEnough; }
  /// The style that more cells support; the point if no cell decides.
  NumberStyle style() const;
  /// There are cells for both styles.
  bool is_contradictory() const { return points_ > 0 && commas_ > 0; }

 private:
  static constexpr int kEnough = 8;
  int points_ = 0;  // cells whose decimal sign can only be a point
  int commas_ = 0;
};

/// The number in a cell, which may have thousands separators; nothing if the cell has no number, or
/// one that is not finite.
std::optional<double> parse_number(std::string_view cell, NumberStyle style);

/// The meaning of an ncu unit: `value * factor` is in `base`.
struct UnitScale {
  std::string base;  ///< `ns`, `byte/s`, `hz`, `inst/cycle`; empty: a plain number
  double factor = 1;

  bool operator==(const UnitScale&) const = default;
};

/// Parses a unit printed by ncu, in the spelling of any version: `usecond` and `us`, `Gbyte/second`
/// and `Gbyte/s`, `cycle/nsecond` (which is a frequency), `sectors`. Prefixes are powers of 1000.
/// Base units are ns for a time, 1/s for a rate, and otherwise the unit without its prefix. Nothing
/// for an unknown unit: its numbers cannot be compared with others.
std::optional<UnitScale> unit_scale(std::string_view unit);

}  // namespace profline::ncu

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
