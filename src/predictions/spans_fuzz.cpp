// For any text: boxes are inside the image, spans inside the text, and the drawing keeps its size.

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "predictions/internal/layout.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace profline;  // NOLINT(google-build-using-namespace): a program of one file
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t end = 0;
  for (const predictions::Span& span : predictions::parse_spans(text)) {
    PL_ASSERT(span.begin >= end && span.end > span.begin && span.end <= size, "spans follow on");
    PL_ASSERT(span.problem.empty() != span.boxes.empty(), "boxes, or why they are missing");
    end = span.end;
  }
  const images::Size page{64, 48};
  const predictions::Layout layout = predictions::lay_out(text, page);
  for (const predictions::PlacedBox& box : layout.boxes) {
    PL_ASSERT(box.area.width > 0 && box.area.height > 0, "boxes have pixels");
    PL_ASSERT(box.area.x + box.area.width <= page.width, "boxes lie in the picture");
    PL_ASSERT(box.area.y + box.area.height <= page.height, "boxes lie in the picture");
  }
  PL_ASSERT(predictions::draw_layout(images::Picture(page), layout).size() == page,
            "drawing keeps the size");
  return 0;
}
