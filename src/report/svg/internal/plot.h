#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/roofline/counted_kernel.h"

/// Pictures as SVG: self-contained documents without scripts or fonts, and with nothing from a
/// network.
namespace profline::svg {

struct PointXy {
  double x = 0;
  double y = 0;
};

enum class Anchor { Start, Middle, End };

/// A picture that is built piece by piece. Numbers are pixels from the upper left corner, written
/// with at most two decimals; texts may be any bytes and are escaped. `style` names classes of the
/// style sheet in svg.cpp.
class Picture {
 public:
  Picture(double width, double height, std::string_view title);

  void line(PointXy from, PointXy to, std::string_view style);
  void polyline(std::span<const PointXy> points, std::string_view style);
  void rectangle(PointXy corner, double width, double height, std::string_view style,
                 std::string_view tip = {});
  void circle(PointXy centre, double radius, std::string_view style, std::string_view tip = {});
  void text(PointXy at, std::string_view words, std::string_view style,
            Anchor anchor = Anchor::Start, double turned_degrees = 0);

  /// The document.
  std::string finish() const;

 private:
  void close_with_tip(std::string_view element, std::string_view tip);

  double width_;
  double height_;
  std::string body_;
};

/// Text for an element or an attribute: markup becomes entities, and what XML cannot represent
/// becomes U+FFFD.
std::string escaped(std::string_view text);

/// At most `most` characters, with an ellipsis if some were left out.
std::string shortened(std::string_view text, std::size_t most);

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
