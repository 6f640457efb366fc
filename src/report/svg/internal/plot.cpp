#include "report/svg/internal/plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "formats/markup.h"

namespace profline::svg {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Colours that people with any colour vision can distinguish (after Okabe and Ito).
constexpr std::string_view kSheet =
    "text{font:12px system-ui,sans-serif;fill:#222}"
    ".title{font-size:16px;font-weight:600}.small{font-size:11px;fill:#555}"
    ".number{font-size:10px;font-weight:600;fill:#fff}"
    ".axis{stroke:#444;stroke-width:1}.grid{stroke:#e4e4e4;stroke-width:1}"
    ".roof{stroke:#222;stroke-width:2;fill:none}.ceiling{stroke:#888;stroke-width:1.2;"
    "stroke-dasharray:6 3;fill:none}.guide{stroke:#999;stroke-width:1;stroke-dasharray:3 3;"
    "fill:none}.band{fill:#f3f3f3}.bar{fill:#0072b2}"
    ".compute{fill:#d55e00}.memory{fill:#0072b2}.mixed{fill:#009e73}.latency{fill:#cc79a7}"
    ".unknown{fill:#777}";

std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string_view name_of(Anchor anchor) {
  if (anchor == Anchor::Start) return "start";
  return anchor == Anchor::Middle ? "middle" : "end";
}

constexpr double kWantedTicks = 5;

/// 1, 2 or 5 times a power of ten, so that the span has about five parts.
double round_step(double span) {
  const double raw = span / kWantedTicks;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double digit = raw / power;
  if (digit < 1.5) return power;
  if (digit < 3.5) return 2 * power;
  return digit < 7.5 ? 5 * power : 10 * power;
}

/// `1`, `100 k`, `10 T`.
std::string decade_label(double value) {
  struct Unit {
    double factor;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (const Unit& unit : kUnits) {
    if (value >= unit.factor * 0.999) return fmt::format("{:g}{}", value / unit.factor, unit.name);
  }
  return fmt::format("{:g}", value);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t valid = first_invalid_utf8(text).value_or(text.size());
    for (const char letter : text.substr(0, valid)) {
      const auto code = static_cast<unsigned char>(letter);
      if (code < 0x20 && letter != '\t' && letter != '\n') {
        out += kReplacement;
      } else {
        out += letter;
      }
    }
    text.remove_prefix(valid);
    if (text.empty()) break;
    out += kReplacement;
    text.remove_prefix(1);
  }
  return html_escaped(printable_lines(out));  // marks that reorder text
}

std::string shortened(std::string_view text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
    if (!begins) continue;
    if (++characters > most) {
      // One character less, for the ellipsis.
      std::size_t end = at;
      do {
        --end;
      } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U);
      return std::string(text.substr(0, end)) + "…";
    }
  }
  return std::string(text);
}

Picture::Picture(double width, double height, std::string_view title)
    : width_(width), height_(height) {
  body_ = "<title>" + escaped(title) + "</title>\n";
  rectangle({0, 0}, width, height, "sheet");
  text({16, 26}, title, "title");
}

void Picture::line(PointXy from, PointXy to, std::string_view style) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", style,
                       number(from.x), number(from.y), number(to.x), number(to.y));
}

void Picture::polyline(std::span<const PointXy> points, std::string_view style) {
  body_ += fmt::format("<polyline class=\"{}\" points=\"", style);
  for (const PointXy& point : points) body_ += number(point.x) + "," + number(point.y) + " ";
  body_ += "\"/>\n";
}

void Picture::close_with_tip(std::string_view element, std::string_view tip) {
  body_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escaped(tip), element);
}

void Picture::rectangle(PointXy corner, double width, double height, std::string_view style,
                        std::string_view tip) {
  body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", style,
                       number(corner.x), number(corner.y), number(width), number(height));
  close_with_tip("rect", tip);
}

void Picture::circle(PointXy centre, double radius, std::string_view style, std::string_view tip) {
  body_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", style, number(centre.x),
                       number(centre.y), number(radius));
  close_with_tip("circle", tip);
}

void Picture::text(PointXy at, std::string_view words, std::string_view style, Anchor anchor,
                   double turned_degrees) {
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\"", style,
                       number(at.x), number(at.y), name_of(anchor));
  if (turned_degrees != 0) {
    body_ += fmt::format(" transform=\"rotate({} {} {})\"", number(turned_degrees), number(at.x),
                         number(at.y));
  }
  body_ += ">" + escaped(words) + "</text>\n";
}

std::string Picture::finish() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<style>.sheet{{fill:#fff}}{2}</style>\n{3}</svg>\n",
      number(width_), number(height_), kSheet, body_);
}

Scale Scale::linear(double low, double high, double begin, double end) {
  Scale scale;
  if (!(high > low)) high = low + (low == 0 ? 1 : std::fabs(low) * 0.1);
  scale.low_ = low, scale.high_ = high, scale.begin_ = begin, scale.end_ = end;
  return scale;
}

Scale Scale::decades(double low, double high, double begin, double end) {
  Scale scale;
  scale.low_ = std::pow(10.0, std::floor(std::log10(low)));
  scale.high_ = std::pow(10.0, std::ceil(std::log10(high)));
  if (!(scale.high_ > scale.low_)) scale.high_ = scale.low_ * 10;
  scale.begin_ = begin, scale.end_ = end;
  scale.is_log_ = true;
  return scale;
}

