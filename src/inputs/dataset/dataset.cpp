#include "inputs/dataset/dataset.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <system_error>
#include <unordered_set>

#include "base/digests.h"
#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "inputs/dataset/internal/glob.h"
#include "inputs/dataset/internal/page_blocks.h"
#include "inputs/images/codec.h"
#include "settings/stage.h"

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

namespace fs = std::filesystem;

/// Why `path` cannot be run; empty if it can.
std::string why_not_a_file(const fs::path& path) {
  std::error_code cause;
  const fs::file_status status = fs::status(path, cause);
  if (status.type() == fs::file_type::not_found) return "no such file";
  if (cause) return os_error_words(cause.value());
  if (fs::is_directory(status)) return "a folder, not a file";
  return fs::is_regular_file(status) ? "" : "not a regular file";
}

/// Collects images without duplicates, in the order in which they are added.
class Collector {
 public:
  explicit Collector(fs::path root) : root_(std::move(root)) {}

  const fs::path& root() const { return root_; }

  void add_file(const fs::path& path) {
    std::error_code unresolved;
    fs::path real = fs::canonical(path, unresolved);
    if (unresolved) real = path;
    if (!seen_.insert(real.native()).second) return;
    listing_.images.push_back({.name = name_of(path), .source = std::move(real)});
  }

  void add_named(std::string_view name) {
    const fs::path path = root_ / name;
    if (std::string why = why_not_a_file(path); !why.empty()) {
      add_missing(name, std::move(why));
    } else {
      add_file(path);
    }
  }

  Result<std::size_t> add_matches(std::string_view pattern) {
    const std::vector<fs::path> found = PL_TRY(glob(root_, pattern));
    for (const fs::path& path : found) add_file(path);
    return found.size();
  }

  /// One image per line, relative to the root; blank lines are skipped.
  Result<void> add_list(const fs::path& list) {
    const std::string text = PL_TRY(read_file(list));
    std::string_view rest = text;
    if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
    std::uint32_t number = 0;
    for (const std::string_view line : lines(rest)) {
      ++number;
      const std::string_view name = trim(line);
      if (name.find('\0') != std::string_view::npos) {
        return Error(ErrorKind::Parse, "a name with a NUL byte: this is not a list of images",
                     {list.string(), number, 0});
      }
      if (!name.empty()) add_named(name);
    }
    return {};
  }

  void add_missing(std::string_view name, std::string why) {
    listing_.missing.push_back({.name = std::string(name), .why = std::move(why)});
  }

  Listing take() { return std::move(listing_); }

 private:
  std::string name_of(const fs::path& path) const {
    const fs::path relative = path.lexically_normal().lexically_relative(root_.lexically_normal());
    const bool is_below =
        !relative.empty() && relative.native() != "." && !relative.native().starts_with("..");
    return (is_below ? relative : path.lexically_normal()).string();
  }

  fs::path root_;
  Listing listing_;
  std::unordered_set<std::string> seen_;
};

bool has_ending(const fs::path& path, std::initializer_list<std::string_view> endings) {
  std::string ending = path.extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

/// `a: no such file, b: no such file and 18 more`.
std::string summary_of(const std::vector<Missing>& missing) {
  constexpr std::size_t kTold = 3;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(missing.size(), kTold); ++i) {
    texts.push_back(missing[i].to_string());
  }
  std::string text = join(texts, ", ");
  if (missing.size() > kTold) {
    text.append(" and ").append(std::to_string(missing.size() - kTold)).append(" more");
  }
  return text;
}

Result<Listing> finished(Collector& collector, const std::string& dataset,
                         const std::string& looked_for) {
  Listing listing = collector.take();
  if (!listing.images.empty()) return listing;
  const std::string subject = "dataset '" + dataset + "' has no images: ";
  if (!listing.missing.empty())
    return Error(ErrorKind::NotFound, subject + summary_of(listing.missing));
  return Error(ErrorKind::NotFound, subject + looked_for);
}

/// The file list: relative to where the command was started, else in the dataset.
Result<fs::path> find_list(const fs::path& name, const fs::path& cwd, const fs::path& root) {
  std::error_code unknown;
  std::vector<std::string> tried;
  for (const fs::path& folder : {cwd, root}) {
    const fs::path list = (folder / name).lexically_normal();
    if (fs::exists(list, unknown)) return list;
    if (std::find(tried.begin(), tried.end(), list.string()) == tried.end()) {
      tried.push_back(list.string());
    };
  }
  return Error(ErrorKind::NotFound,
               "dataset.subset_filelist: there is no file " + join(tried, " and no file "));
}

