#include "predictions/prediction.h"

#include <algorithm>
#include <cmath>

#include "base/atomic_file.h"
#include "base/digests.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "inputs/images/codec.h"
#include "inputs/images/picture.h"
#include "predictions/internal/layout.h"
#include "run/names/artifact_names.h"

namespace profline::predictions {
namespace {

/// As DeepSeek's tokenizer writes it, with full-width bars and low blocks.
constexpr std::string_view kEndOfSentence =
    "<\xef\xbd\x9c"
    "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>";

Node count(std::uint64_t value) {
  return Node::integer(static_cast<std::int64_t>(value));
}

void remove_all(std::string& text, std::string_view part) {
  if (part.empty()) return;
  std::size_t at = 0;
  while ((at = text.find(part, at)) != std::string::npos) text.erase(at, part.size());
}

Node row(const Prediction& prediction) {
  const double tokens_per_s =
      prediction.decode_ms > 0 ? static_cast<double>(prediction.tokens) * 1e3 / prediction.decode_ms
                               : 0.0;
  NodeMap map;
  map.set("schema", Node::string("profline.prediction/1"));
  map.set("image", Node::string(prediction.image));
  map.set("epoch", count(prediction.epoch));
  map.set("index", count(prediction.index));
  map.set("text_raw", Node::string(prediction.text_raw));
  map.set("text_clean", Node::string(prediction.text_clean));
  map.set("prompt_tokens", count(prediction.prompt_tokens));
  map.set("tokens", count(prediction.tokens));
  map.set("finish", Node::string(prediction.finish));
  map.set("prefill_ms", Node::real(prediction.prefill_ms));
  map.set("decode_ms", Node::real(prediction.decode_ms));
  map.set("vision_ms", Node::real(prediction.vision_ms));
  map.set("tokens_per_s", Node::real(tokens_per_s));
  map.set("pictures", prediction.pictures ? Node::string(*prediction.pictures) : Node());
  return Node::map(std::move(map));
}

namespace fs = std::filesystem;
using images::Picture;

std::string crop_name(std::uint32_t number) {
  return "images/" + std::to_string(number) + ".jpg";
}

Node box_node(const PlacedBox& box) {
  NodeMap map;
  map.set("x", count(box.area.x));
  map.set("y", count(box.area.y));
  map.set("w", count(box.area.width));
  map.set("h", count(box.area.height));
  map.set("text", Node::string(box.label));
  map.set("crop", box.image ? Node::string(crop_name(*box.image)) : Node());
  return Node::map(std::move(map));
}

Node info(const Prediction& prediction, images::Size picture, const Layout& layout) {
  NodeMap timings;
  timings.set("prefill", Node::real(prediction.prefill_ms));
  timings.set("decode", Node::real(prediction.decode_ms));
  timings.set("vision", Node::real(prediction.vision_ms));
  Node::List boxes;
  for (const PlacedBox& box : layout.boxes) boxes.push_back(box_node(box));
  Node::List skipped;
  for (const std::string& each : layout.skipped) skipped.push_back(Node::string(each));
  NodeMap map;
  map.set("schema", Node::string("profline.pictures/1"));
  map.set("source_image", Node::string(prediction.image));
  map.set("epoch", count(prediction.epoch));
  map.set("width", count(picture.width));
  map.set("height", count(picture.height));
  map.set("text_raw", Node::string(prediction.text_raw));
  map.set("timings_ms", Node::map(std::move(timings)));
  map.set("boxes", Node::list(std::move(boxes)));
  map.set("skipped", Node::list(std::move(skipped)));
  return Node::map(std::move(map));
}

Result<void> write_jpeg(const fs::path& path, const Picture& picture) {
  const std::string bytes = PL_TRY(images::encode_jpeg(picture).during("writing " + path.string()));
  return write_file_atomic(path, bytes);
}

/// At most `width` wide, with the image's own proportions.
Picture thumbnail(const Picture& picture, std::uint32_t width) {
  if (picture.width <= width) return picture;
  const double height = static_cast<double>(picture.height) * width / picture.width;
  return images::resize_bicubic(
      picture, {width, std::max(1U, static_cast<std::uint32_t>(std::lround(height)))});
}

Result<void> write_crops(const fs::path& folder, const Picture& picture, const Layout& layout) {
  for (const PlacedBox& box : layout.boxes) {
    if (!box.image) continue;
    const fs::path path = folder / crop_name(*box.image);
    PL_TRY(create_folders(path.parent_path()));
    PL_TRY(write_jpeg(path, images::crop(picture, box.area)));
  }
  return {};
}

}  // namespace

std::string clean_text(std::string_view raw, std::span<const std::string> special_tokens) {
  raw = trim(raw);
  if (raw.ends_with(kEndOfSentence)) raw.remove_suffix(kEndOfSentence.size());
  std::string text(raw);
  for (const std::string& token : special_tokens) remove_all(text, token);
  return std::string(trim(text));
}

Result<std::string> prediction_line(const Prediction& prediction) {
  std::string line = PL_TRY(write_json(row(prediction), {.indent = 0})
                                .during("prediction of '" + prediction.image + "'"));
  return line += '\n';
}

Result<void> write_predictions(const std::filesystem::path& path,
                               std::span<const Prediction> predictions) {
  AtomicFile file = PL_TRY(AtomicFile::create(path));
  for (const Prediction& prediction : predictions) {
    PL_TRY(file.append(PL_TRY(prediction_line(prediction))));
  }
  return file.commit();
}

std::string picture_folder(std::string_view image, std::uint32_t epoch) {
  constexpr std::size_t kDigits = 16;
  std::string name = sha256_hex(image).substr(0, kDigits);
  if (epoch > 0) name.append("-e").append(std::to_string(epoch));
  return name;
}

Result<void> write_visualisation(const fs::path& folder, const Prediction& prediction,
                                 const Picture& picture, std::uint32_t thumbnail_width) {
  const Layout layout = lay_out(clean_text(prediction.text_raw), picture.size());
  const std::string json = PL_TRY(write_json(info(prediction, picture.size(), layout)));
  PL_TRY(create_folders(folder));
  PL_TRY(write_crops(folder, picture, layout));
  const Picture drawn = draw_layout(picture, layout);
  PL_TRY(write_jpeg(folder / "result_with_boxes.jpg", drawn));
  PL_TRY(write_jpeg(folder / "thumbnail.jpg", thumbnail(drawn, thumbnail_width)));
  PL_TRY(write_file_atomic(folder / "result.mmd", layout.markdown));
  return write_file_atomic(folder / run::files::kPicturesFacts, json);
}

Result<std::optional<std::string>> Visualisations::add(const Prediction& prediction,
                                                       const Picture& picture) {
  if (!wants_more()) return std::optional<std::string>();
  const std::string name = picture_folder(prediction.image, prediction.epoch);
  PL_TRY(write_visualisation(root_ / name, prediction, picture, settings_.thumbnail_width)
             .during("pictures of '" + prediction.image + "'"));
  ++written_;
  return std::optional<std::string>(name);
}

}  // namespace profline::predictions
