#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/roofline/kernel_table.h"
#include "report/svg/scale.h"
#include "report/svg/svg.h"

namespace profline::svg::internal {

/// Where the axes are, and beside them a list of what is drawn.
struct Frame {
  double left = 90;
  double top = 50;
  double right = 640;
  double bottom = 470;
};

/// Width of a picture with a list beside the plot, and the height that the list needs.
inline constexpr double kPictureWidth = 1100;
double picture_height(const Frame& frame, std::size_t listed);

void draw_axes(Picture& picture, const Frame& frame, const Scale& x, const Scale& y,
               const std::string& x_name, const std::string& y_name);

/// The kernels' marks: a number in a disc in the colour of what bounds the kernel. One that would
/// hide another is drawn beside it, with a line to where it belongs.
class Marks {
 public:
  explicit Marks(Picture& picture) : picture_(picture) {}

  void draw(PointXy at, std::size_t number, const roofline::KernelRow& row);

 private:
  Picture& picture_;
  std::vector<PointXy> drawn_;
};

/// The list: number, name, what bounds it, and a remark for those that are not drawn.
void draw_list(Picture& picture, const Frame& frame, std::span<const roofline::KernelRow> rows,
               std::span<const std::string> remarks);

}  // namespace profline::svg::internal
