#include "predictions/layout.h"

#include "base/terminal_text.h"

namespace profline::predictions {
namespace {

constexpr std::string_view kImageLabel = "image";

std::uint32_t to_pixel(double thousandths, std::uint32_t length) {
  return static_cast<std::uint32_t>(thousandths / 999 * length);
}

/// Nothing when no pixel lies in it.
std::optional<images::Area> to_pixels(const Box& box, images::Size picture) {
  const std::uint32_t x1 = to_pixel(box.x1, picture.width);
  const std::uint32_t y1 = to_pixel(box.y1, picture.height);
  const std::uint32_t x2 = to_pixel(box.x2, picture.width);
  const std::uint32_t y2 = to_pixel(box.y2, picture.height);
  if (x2 <= x1 || y2 <= y1) return std::nullopt;
  return images::Area{.x = x1, .y = y1, .width = x2 - x1, .height = y2 - y1};
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = 0;
  while ((at = text.find(from, at)) != std::string::npos) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

class Builder {
 public:
  Builder(std::string_view text, images::Size picture) : text_(text), picture_(picture) {}

  Layout build() {
    std::size_t copied = 0;
    for (const Span& span : parse_spans(text_)) {
      layout_.markdown += text_.substr(copied, span.begin - copied);
      copied = span.end;
      add(span);
    }
    layout_.markdown += text_.substr(copied);
    if (has_others_) {
      replace_all(layout_.markdown, "\\coloneqq", ":=");
      replace_all(layout_.markdown, "\\eqqcolon", "=:");
    }
    return std::move(layout_);
  }

 private:
  void add(const Span& span) {
    ++spans_;
    const bool is_image = span.label == kImageLabel;
    has_others_ = has_others_ || !is_image;
    if (!span.problem.empty()) skip(span, span.problem);
    std::size_t number = 0;
    for (const Box& box : span.boxes) {
      ++number;
      std::optional<std::uint32_t> image;
      if (is_image) image = images_++;
      const auto area = to_pixels(box, picture_);
      if (!area) {
        skip(span, "box " + std::to_string(number) + " is empty");
        continue;
      }
      layout_.boxes.push_back({.label = span.label, .area = *area, .image = image});
      if (image) layout_.markdown += "![](images/" + std::to_string(*image) + ".jpg)\n";
    }
  }

  void skip(const Span& span, const std::string& why) {
    layout_.skipped.push_back("span " + std::to_string(spans_) + " '" + printable(span.label) +
                              "': " + why);
  }

  std::string_view text_;
  images::Size picture_;
  Layout layout_;
  std::size_t spans_ = 0;
  std::uint32_t images_ = 0;
  bool has_others_ = false;
};

}  // namespace

Layout lay_out(std::string_view text, images::Size picture) {
  return Builder(text, picture).build();
}

}  // namespace profline::predictions
