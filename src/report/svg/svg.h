#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace profline::svg
