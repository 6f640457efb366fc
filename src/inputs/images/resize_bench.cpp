#include <benchmark/benchmark.h>

#include "inputs/images/internal/parts.h"
#include "inputs/images/picture.h"
#include "inputs/images/testing_pictures.h"
#include "inputs/images/views.h"

namespace {

using namespace profline::images;  // NOLINT(google-build-using-namespace): a program of one file

Picture noise(Size size) {
  Picture picture(size);
  std::uint32_t state = 1;
  for (std::uint8_t& value : picture.rgb) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<std::uint8_t>(state >> 24U);
  }
  return picture;
}

/// A direct implementation: pixel by pixel, channel by channel.
Picture resize_naively(const Picture& picture, Size size) {
  const internal::Axis across = internal::bicubic_axis(picture.width, size.width);
  const internal::Axis down = internal::bicubic_axis(picture.height, size.height);
  Picture middle(Size{size.width, picture.height});
  for (std::size_t y = 0; y < middle.height; ++y) {
    for (std::size_t x = 0; x < middle.width; ++x) {
      const internal::Window& window = across.windows[x];
      internal::weigh_rows_plainly(picture.row(y) + window.first * Picture::kChannels,
                                   Picture::kChannels, &across.weights[window.weights],
                                   window.count, middle.row(y) + x * Picture::kChannels,
                                   Picture::kChannels);
    }
  }
  Picture result(size);
  for (std::size_t y = 0; y < size.height; ++y) {
    const internal::Window& window = down.windows[y];
    internal::weigh_rows_plainly(middle.row(window.first), middle.row_bytes(),
                                 &down.weights[window.weights], window.count, result.row(y),
                                 result.row_bytes());
  }
  return result;
}

/// A page scanned at 200 dpi, to the sizes that mode gundam needs.
constexpr Size kPage{1654, 2339};
constexpr Size kTargets[] = {{724, 1024}, {1280, 1920}};

template <typename Resize>
void run(benchmark::State& state, const Resize& resize) {
  const Picture page = noise(kPage);
  const Size target = kTargets[state.range(0)];
  for (auto _ : state) benchmark::DoNotOptimize(resize(page, target));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(page.rgb.size()));
}

void resize_page(benchmark::State& state) {
  run(state, resize_bicubic);
}
BENCHMARK(resize_page)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void resize_page_naively(benchmark::State& state) {
  run(state, resize_naively);
}
BENCHMARK(resize_page_naively)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void make_gundam_views(benchmark::State& state) {
  const Picture page = noise(kPage);
  const auto settings = mode("gundam");
  for (auto _ : state) benchmark::DoNotOptimize(make_views(page, settings));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(page.rgb.size()));
}
BENCHMARK(make_gundam_views)->Unit(benchmark::kMillisecond);

void normalise_view(benchmark::State& state) {
  const Picture view = noise({1024, 1024});
  std::vector<float> planes(view.rgb.size());
  for (auto _ : state) {
    normalise(view, planes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(view.rgb.size()));
}
BENCHMARK(normalise_view)->Unit(benchmark::kMillisecond);

}  // namespace
