#include "predictions/internal/layout.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/terminal_text.h"
#include "inputs/images/picture.h"

namespace profline::predictions {
namespace {

constexpr std::string_view kOpen = "<|ref|>";
constexpr std::string_view kMiddle = "<|/ref|><|det|>";
constexpr std::string_view kClose = "<|/det|>";

constexpr double kLargest = 999;

class BoxParser {
 public:
  explicit BoxParser(std::string_view text) : text_(text) {}

  Result<std::vector<Box>> parse() {
    std::vector<Box> boxes;
    PL_TRY(take('['));
    do {
      boxes.push_back(PL_TRY(box()));
    } while (takes(','));
    PL_TRY(take(']'));
    skip_blanks();
    if (at_ != text_.size()) return wrong("nothing");
    return boxes;
  }

 private:
  Result<Box> box() {
    Box result;
    PL_TRY(take('['));
    result.x1 = PL_TRY(number());
    for (double* const next : {&result.y1, &result.x2, &result.y2}) {
      PL_TRY(take(','));
      *next = PL_TRY(number());
    }
    PL_TRY(take(']'));
    return result;
  }

  Result<double> number() {
    skip_blanks();
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    double value = 0;
    const auto [stop, problem] = std::from_chars(begin, end, value, std::chars_format::fixed);
    // A digit first: no sign, and no `inf` or `nan`, which from_chars() would accept.
    if (begin == end || *begin < '0' || *begin > '9' || problem != std::errc()) {
      return wrong("a number");
    }
    if (value > kLargest) return wrong("a number up to 999");
    at_ += static_cast<std::size_t>(stop - begin);
    return value;
  }

  bool takes(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  Result<void> take(char wanted) {
    if (!takes(wanted)) return wrong(std::string("'") + wanted + "'");
    return {};
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  Error wrong(std::string_view wanted) const {
    return {ErrorKind::Parse,
            "expected " + std::string(wanted) + " at byte " + std::to_string(at_ + 1)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

constexpr std::string_view kImageLabel = "image";

std::uint32_t to_pixel(double thousandths, std::uint32_t length) {
  return static_cast<std::uint32_t>(thousandths / 999 * length);
}

/// Nothing if it contains no pixel.
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

using images::Colour;
using images::Picture;
using images::Rectangle;

constexpr std::uint8_t kTint = 32;  // of 255
constexpr Colour kWhite{255, 255, 255};

/// Easy to distinguish, each dark enough for white letters on it.
constexpr Colour kPalette[] = {
    {200, 30, 30}, {190, 20, 100}, {160, 30, 160}, {110, 50, 190}, {70, 60, 200},
    {20, 90, 210}, {120, 20, 30},  {0, 115, 115},  {20, 120, 50},  {85, 110, 0},
    {120, 100, 0}, {140, 80, 20},  {180, 75, 0},   {0, 105, 160},  {20, 40, 110},
    {10, 70, 40},  {80, 90, 105},  {95, 20, 80},   {0, 65, 75},    {95, 75, 60},
};

/// FNV-1a with an offset that gives the model's usual labels distinct colours.
std::uint64_t hash_of(std::string_view label) {
  constexpr std::uint64_t kStart = 0xcbf29ce484222325U ^ 1345U;
  std::uint64_t hash = kStart;
  for (const char c : label) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash >> 32U;  // the upper half is mixed better
}

Rectangle rectangle(const images::Area& area) {
  return {area.x, area.y, area.width, area.height};
}

/// 1 for images up to 1200 pixels, then growing with the image.
std::uint32_t pen_scale(images::Size size) {
  return std::max(1U, (std::min(size.width, size.height) + 300) / 800);
}

/// A tag with the label, above the box if there is room, else inside its top.
void draw_tag(Picture& picture, const PlacedBox& box, Colour colour, std::uint32_t scale) {
  const std::string text = fit_width(printable(box.label), 40, "...");
  const std::int64_t pad = 2 * std::int64_t{scale};
  const std::int64_t width = images::text_width(text, scale) + 2 * pad;
  const std::int64_t height = std::int64_t{images::kGlyphHeight} * scale + pad;
  const std::int64_t room = std::max<std::int64_t>(picture.width - width, 0);
  const std::int64_t x = std::min<std::int64_t>(box.area.x, room);
  const std::int64_t y = std::max<std::int64_t>(box.area.y - height, 0);
  images::fill(picture, {x, y, width, height}, colour);
  images::draw_text(picture, x + pad, y + pad, text, {.colour = kWhite, .scale = scale});
}

}  // namespace

Result<std::vector<Box>> parse_boxes(std::string_view text) {
  return BoxParser(text).parse();
}

std::vector<Span> parse_spans(std::string_view text) {
  std::vector<Span> spans;
  std::size_t from = 0;
  while (true) {
    const std::size_t begin = text.find(kOpen, from);
    if (begin == std::string_view::npos) break;
    const std::size_t label = begin + kOpen.size();
    const std::size_t middle = text.find(kMiddle, label);
    if (middle == std::string_view::npos) break;
    const std::size_t boxes = middle + kMiddle.size();
    const std::size_t close = text.find(kClose, boxes);
    if (close == std::string_view::npos) break;
    Span span{.begin = begin,
              .end = close + kClose.size(),
              .label = std::string(text.substr(label, middle - label)),
              .boxes = {},
              .problem = {}};
    auto parsed = parse_boxes(text.substr(boxes, close - boxes));
    if (parsed) {
      span.boxes = *std::move(parsed);
    } else {
      span.problem = parsed.error().message();
    }
    from = span.end;
    spans.push_back(std::move(span));
  }
  return spans;
}

Layout lay_out(std::string_view text, images::Size picture) {
  return Builder(text, picture).build();
}

Colour label_colour(std::string_view label) {
  return kPalette[hash_of(label) % std::size(kPalette)];
}

Picture draw_layout(const Picture& picture, const Layout& layout) {
  Picture drawn = picture;
  const std::uint32_t scale = pen_scale(picture.size());
  for (const PlacedBox& box : layout.boxes) {
    images::fill(drawn, rectangle(box.area), label_colour(box.label), kTint);
  }
  for (const PlacedBox& box : layout.boxes) {
    const std::int64_t thickness = std::int64_t{box.label == "title" ? 4 : 2} * scale;
    images::outline(drawn, rectangle(box.area), label_colour(box.label), thickness);
  }
  // Last, so that no box hides a label.
  for (const PlacedBox& box : layout.boxes) {
    draw_tag(drawn, box, label_colour(box.label), scale);
  }
  return drawn;
}

}  // namespace profline::predictions
