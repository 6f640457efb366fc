#include "inputs/dataset/dataset.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"
#include "base/files.h"
#include "base/sha256.h"
#include "inputs/dataset/internal/random.h"
#include "inputs/images/decode.h"

namespace profline::dataset {
namespace {

using internal::Random;

void shuffle(std::vector<std::size_t>& order, Random& random) {
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
}

Facts facts_of(const images::Picture& picture) {
  const std::string_view bytes(reinterpret_cast<const char*>(picture.rgb.data()),
                               picture.rgb.size());
  return {.bytes = bytes.size(), .sha256 = sha256_hex(bytes), .size = picture.size()};
}

}  // namespace

std::vector<Item> sample(const std::vector<Image>& images, const settings::Sampling& sampling,
                         std::uint64_t seed_if_null) {
  PL_ASSERT(!images.empty(), "a listing has images");
  const std::size_t all = images.size();
  const std::size_t wanted = sampling.num_samples_per_epoch.value_or(0);
  const std::size_t count = sampling.num_samples_per_epoch ? std::min(wanted, all) : all;
  Random random(sampling.seed.value_or(seed_if_null));
  std::vector<std::size_t> order(all);
  std::vector<Item> items;
  items.reserve(count * sampling.num_epochs);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::uint32_t epoch = 0; epoch < sampling.num_epochs; ++epoch) {
    const std::size_t first = sampling.randomize ? 0 : epoch * wanted % all;
    if (sampling.randomize) {
      std::iota(order.begin(), order.end(), std::size_t{0});
      shuffle(order, random);
    }
    for (std::uint32_t index = 0; index < count; ++index) {
      items.push_back(
          {.image = images[order[(first + index) % all]], .epoch = epoch, .index = index});
    }
  }
  return items;
}

Result<images::Picture> load(const Image& image) {
  if (const auto* page = std::get_if<SyntheticPage>(&image.source)) return draw_page(*page);
  return images::load(std::get<std::filesystem::path>(image.source));
}

Result<Facts> facts(const Image& image) {
  if (const auto* page = std::get_if<SyntheticPage>(&image.source)) {
    return facts_of(draw_page(*page));
  }
  const auto& path = std::get<std::filesystem::path>(image.source);
  const std::string bytes = PL_TRY(read_file(path));
  const images::Header header =
      PL_TRY(images::read_header(bytes).during("reading " + path.string()));
  return Facts{.bytes = bytes.size(), .sha256 = sha256_hex(bytes), .size = header.size};
}

}  // namespace profline::dataset
