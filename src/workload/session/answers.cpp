#include "workload/session/internal/answers.h"

#include <algorithm>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "predictions/prediction.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "schema/scalar_codecs.h"
#include "workload/model/scopes.h"

namespace profline::workload {
namespace {

constexpr double kNsPerMs = 1e6;

struct TextRow {
  std::string image;
  std::uint32_t epoch = 0;
  std::uint32_t index = 0;
  std::string text;
};
constexpr auto fields(std::type_identity<TextRow>) {
  using schema::field;
  return field_list(field("image", &TextRow::image, "its name in the dataset").required(),
                    field("epoch", &TextRow::epoch, "from 0").required(),
                    field("index", &TextRow::index, "in its epoch, from 0").required(),
                    field("text", &TextRow::text, "all that was generated").required());
}

TextRow row_of(const ReadText& read) {
  const auto number = [&](const char* name) {
    return static_cast<std::uint32_t>(read.request.integer(name).value_or(0));
  };
  return {read.request.text("image"), number("epoch"), number("index"), read.text};
}

predictions::Prediction prediction_of(const ReadText& read,
                                      std::span<const std::string> special_tokens) {
  const Request& request = read.request;
  const auto ms = [&](std::initializer_list<std::string_view> names) {
    double sum = 0;
    for (const Phase& phase : request.phases) {
      const bool is_meant =
          std::find(names.begin(), names.end(), last_name(phase.path)) != names.end();
      if (is_meant) sum += static_cast<double>(phase.ns) / kNsPerMs;
    }
    return sum;
  };
  const TextRow row = row_of(read);
  predictions::Prediction prediction;
  prediction.image = row.image;
  prediction.epoch = row.epoch;
  prediction.index = row.index;
  prediction.text_raw = read.text;
  prediction.text_clean = predictions::clean_text(read.text, special_tokens);
  prediction.prompt_tokens = request.prompt_tokens.value_or(0);
  prediction.tokens = request.new_tokens.value_or(0);
  const std::string finish = request.text("finish");
  prediction.finish = finish.empty() ? "none" : finish;
  prediction.prefill_ms = ms({scope::kPrefill});
  prediction.decode_ms = ms({scope::kDecode});
  prediction.vision_ms = ms({scope::kSam, scope::kClip, scope::kProjector});
  return prediction;
}

/// Draws pictures of the first images, and records in each prediction where its own are.
Result<void> draw(const std::filesystem::path& root, const settings::Output& output,
                  std::span<const ReadText> texts, std::span<predictions::Prediction> predictions,
                  Progress& progress) {
  predictions::Visualisations pictures(root, output.extra.deepseek_ocr.visualization);
  Loop loop(
      progress, "pictures",
      std::min<std::size_t>(texts.size(), output.extra.deepseek_ocr.visualization.max_images));
  for (std::size_t i = 0; i < texts.size() && pictures.wants_more(); ++i) {
    const images::Picture picture = PL_TRY(dataset::load(texts[i].item.image));
    predictions[i].pictures = PL_TRY(pictures.add(predictions[i], picture));
    loop.advance();
  }
  return {};
}

}  // namespace

std::string texts_jsonl(std::span<const ReadText> texts) {
  std::string jsonl;
  for (const ReadText& read : texts) {
    jsonl += write_json(schema::write(row_of(read)), {.indent = 0}).value() + '\n';
  }
  return jsonl;
}

Result<std::vector<ReadText>> load_texts(const std::filesystem::path& folder,
                                         std::span<const dataset::Item> items) {
  const std::string requests_path = (folder / run::files::kRequests).string();
  const std::vector<Request> requests =
      PL_TRY(parse_requests(PL_TRY(read_file(requests_path)), requests_path));
  const std::string texts_path = (folder / run::files::kTexts).string();
  const std::string text = PL_TRY(read_file(texts_path));
  std::vector<ReadText> found;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    const Node node = PL_TRY(parse_json(line, texts_path));
    TextRow row = PL_TRY(schema::read<TextRow>(node));
    if (number >= requests.size()) break;
    const Request& request = requests[number++];
    for (const dataset::Item& item : items) {
      if (item.image.name == row.image && item.epoch == row.epoch && item.index == row.index) {
        found.push_back({item, request, std::move(row.text)});
        break;
      }
    }
  }
  return found;
}

Result<std::vector<std::filesystem::path>> write_answers(const std::filesystem::path& folder,
                                                         const settings::Output& output,
                                                         const Subject& subject,
                                                         std::span<const ReadText> texts,
                                                         Progress& progress) {
  std::vector<std::filesystem::path> written;
  if (texts.empty() || !(output.prediction.enable || output.visualization.enable)) return written;
  std::vector<std::string> special;
  if (output.extra.deepseek_ocr.prediction.strip_special_tokens) special = subject.special_tokens();
  std::vector<predictions::Prediction> predictions;
  for (const ReadText& read : texts) predictions.push_back(prediction_of(read, special));
  if (output.visualization.enable && subject.reads_pictures()) {
    const std::filesystem::path root = folder / output.visualization_dir();
    PL_TRY(create_folders(root));
    PL_TRY(draw(root, output, texts, predictions, progress));
    written.push_back(root);
  }
  if (output.prediction.enable) {
    const std::filesystem::path path = folder / output.prediction_dir() / run::files::kPredictions;
    PL_TRY(create_folders(path.parent_path()));
    PL_TRY(predictions::write_predictions(path, predictions));
    written.push_back(path);
  }
  return written;
}

}  // namespace profline::workload
