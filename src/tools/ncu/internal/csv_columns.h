#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/counters.h"

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

}  // namespace profline::ncu::internal
