#include "settings/dataset.h"

#include "base/strings.h"
#include "schema/read.h"

namespace profline::settings {

Checks validate(const ImageFolder& dataset) {
  Checks checks;
  if (!dataset.subset_filelist && dataset.fallback_patterns.empty()) {
    checks.fail(dataset.fallback_patterns,
                "must name a pattern such as images/*.png when subset_filelist is null");
  }
  return checks;
}

Checks validate(const SyntheticPages& dataset) {
  Checks checks;
  if (dataset.page_sizes.empty()) {
    checks.fail(dataset.page_sizes, "must name a size such as 612x792");
  }
  return checks;
}

Checks validate(const ImageFiles& dataset) {
  Checks checks;
  if (dataset.files.empty()) {
    checks.fail(dataset.files, "must name an image: 'dataset.files=[page.png]'");
  }
  return checks;
}

const std::string& Dataset::name() const {
  return std::visit([](const auto& held) -> const std::string& { return held.name; }, images);
}

const Sampling& Dataset::sampling() const {
  return std::visit([](const auto& held) -> const Sampling& { return held.sampling; }, images);
}

}  // namespace profline::settings

namespace profline::schema {

void Codec<settings::PageSize>::read(const Node& node, settings::PageSize& value, Reader& reader) {
  const std::string_view text = node.as_string();
  const std::size_t cross = text.find('x');
  if (cross != std::string_view::npos) {
    const auto width = whole_number<std::uint32_t>(text.substr(0, cross));
    const auto height = whole_number<std::uint32_t>(text.substr(cross + 1));
    if (width.value_or(0) > 0 && height.value_or(0) > 0) {
      value = {*width, *height};
      return;
    }
  }
  reader.mismatch(node);
}

Node Codec<settings::PageSize>::write(const settings::PageSize& value) {
  return Node::string(std::to_string(value.width) + 'x' + std::to_string(value.height));
}

void Codec<settings::Dataset>::read(const Node& node, settings::Dataset& value, Reader& reader) {
  const auto read_as = [&]<typename T>(T images) {
    Codec<T>::read(node, images, reader);
    value.images = std::move(images);
  };
  // A wrong source is reported by the field of that name, whichever struct reads it.
  const Node* source = node.find("source");
  const bool has_name = source != nullptr && source->is_string();
  if (has_name && source->as_string() == name_of(settings::DatasetSource::Synthetic)) {
    read_as(settings::SyntheticPages{});
  } else if (has_name && source->as_string() == name_of(settings::DatasetSource::Files)) {
    read_as(settings::ImageFiles{});
  } else {
    read_as(settings::ImageFolder{});
  }
}

Node Codec<settings::Dataset>::write(const settings::Dataset& value) {
  return std::visit([]<typename T>(const T& held) { return Codec<T>::write(held); }, value.images);
}

}  // namespace profline::schema