double Scale::at(double value) const {
  value = std::clamp(value, low_, high_);
  const double share =
      is_log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return begin_ + share * (end_ - begin_);
}

std::vector<Scale::Tick> Scale::ticks() const {
  std::vector<Tick> ticks;
  if (!is_log_) {
    const double step = round_step(high_ - low_);
    const double first = std::ceil(low_ / step - 1e-9) * step;
    for (int i = 0; first + i * step <= high_ + step * 1e-9; ++i) {
      const double value = first + i * step;
      ticks.push_back({value, fmt::format("{:g}", std::fabs(value) < step * 1e-9 ? 0 : value)});
    }
    return ticks;
  }
  const int decades = static_cast<int>(std::lround(std::log10(high_ / low_)));
  for (int decade = 0; decade <= decades; ++decade) {
    const double value = low_ * std::pow(10.0, decade);
    ticks.push_back({value, decade_label(value)});
    for (const int digit : {2, 5}) {
      if (decade < decades && decades <= 4) ticks.push_back({value * digit, ""});
    }
  }
  return ticks;
}

}  // namespace profline::svg

namespace profline::svg::internal {
namespace {

constexpr double kRow = 18;
constexpr std::size_t kNameCharacters = 52;

std::string_view style_of(const roofline::CountedKernel& row) {
  return to_text(row.point.bound);
}

std::string tip(const roofline::CountedKernel& row) {
  std::string text = row.name.empty() ? row.id : row.name;
  for (const std::string& reason : row.point.evidence) text += "\n" + reason;
  return text;
}

}  // namespace

double picture_height(const Frame& frame, std::size_t listed) {
  const double list = frame.top + 24 + kRow * static_cast<double>(listed);
  return std::max(frame.bottom + 60, list + 30);
}

void draw_axes(Picture& picture, const Frame& frame, const Scale& x, const Scale& y,
               const std::string& x_name, const std::string& y_name) {
  for (const Scale::Tick& tick : x.ticks()) {
    const double at = x.at(tick.value);
    picture.line({at, frame.top}, {at, frame.bottom}, "grid");
    picture.text({at, frame.bottom + 18}, tick.label, "small", Anchor::Middle);
  }
  for (const Scale::Tick& tick : y.ticks()) {
    const double at = y.at(tick.value);
    picture.line({frame.left, at}, {frame.right, at}, "grid");
    picture.text({frame.left - 8, at + 4}, tick.label, "small", Anchor::End);
  }
  picture.line({frame.left, frame.bottom}, {frame.right, frame.bottom}, "axis");
  picture.line({frame.left, frame.top}, {frame.left, frame.bottom}, "axis");
  picture.text({(frame.left + frame.right) / 2, frame.bottom + 42}, x_name, "label",
               Anchor::Middle);
  picture.text({26, (frame.top + frame.bottom) / 2}, y_name, "label", Anchor::Middle, -90);
}

void Marks::draw(PointXy at, std::size_t number, const roofline::CountedKernel& row) {
  constexpr double kRadius = 9;
  const auto hides_one = [&](PointXy place) {
    return std::any_of(drawn_.begin(), drawn_.end(), [&](PointXy other) {
      return std::hypot(place.x - other.x, place.y - other.y) < 1.7 * kRadius;
    });
  };
  PointXy place = at;
  for (int turn = 0; hides_one(place) && turn < 16; ++turn) {
    const double angle = M_PI / 4 * turn;
    const double away = 2.2 * kRadius * (turn < 8 ? 1 : 2);
    place = {at.x + away * std::cos(angle), at.y - away * std::sin(angle)};
  }
  if (place.x != at.x || place.y != at.y) picture_.line(at, place, "axis");
  picture_.circle(place, kRadius, style_of(row), tip(row));
  picture_.text({place.x, place.y + 3.5}, std::to_string(number), "number", Anchor::Middle);
  drawn_.push_back(place);
}

void draw_list(Picture& picture, const Frame& frame, std::span<const roofline::CountedKernel> rows,
               std::span<const std::string> remarks) {
  const double left = frame.right + 30;
  double y = frame.top + 4;
  constexpr double kColumn = 84;
  double x = left;
  for (const char* bound : {"compute", "memory", "mixed", "latency", "unknown"}) {
    picture.circle({x + 5, y - 4}, 5, bound);
    picture.text({x + 14, y}, bound, "small");
    x += kColumn;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    y += i == 0 ? 24 : kRow;
    const roofline::CountedKernel& row = rows[i];
    picture.circle({left + 9, y - 4}, 8, style_of(row), tip(row));
    picture.text({left + 9, y - 0.5}, std::to_string(i + 1), "number", Anchor::Middle);
    const std::string& name = row.display_name.empty() ? row.id : row.display_name;
    const std::string remark = i < remarks.size() ? remarks[i] : std::string();
    picture.text({left + 24, y},
                 remark.empty() ? shortened(name, kNameCharacters)
                                : shortened(name, kNameCharacters - 20) + " (" + remark + ")",
                 "small");
  }
}

}  // namespace profline::svg::internal
