#include "workload/session/internal/inputs.h"

#include <random>
#include <set>

namespace profline::workload {

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

}  // namespace profline::workload
