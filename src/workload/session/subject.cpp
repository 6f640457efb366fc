#include "workload/session/internal/subject.h"

#include <algorithm>
#include <random>
#include <set>
#include <thread>

#include <ATen/Context.h>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "predictions/prediction.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "schema/scalar_codecs.h"
#include "workload/model/layers.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

std::string device_name(const settings::Device& device) {
  if (device.kind != settings::Device::Kind::Auto) return device.to_string();
  return at::hasCUDA() && at::getNumGPUs() > 0 ? "cuda:0" : "cpu";
}

bool is_deepseek(const RunRequest& request) {
  return std::holds_alternative<settings::deepseek_ocr::Subject>(request.settings.subject);
}

std::size_t items_per_request(const RunRequest& request) {
  const auto* subject = std::get_if<settings::deepseek_ocr::Subject>(&request.settings.subject);
  return subject == nullptr ? 1 : subject->infer.batch_size;
}

}  // namespace

Result<Inputs> choose_inputs(const RunRequest& request) {
  const settings::Dataset& dataset = request.settings.dataset;
  dataset::Listing listing = PL_TRY(dataset::list_images(dataset, request.base));
  Inputs inputs;
  for (const dataset::Missing& missing : listing.missing) {
    inputs.notes.push_back("dataset: " + missing.to_string());
  }
  const settings::Sampling& sampling = dataset.sampling();
  std::uint64_t seed = request.sampling_seed.value_or(0);
  if (sampling.randomize && !sampling.seed && !request.sampling_seed) {
    seed = std::random_device()();
    inputs.notes.push_back("dataset: the order was drawn with --sampling-seed " +
                           std::to_string(seed));
  }
  inputs.items = dataset::sample(listing.images, sampling, seed);
  // A limit set by a stage is reported by the stage.
  if (request.samples) {
    const std::vector<Items> requests = in_requests(inputs.items, items_per_request(request));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(requests.size(), *request.samples); ++i) {
      kept += requests[i].size();
    }
    inputs.items.resize(kept);
  }
  return inputs;
}

std::vector<Items> in_requests(Items items, std::size_t size) {
  std::vector<Items> requests;
  std::size_t first = 0;
  for (std::size_t i = 1; i <= items.size(); ++i) {
    const bool goes_on =
        i < items.size() && i - first < size && items[i].epoch == items[first].epoch;
    if (goes_on) continue;
    requests.push_back(items.subspan(first, i - first));
    first = i;
  }
  return requests;
}

std::map<std::string, Node> attributes_of(const dataset::Item& item, const Means& means) {
  return {{"image", Node::string(item.image.name)},  {"epoch", Node::integer(item.epoch)},
          {"index", Node::integer(item.index)},      {"dtype", Node::string(means.dtype)},
          {"threads", Node::integer(means.threads)}, {"engine", Node::string(means.engine)}};
}

Node inputs_document(const std::string& dataset, const std::vector<dataset::Item>& items) {
  Node images = Node::list();
  std::set<std::string> seen;
  for (const dataset::Item& item : items) {
    if (!seen.insert(item.image.name).second) continue;
    NodeMap map;
    map.set("image", Node::string(item.image.name));
    const auto* path = std::get_if<std::filesystem::path>(&item.image.source);
    map.set("path", path == nullptr ? Node() : Node::string(path->string()));
    if (const auto facts = dataset::facts(item.image)) {
      map.set("bytes", Node::integer(static_cast<std::int64_t>(facts->bytes)));
      map.set("sha256", Node::string(facts->sha256));
      map.set("width", Node::integer(facts->size.width));
      map.set("height", Node::integer(facts->size.height));
    } else {
      map.set("problem", Node::string(facts.error().to_string()));
    }
    images.as_list().push_back(Node::map(std::move(map)));
  }
  NodeMap document;
  document.set("schema", Node::string("profline.inputs/1"));
  document.set("dataset", Node::string(dataset));
  document.set("runs", Node::integer(static_cast<std::int64_t>(items.size())));
  document.set("images", std::move(images));
  return Node::map(std::move(document));
}

Result<Machine> open_machine(const settings::Root& settings) {
  const at::Device device = PL_TRY(open_device(device_name(settings.device)));
  const std::uint32_t threads = settings.pipeline.workload.threads.value_or(
      std::max(1U, std::thread::hardware_concurrency()));
  use_threads(static_cast<int>(threads));
  return Machine{device, PL_TRY(make_device_clock(device)), threads};
}

at::ScalarType scalar_type(settings::Dtype dtype) {
  switch (dtype) {
    case settings::Dtype::Bf16:
      return at::kBFloat16;
    case settings::Dtype::Fp16:
      return at::kHalf;
    case settings::Dtype::Fp32:
      break;
  }
  return at::kFloat;
}

std::string dtype_text(settings::Dtype dtype) {
  return std::string(schema::name_of(dtype));
}

Result<std::unique_ptr<Subject>> open_subject(const RunRequest& request, const Machine& machine,
                                              Progress& progress) {
  return is_deepseek(request) ? open_deepseek_subject(request, machine, progress)
                              : open_dummy_subject(request, machine);
}

Result<Node> trace_subject(const RunRequest& request) {
  if (is_deepseek(request)) return trace_deepseek(request);
  return Error(ErrorKind::Config, "mode static_trace supports only deepseek_ocr");
}

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
  return {read.item.image.name, read.item.epoch, read.item.index, read.text};
}

/// The request of one image of a batch: its tokens, and the times of all.
Request part_of(const Request& batch, std::size_t index) {
  Request part = batch;
  const auto set = [&](std::optional<std::uint64_t>& count, const char* attribute) {
    const std::vector<std::uint64_t> each = batch.counts(attribute);
    if (index < each.size()) count = each[index];
  };
  set(part.prompt_tokens, kPromptTokensEachAttribute);
  set(part.new_tokens, kNewTokensEachAttribute);
  const std::vector<std::string> finish = batch.texts(kFinishEachAttribute);
  if (index < finish.size()) part.attributes["finish"] = Node::string(finish[index]);
  return part;
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
      progress, "drawings",
      std::min<std::size_t>(texts.size(), output.extra.deepseek_ocr.visualization.max_images));
  for (std::size_t i = 0; i < texts.size() && pictures.wants_more(); ++i) {
    const images::Picture picture = PL_TRY(dataset::load(texts[i].item.image));
    predictions[i].pictures = PL_TRY(pictures.add(predictions[i], picture));
    loop.advance();
  }
  return {};
}

}  // namespace

std::vector<ReadText> read_texts(Items items, const Request& request,
                                 std::span<const std::string> texts) {
  std::vector<ReadText> read;
  for (std::size_t i = 0; i < std::min(items.size(), texts.size()); ++i) {
    read.push_back({items[i], part_of(request, i), texts[i]});
  }
  return read;
}

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
  std::vector<Request> parts;
  for (const Request& request : requests) {
    const std::size_t images = std::max<std::size_t>(request.images().size(), 1);
    for (std::size_t i = 0; i < images; ++i) parts.push_back(part_of(request, i));
  }
  std::vector<ReadText> found;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    const Node node = PL_TRY(parse_json(line, texts_path));
    TextRow row = PL_TRY(schema::read<TextRow>(node));
    if (number >= parts.size()) break;
    const Request& request = parts[number++];
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
