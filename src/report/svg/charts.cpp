#include "report/svg/charts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "base/figures.h"
#include "report/svg/internal/plot.h"

namespace profline::svg {
namespace {

using internal::Frame;
using roofline::CountedKernel;

/// A peak of the device, by the kind of work it limits.
struct Peak {
  std::string label;
  double per_second = 0;
};

void add_peak(std::vector<Peak>& peaks, std::string label, std::optional<double> per_second) {
  if (!per_second || !(*per_second > 0)) return;
  const bool is_known = std::any_of(peaks.begin(), peaks.end(),
                                    [&](const Peak& peak) { return peak.label == label; });
  if (!is_known) peaks.push_back({std::move(label), *per_second});
}

/// The peaks of the precisions that the kernels used; bf16 on tensor cores if they used none.
std::vector<Peak> peaks_of(std::span<const CountedKernel> rows,
                           const settings::Ceilings& ceilings) {
  std::vector<Peak> peaks;
  for (const CountedKernel& row : rows) {
    for (const roofline::Work& work : row.measured.work) {
      add_peak(peaks, fmt::format("{} {}", to_text(work.cores), to_text(work.precision)),
               ceilings.rate(work.cores, work.precision, work.accumulation));
    }
  }
  if (peaks.empty()) {
    add_peak(peaks, "tensor bf16",
             ceilings.rate(settings::Cores::Tensor, settings::Precision::Bf16));
  }
  std::sort(peaks.begin(), peaks.end(),
            [](const Peak& a, const Peak& b) { return a.per_second > b.per_second; });
  return peaks;
}

bool has_point(const CountedKernel& row) {
  const auto& intensity = row.point.intensity;
  const auto& rate = row.point.operations_per_second;
  return intensity && rate && *intensity > 0 && *rate > 0 && std::isfinite(*intensity) &&
         std::isfinite(*rate);
}

std::string why_not_drawn(const CountedKernel& row) {
  if (has_point(row)) return {};
  if (row.name.empty()) return "nothing captured";
  if (row.point.operations && *row.point.operations == 0) return "no operations";
  return row.point.operations ? "no DRAM traffic" : "not counted";
}

struct Extent {
  double low = 0;
  double high = 0;

  void include(double value) {
    low = low == 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
};

/// The memory slope up to each peak, and the peaks themselves.
void draw_ceilings(Picture& picture, const Scale& x, const Scale& y, const std::vector<Peak>& peaks,
                   double bandwidth) {
  const double highest = peaks.front().per_second;
  const double ridge = highest / bandwidth;
  const double from = std::max(x.low(), y.low() / bandwidth);
  const std::array<PointXy, 3> roof = {{{x.at(from), y.at(from * bandwidth)},
                                        {x.at(ridge), y.at(highest)},
                                        {x.at(x.high()), y.at(highest)}}};
  picture.polyline(roof, "roof");
  const PointXy along = {x.at(std::sqrt(from * ridge)), y.at(std::sqrt(from * ridge) * bandwidth)};
  const double slope = std::atan2(roof[1].y - roof[0].y, roof[1].x - roof[0].x) * 180 / M_PI;
  picture.text({along.x, along.y - 8}, "DRAM " + amount(bandwidth, "B/s"), "small", Anchor::Middle,
               slope);
  for (const Peak& peak : peaks) {
    const double level = y.at(peak.per_second);
    if (peak.per_second < highest) {
      picture.line({x.at(peak.per_second / bandwidth), level}, {x.at(x.high()), level}, "ceiling");
    }
    picture.text({x.at(x.high()) - 4, level - 6},
                 peak.label + "  " + amount(peak.per_second, "FLOP/s"), "small", Anchor::End);
  }
  picture.line({x.at(ridge), y.at(highest)}, {x.at(ridge), y.at(y.low())}, "guide");
  picture.text({x.at(ridge) + 4, y.at(y.low()) - 6}, "ridge " + plain_number(ridge) + " FLOP/B",
               "small");
}

}  // namespace

std::string physical_roofline(std::span<const CountedKernel> rows,
                              const settings::Ceilings& ceilings, const std::string& title) {
  const Frame frame;
  Picture picture(internal::kPictureWidth, internal::picture_height(frame, rows.size()), title);
  const std::vector<Peak> peaks = peaks_of(rows, ceilings);
  const bool has_roof = !peaks.empty() && ceilings.bytes_per_second;
  Extent intensity;
  Extent rate;
  std::vector<std::string> remarks;
  for (const CountedKernel& row : rows) {
    remarks.push_back(why_not_drawn(row));
    if (!has_point(row)) continue;
    intensity.include(*row.point.intensity);
    rate.include(*row.point.operations_per_second);
  }
  if (has_roof) {
    intensity.include(peaks.front().per_second / *ceilings.bytes_per_second * 10);
    rate.include(peaks.front().per_second * 1.5);
  }
  if (intensity.low == 0) intensity.include(1);
  if (rate.low == 0) rate.include(1e9);
  const Scale x = Scale::decades(intensity.low / 2, intensity.high, frame.left, frame.right);
  const Scale y = Scale::decades(rate.low / 2, rate.high, frame.bottom, frame.top);
  internal::draw_axes(picture, frame, x, y, "arithmetic intensity, FLOP per byte of DRAM traffic",
                      "performance, FLOP/s");
  if (has_roof) draw_ceilings(picture, x, y, peaks, *ceilings.bytes_per_second);
  if (!has_roof) {
    picture.text({frame.left + 12, frame.top + 18}, "no ceilings are known for this device",
                 "small");
  }
  internal::Marks marks(picture);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!has_point(rows[i])) continue;
    const roofline::Point& point = rows[i].point;
    marks.draw({x.at(*point.intensity), y.at(*point.operations_per_second)}, i + 1, rows[i]);
  }
  internal::draw_list(picture, frame, rows, remarks);
  return picture.finish();
}

