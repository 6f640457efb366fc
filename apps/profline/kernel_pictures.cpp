#include "kernel_pictures.h"

#include <fmt/core.h>

#include "base/files.h"
#include "records/region_folder.h"
#include "report/svg/charts.h"

namespace profline {

Result<void> write_kernel_pictures(std::span<const roofline::KernelRow> rows,
                                   const settings::Ceilings& ceilings, double margin,
                                   const std::filesystem::path& folder) {
  const std::string on = ceilings.device.empty() ? "" : " on " + ceilings.device;
  const std::string all =
      fmt::format("{} kernel{}{}", rows.size(), rows.size() == 1 ? "" : "s", on);
  PL_TRY(write_file_atomic(folder / "roofline_scatter_normalized.svg",
                           svg::normalised_roofline(rows, margin, "Shares of " + all)));
  PL_TRY(write_file_atomic(folder / "roofline_scatter_physical.svg",
                           svg::physical_roofline(rows, ceilings, "Roofline of " + all)));
  const std::filesystem::path each = folder / "roofline_per_kernel";
  PL_TRY(create_folders(each));
  for (const roofline::KernelRow& row : rows) {
    const std::string id = region_folder(row.id);
    const std::string name = (row.display_name.empty() ? row.id : row.display_name) + on;
    PL_TRY(write_file_atomic(each / (id + "_normalized.svg"),
                             svg::normalised_roofline({&row, 1}, margin, name)));
    PL_TRY(write_file_atomic(each / (id + "_physical.svg"),
                             svg::physical_roofline({&row, 1}, ceilings, name)));
  }
  PL_TRY(create_folders(folder / "histograms"));
  for (const roofline::Histogram& histogram : roofline::histograms(rows)) {
    PL_TRY(write_file_atomic(folder / "histograms" / (std::string(histogram.metric) + ".svg"),
                             svg::histogram(histogram)));
  }
  return {};
}

}  // namespace profline
