#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "records/counters.h"
#include "tools/ncu/csv_reader.h"
#include "tools/ncu/internal/csv_columns.h"
#include "tools/ncu/number_style.h"

namespace profline::ncu::internal {

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
