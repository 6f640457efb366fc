#include "workload/session/internal/subject.h"

#include <random>
#include <set>
#include <thread>

#include <ATen/Context.h>

#include "schema/scalar_codecs.h"
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
  if (request.samples && inputs.items.size() > *request.samples) {
    inputs.items.resize(*request.samples);
  }
  return inputs;
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

}  // namespace profline::workload
