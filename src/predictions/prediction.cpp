#include "predictions/prediction.h"

#include "base/atomic_file.h"
#include "base/strings.h"
#include "formats/json_write.h"

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

}  // namespace profline::predictions
