#include "predictions/spans.h"

#include <charconv>
#include <cmath>

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
    // A digit first: no sign, and no `inf` or `nan`, which from_chars() would take.
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

}  // namespace profline::predictions
