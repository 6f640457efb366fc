#include "summary/operator_flops.h"

#include <charconv>

namespace profline::summary {
namespace {

using Sizes = std::vector<std::int64_t>;

class ShapeParser {
 public:
  explicit ShapeParser(std::string_view text) : text_(text) {}

  std::optional<std::vector<Sizes>> run() {
    if (!take('[')) return std::nullopt;
    std::vector<Sizes> shapes;
    if (take(']')) return at_end() ? std::optional(shapes) : std::nullopt;
    do {
      auto sizes = list();
      if (!sizes) return std::nullopt;
      shapes.push_back(std::move(*sizes));
    } while (take(','));
    if (!take(']') || !at_end()) return std::nullopt;
    return shapes;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  /// `[1, 64]`; of a list of lists only that it is one.
  std::optional<Sizes> list() {
    if (!take('[')) return std::nullopt;
    Sizes sizes;
    if (take(']')) return sizes;
    bool is_nested = false;
    do {
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == '[') {
        is_nested = true;
        if (!pass_list()) return std::nullopt;
        continue;
      }
      std::int64_t size = 0;
      const auto [end, failure] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (failure != std::errc()) return std::nullopt;
      at_ = static_cast<std::size_t>(end - text_.data());
      sizes.push_back(size);
    } while (take(','));
    if (!take(']')) return std::nullopt;
    return is_nested ? Sizes() : sizes;
  }
  bool pass_list() {
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) return false;
    at_ = end + 1;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Twice the product of (..., m, k) and (..., k, n).
std::optional<double> product_flops(const std::vector<Sizes>& shapes, std::size_t first,
                                    std::size_t dimensions) {
  if (shapes.size() < first + 2) return std::nullopt;
  const Sizes& a = shapes[first];
  const Sizes& b = shapes[first + 1];
  if (a.size() != dimensions || b.size() != dimensions || a.back() != b[dimensions - 2]) {
    return std::nullopt;
  }
  double flops = 2 * static_cast<double>(b.back());
  for (const std::int64_t size : a) flops *= static_cast<double>(size);
  return flops;
}

/// Scores and values of (batch, heads, queries, size) and (batch, heads, keys, size).
std::optional<double> attention_flops(const std::vector<Sizes>& shapes) {
  if (shapes.size() < 3 || shapes[0].size() != 4 || shapes[1].size() != 4 ||
      shapes[2].size() != 4) {
    return std::nullopt;
  }
  const Sizes& q = shapes[0];
  const auto real = [](std::int64_t size) { return static_cast<double>(size); };
  return 2 * real(q[0]) * real(q[1]) * real(q[2]) * real(shapes[1][2]) *
         (real(q[3]) + real(shapes[2][3]));
}

}  // namespace

std::optional<std::vector<Sizes>> parse_shapes(std::string_view text) {
  return ShapeParser(text).run();
}

std::optional<double> operator_flops(std::string_view name, std::string_view shapes) {
  struct Product {
    std::string_view name;
    std::size_t first;  // of the two matrices among the inputs
    std::size_t dimensions;
  };
  constexpr Product kProducts[] = {
      {"aten::mm", 0, 2}, {"aten::addmm", 1, 2}, {"aten::bmm", 0, 3}, {"aten::baddbmm", 1, 3}};
  const bool is_attention = name.starts_with("aten::_scaled_dot_product_");
  const Product* product = nullptr;
  for (const Product& known : kProducts) {
    if (known.name == name) product = &known;
  }
  if (product == nullptr && !is_attention) return std::nullopt;
  const auto sizes = parse_shapes(shapes);
  if (!sizes) return std::nullopt;
  return is_attention ? attention_flops(*sizes)
                      : product_flops(*sizes, product->first, product->dimensions);
}

}  // namespace profline::summary
