#include "workload/ceilings/internal/products.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "base/figures.h"
#include "workload/model/torch_compat.h"
#include "workload/torch_runtime.h"

namespace profline::workload::ceilings {
namespace {

at::ScalarType type_of(Format format) {
  switch (format) {
    case Format::Bf16:
    case Format::Fp8:
    case Format::Fp8Fast:
      return at::kBFloat16;
    case Format::Fp16:
      return at::kHalf;
    case Format::Tf32:
    case Format::Fp32:
      break;
  }
  return at::kFloat;
}

/// One candidate, and the best rate that was seen.
struct Trial {
  ProductShape shape;
  std::function<void()> call;
  double flops_per_second = 0;
};

/// Two rounds, so that one that was unlucky has a second chance.
std::optional<Trial> best_product(Bench& bench, Format format, at::Device device,
                                  const ProductPlan& plan, std::size_t& tried) {
  constexpr int kRounds = 2;
  // The best rate so far says which candidates would take too long. Some typical shapes are far
  // below what the device can do, so they come last.
  std::vector<ProductShape> candidates = plan.candidates;
  candidates.insert(candidates.end(), plan.typical.begin(), plan.typical.end());
  std::vector<Trial> trials;
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (const ProductShape& shape : candidates) {
      if (bench.is_over() && best > 0) break;
      if (best > 0 && shape.flops() / best > plan.longest_call.count()) continue;
      const std::function<void()> call = make_product(format, shape, device);
      const Seconds one = bench.duration_of(call, plan.trial);
      const double rate = shape.flops() / one.count();
      if (round == 0) ++tried;
      if (rate <= best) continue;
      best = rate;
      trials.assign(1, {shape, call, rate});
    }
  }
  if (trials.empty()) return std::nullopt;
  return trials.front();
}

/// A product that was measured, after the trials.
struct Product {
  ProductShape shape;
  CeilingFigure figure;
  PacedRates rates;
  bool is_long;  ///< at the usual pace

  double highest() const {
    return std::max(rates.burst ? rates.burst->per_second : 0,
                    rates.sustained ? rates.sustained->per_second : 0);
  }
};

/// The trials may have chosen a shape that is slower than another one when it is measured:
/// something else used the device. A shape that was measured briefly has to keep its rate for
/// longer.
void move_highest_to_front(
    const Bench& bench, std::vector<Product>& products,
    const std::function<std::function<void()>(const ProductShape&)>& call_of) {
  for (;;) {
    const auto top = std::max_element(
        products.begin(), products.end(),
        [](const Product& a, const Product& b) { return a.highest() < b.highest(); });
    if (top->is_long || bench.is_over()) {
      std::rotate(products.begin(), top, top + 1);
      return;
    }
    top->rates = bench.rates_of(top->figure, top->shape.flops(), call_of(top->shape), bench.pace());
    top->is_long = true;
  }
}

}  // namespace

std::string ProductShape::to_string() const {
  return fmt::format("{} x {} x {}", m, n, k);
}

std::string to_text(Format format) {
  switch (format) {
    case Format::Bf16:
      return "bf16";
    case Format::Fp16:
      return "fp16";
    case Format::Tf32:
      return "tf32";
    case Format::Fp32:
      return "fp32";
    case Format::Fp8:
      return "fp8";
    case Format::Fp8Fast:
      break;
  }
  return "fp8 fast";
}

std::function<void()> make_product(Format format, const ProductShape& shape, at::Device device) {
  const auto options = at::TensorOptions().dtype(type_of(format)).device(device);
  const at::Tensor a = at::randn({shape.m, shape.k}, options);
  at::Tensor b = at::randn(shape.is_transposed ? at::IntArrayRef({shape.n, shape.k})
                                               : at::IntArrayRef({shape.k, shape.n}),
                           options);
  if (shape.is_transposed) b = b.t();
  if (format == Format::Fp8 || format == Format::Fp8Fast) {
    return compat::scaled_product(a, b, format == Format::Fp8Fast);
  }
  compat::allow_tf32(format == Format::Tf32);
  at::Tensor c = at::empty({shape.m, shape.n}, options);
  return [a, b, c]() mutable { at::mm_out(c, a, b); };
}

void measure_products(Bench& bench, Format format, at::Device device, const ProductPlan& plan) {
  const std::string name = to_text(format);
  if (bench.lacks_time_for(name + " products")) return;
  const auto figure = [&](const ProductShape& shape) {
    CeilingFigure one;
    one.kind = "matrix";
    one.name = name;
    one.shape = shape.to_string();
    one.unit = "FLOP/s";
    one.detail = shape.is_transposed ? "second operand transposed" : "";
    return one;
  };
  const Result<void> measured = catch_torch([&]() -> Result<void> {
    std::size_t tried = 0;
    const std::optional<Trial> best = best_product(bench, format, device, plan, tried);
    if (!best) return {};
    constexpr Seconds kShort{0.3};
    const Pace short_pace{Seconds(0), Seconds(0), bench.shortened(kShort), bench.shortened(kShort)};
    std::vector<Product> products;
    products.push_back({best->shape, figure(best->shape), {}, true});
    products.back().rates =
        bench.rates_of(products.back().figure, best->shape.flops(), best->call, bench.pace());
    for (const ProductShape& shape : plan.typical) {
      if (bench.is_over()) break;
      if (shape == best->shape) continue;
      products.push_back({shape, figure(shape), {}, false});
      products.back().rates = bench.rates_of(products.back().figure, shape.flops(),
                                             make_product(format, shape, device), short_pace);
    }
    move_highest_to_front(bench, products, [&](const ProductShape& shape) {
      return make_product(format, shape, device);
    });
    std::string& detail = products.front().figure.detail;
    if (!detail.empty()) detail += ", ";
    detail += "best of " + counted(tried, "shape");
    for (Product& one : products) {
      one.figure.is_best = &one == &products.front();
      bench.add(std::move(one.figure), one.rates);
    }
    return {};
  });
  if (!measured) bench.note(name + " products: " + measured.error().message());
}

}  // namespace profline::workload::ceilings
