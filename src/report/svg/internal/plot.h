#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/roofline/counted_kernel.h"
#include "report/svg/svg.h"

namespace profline::svg {

/// Maps values to positions on an axis, from `begin` to `end` in pixels.
class Scale {
 public:
  static Scale linear(double low, double high, double begin, double end);
  /// Whole decades that include the values, which are positive.
  static Scale decades(double low, double high, double begin, double end);

  double at(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }

  struct Tick {
    double value = 0;
    std::string label;  ///< empty: only a line
  };
  /// Four to eight round values; for decades also the values between.
  std::vector<Tick> ticks() const;

 private:
  double low_ = 0;
  double high_ = 1;
  double begin_ = 0;
  double end_ = 1;
  bool is_log_ = false;
};

}  // namespace profline::svg

namespace profline::svg::internal {

/// The area of the axes, and next to it a list of what is drawn.
struct Frame {
  double left = 90;
  double top = 50;
  double right = 640;
  double bottom = 470;
};

/// The width of a picture with a list next to the plot, and the height that the list needs.
inline constexpr double kPictureWidth = 1100;
double picture_height(const Frame& frame, std::size_t listed);

void draw_axes(Picture& picture, const Frame& frame, const Scale& x, const Scale& y,
               const std::string& x_name, const std::string& y_name);

/// The kernels' marks: a number in a disc in the colour of what bounds the kernel. One that would
/// hide another is drawn next to it, with a line to its position.
class Marks {
 public:
  explicit Marks(Picture& picture) : picture_(picture) {}

  void draw(PointXy at, std::size_t number, const roofline::CountedKernel& row);

 private:
  Picture& picture_;
  std::vector<PointXy> drawn_;
};

/// The list: number, name, what bounds it, and a remark for kernels that are not drawn.
void draw_list(Picture& picture, const Frame& frame, std::span<const roofline::CountedKernel> rows,
               std::span<const std::string> remarks);

}  // namespace profline::svg::internal
