#include <algorithm>
#include <vector>

#include "inputs/dataset/dataset.h"
#include "inputs/dataset/internal/page_blocks.h"

namespace profline::dataset {
namespace {

using internal::Canvas;
using internal::Column;
using internal::Random;

constexpr images::Colour kPaper{254, 253, 250};

/// A letter page of 612x792 has letters of scale 1.
std::uint32_t letter_scale(images::Size size) {
  return std::max(1U, std::min(size.width / 560, size.height / 520));
}

/// Numbers of tables and figures, and what comes next.
struct Article {
  Canvas& canvas;
  Random& random;
  std::uint32_t sections = 0;
  std::uint32_t tables = 0;
  std::uint32_t figures = 0;

  bool section(Column& column) {
    if (column.room() < canvas.units(60)) return false;
    std::string text = std::to_string(++sections);
    return canvas.heading(column, text.append(". ").append(internal::title(random)), 1);
  }
  bool paragraph(Column& column) {
    const auto sentences = static_cast<std::size_t>(random.between(3, 7));
    return canvas.paragraph(column, internal::paragraph(random, sentences));
  }
  bool table(Column& column) {
    if (!canvas.table(column, random, tables + 1)) return false;
    ++tables;
    return true;
  }
  bool figure(Column& column) {
    const bool is_drawn = random.below(2) == 0 ? canvas.bar_chart(column, random, figures + 1)
                                               : canvas.curve(column, random, figures + 1);
    figures += is_drawn ? 1 : 0;
    return is_drawn;
  }

  /// Section after section until the column is full.
  void fill(Column& column) {
    std::uint64_t turn = random.below(2);
    while (section(column)) {
      paragraph(column);
      const bool is_extra = turn++ % 2 == 0 ? table(column) : figure(column);
      if (!is_extra && !paragraph(column)) return;
      if (random.below(2) == 0) paragraph(column);
    }
    while (paragraph(column)) {
    }
  }
};

void draw_report(Canvas& canvas, Random& random, Column page, bool has_two_columns) {
  canvas.heading(page, internal::title(random), 2);
  std::string byline = internal::author(random);
  canvas.note(page, byline.append(" and ").append(internal::author(random)));
  canvas.rule(page);
  Article article{canvas, random};
  if (!has_two_columns) {
    article.fill(page);
    return;
  }
  article.paragraph(page);
  const std::int64_t gutter = canvas.units(20);
  Column left = page;
  left.width = (page.width - gutter) / 2;
  Column right = left;
  right.x += left.width + gutter;
  article.fill(left);
  article.fill(right);
}

void draw_slide(Canvas& canvas, Random& random, Column page) {
  canvas.heading(page, internal::title(random), 3);
  canvas.rule(page);
  Column left = page;
  left.width = page.width / 2 - canvas.units(16);
  Column right = page;
  right.x += page.width / 2;
  right.width = page.width - page.width / 2;
  Article article{canvas, random};
  for (std::int64_t i = random.between(4, 6); i > 0; --i) {
    if (!canvas.bullet(left, internal::sentence(random))) break;
  }
  article.table(left);
  article.figure(right);
  while (canvas.bullet(right, internal::sentence(random)) && right.room() > canvas.units(80)) {
  }
}

/// A clipping: whatever fits.
void draw_clipping(Canvas& canvas, Random& random, Column page) {
  if (page.width >= canvas.units(150)) canvas.heading(page, internal::title(random), 1);
  canvas.rule(page);
  while (canvas.paragraph(page, internal::paragraph(random, 4))) {
  }
}

}  // namespace

images::Picture draw_page(const SyntheticPage& page) {
  // The numbers of neighbouring pages must not resemble each other.
  Random random(Random(page.seed ^ (std::uint64_t{page.number} << 32U)).next());
  images::Picture picture(page.size, kPaper);
  Canvas canvas(picture, letter_scale(page.size));
  const std::int64_t width = page.size.width;
  const std::int64_t height = page.size.height;
  const std::int64_t margin = std::min(width, height) / 12;
  const Column body{
      .x = margin, .width = width - 2 * margin, .y = margin, .bottom = height - margin};
  if (width < canvas.units(400) || height < canvas.units(300)) {
    draw_clipping(canvas, random, body);
  } else if (width > height) {
    draw_slide(canvas, random, body);
  } else {
    draw_report(canvas, random, body, random.below(2) == 0);
    canvas.page_number(page.number, height - margin * 2 / 3);
  }
  return picture;
}

}  // namespace profline::dataset