std::string normalised_roofline(std::span<const CountedKernel> rows, double margin,
                                const std::string& title) {
  Frame frame;
  frame.left = 90;
  frame.right = frame.left + (frame.bottom - frame.top);
  Picture picture(internal::kPictureWidth, internal::picture_height(frame, rows.size()), title);
  const Scale x = Scale::linear(0, 100, frame.left, frame.right);
  const Scale y = Scale::linear(0, 100, frame.bottom, frame.top);
  internal::draw_axes(picture, frame, x, y, "DRAM, % of sustained peak", "SM, % of sustained peak");
  const double low = std::clamp(margin, 0.0, 100.0);
  picture.line({x.at(0), y.at(low)}, {x.at(100 - low), y.at(100)}, "guide");
  picture.line({x.at(low), y.at(0)}, {x.at(100), y.at(100 - low)}, "guide");
  picture.line({x.at(0), y.at(0)}, {x.at(100), y.at(100)}, "ceiling");
  picture.text({x.at(3), y.at(96)}, "compute bound", "small");
  picture.text({x.at(97), y.at(3)}, "memory bound", "small", Anchor::End);
  std::vector<std::string> remarks;
  internal::Marks marks(picture);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& sm = rows[i].measured.sm_pct;
    const auto& dram = rows[i].measured.dram_pct;
    remarks.emplace_back(sm && dram ? "" : "no shares");
    if (sm && dram) marks.draw({x.at(*dram), y.at(*sm)}, i + 1, rows[i]);
  }
  internal::draw_list(picture, frame, rows, remarks);
  return picture.finish();
}

std::string histogram(const roofline::Histogram& histogram) {
  Frame frame;
  frame.right = 600;
  frame.bottom = 330;
  Picture picture(640, 400, std::string(histogram.metric));
  std::size_t most = 1;
  for (const roofline::Histogram::Bin& bin : histogram.bins) most = std::max(most, bin.kernels);
  const Scale x = Scale::linear(histogram.bins.front().low, histogram.bins.back().high, frame.left,
                                frame.right);
  const Scale y = Scale::linear(0, static_cast<double>(most) * 1.1, frame.bottom, frame.top);
  internal::draw_axes(picture, frame, x, y, std::string(histogram.metric), "kernels");
  const double width = (frame.right - frame.left) / static_cast<double>(histogram.bins.size());
  for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
    const roofline::Histogram::Bin& bin = histogram.bins[i];
    if (bin.kernels == 0) continue;
    const double top = y.at(static_cast<double>(bin.kernels));
    const double left = frame.left + width * static_cast<double>(i);
    picture.rectangle({left + 1, top}, width - 2, frame.bottom - top, "bar",
                      fmt::format("{:.4g} to {:.4g}: {}", bin.low, bin.high, bin.kernels));
    picture.text({left + width / 2, top - 5}, std::to_string(bin.kernels), "small", Anchor::Middle);
  }
  return picture.finish();
}

}  // namespace profline::svg
