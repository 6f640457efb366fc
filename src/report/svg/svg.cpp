#include "report/svg/svg.h"

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

}  // namespace profline::svg