Result<Listing> list(const settings::ImageFolder& dataset, const fs::path& cwd) {
  Collector collector(cwd / dataset.root);
  std::error_code unknown;
  if (!fs::is_directory(collector.root(), unknown)) {
    return Error(ErrorKind::NotFound, "dataset '" + dataset.name + "': no folder " +
                                          collector.root().string() +
                                          "; set dataset.root, or use dataset=synthetic");
  }
  if (dataset.subset_filelist) {
    const fs::path list = PL_TRY(find_list(*dataset.subset_filelist, cwd, collector.root()));
    PL_TRY(collector.add_list(list).during("reading the list of dataset '" + dataset.name + "'"));
    return finished(collector, dataset.name, list.string() + " is empty");
  }
  for (const std::string& pattern : dataset.fallback_patterns) {
    PL_TRY(collector.add_matches(pattern));
  }
  return finished(collector, dataset.name,
                  "nothing in " + collector.root().string() + " matches " +
                      join(dataset.fallback_patterns, " or "));
}

Result<void> add_folder(Collector& collector, const fs::path& entry) {
  const std::vector<fs::path> files = PL_TRY(glob(collector.root() / entry, "*"));
  bool is_empty = true;
  for (const fs::path& file : files) {
    if (!has_ending(file, {".png", ".jpg", ".jpeg"})) continue;
    collector.add_file(file);
    is_empty = false;
  }
  if (is_empty) collector.add_missing(entry.native(), "a folder without .png, .jpg or .jpeg files");
  return {};
}

Result<void> add_entry(Collector& collector, const fs::path& entry) {
  const fs::path path = collector.root() / entry;
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return add_folder(collector, entry);
  const bool exists = fs::exists(path, unknown);
  if (!exists && is_pattern(entry.native())) {
    if (PL_TRY(collector.add_matches(entry.native())) == 0) {
      collector.add_missing(entry.native(), "matches no file");
    }
    return {};
  }
  if (exists && has_ending(entry, {".txt"})) return collector.add_list(path);
  collector.add_named(entry.native());
  return {};
}

Result<Listing> list(const settings::ImageFiles& dataset, const fs::path& cwd) {
  Collector collector(cwd / dataset.root);
  for (const fs::path& entry : dataset.files) PL_TRY(add_entry(collector, entry));
  return finished(collector, dataset.name, "dataset.files is empty");
}

Result<Listing> list(const settings::SyntheticPages& dataset, const fs::path&) {
  const images::Limits limits;
  for (const settings::PageSize& size : dataset.page_sizes) {
    if (std::uint64_t{size.width} * size.height <= limits.max_pixels) continue;
    return Error(ErrorKind::Config, "dataset '" + dataset.name + "': a page of " +
                                        std::to_string(size.width) + 'x' +
                                        std::to_string(size.height) + " is too large; at most " +
                                        std::to_string(limits.max_pixels) + " pixels");
  }
  Listing listing;
  for (std::uint32_t i = 0; i < dataset.pages; ++i) {
    const settings::PageSize& size = dataset.page_sizes[i % dataset.page_sizes.size()];
    char name[16];
    std::snprintf(name, sizeof name, "page-%04u", i + 1);
    listing.images.push_back(
        {.name = name,
         .source = SyntheticPage{
             .number = i + 1, .size = {size.width, size.height}, .seed = dataset.seed}});
  }
  return listing;
}

/// The result of sample() for that many images has to fit into memory.
Result<void> check_requests(std::size_t images, const settings::Dataset& dataset) {
  const settings::Sampling& sampling = dataset.sampling();
  const std::uint64_t an_epoch =
      sampling.num_samples_per_epoch
          ? std::min<std::uint64_t>(images, *sampling.num_samples_per_epoch)
          : images;
  const std::uint64_t requests = an_epoch * sampling.num_epochs;
  if (requests <= settings::kMostImages) return {};
  return Error(ErrorKind::Config,
               "dataset '" + dataset.name() + "': " + counted(an_epoch, "image") + " in " +
                   counted(sampling.num_epochs, "epoch", "epochs") + " are " +
                   std::to_string(requests) + " requests; at most " +
                   std::to_string(settings::kMostImages) +
                   ": lower dataset.sampling.num_samples_per_epoch or num_epochs");
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

Result<Listing> list_images(const settings::Dataset& dataset, const fs::path& cwd) {
  Listing listing =
      PL_TRY(std::visit([&](const auto& held) { return list(held, cwd); }, dataset.images));
  PL_TRY(check_requests(listing.images.size(), dataset));
  return listing;
}

}  // namespace profline::dataset
