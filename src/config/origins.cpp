#include "config/origins.h"

#include <algorithm>
#include <optional>
#include <span>

#include "config/interpolation/value.h"

namespace profline::config {
namespace {

using Steps = std::span<const std::string>;

/// What `tree`, placed at `place`, says about the value at `key`: the value, a value that replaces
/// its parent, or nothing.
const Node* found_in(const Node& tree, Steps place, Steps key) {
  const std::size_t shared = std::min(place.size(), key.size());
  if (!std::equal(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(shared),
                  key.begin())) {
    return nullptr;
  }
  const Node* node = &tree;
  for (const std::string& step : key.subspan(shared)) {
    if (node->is_scalar()) break;
    const Node* next = nullptr;
    if (node->is_map()) {
      next = node->find(step);
      if (next == nullptr) return nullptr;
    } else {
      const std::optional<std::int64_t> index = list_index(step);
      const Node::List& items = node->as_list();
      const bool inside = index && *index >= 0 && static_cast<std::uint64_t>(*index) < items.size();
      // A shorter list has replaced the one that had this item.
      if (!inside) break;
      next = &items[static_cast<std::size_t>(*index)];
    }
    node = next;
  }
  return node;
}

}  // namespace

void Origins::add_config(std::string name, std::string_view package,
                         std::shared_ptr<const LoadedConfig> config) {
  std::vector<std::string> steps;
  if (!package.empty()) steps = split_key(package);
  layers_.push_back({std::move(name), std::move(steps), std::move(config)});
}

void Origins::add_override(const Override& given) {
  Change change;
  change.text = given.text;
  change.steps = split_key(given.key);
  change.position = {given.place.source, 1, given.key_column};
  change.is_deletion = given.type == OverrideType::Delete;
  if (given.value && !change.is_deletion) {
    if (Result<Node> value = to_node(*given.value, given.place.source)) {
      change.value = std::move(*value);
    }
  }
  changes_.push_back(std::move(change));
}

std::vector<Origin> Origins::history(std::string_view key) const {
  const std::vector<std::string> steps = split_key(key);
  std::vector<Origin> out;
  for (const Layer& layer : layers_) {
    const Node* found = found_in(layer.config->tree, layer.steps, steps);
    if (found == nullptr || (is_missing(*found) && !out.empty())) continue;
    out.push_back({found->position(), layer.name, *found});
  }
  for (const Change& change : changes_) {
    const Node* found = found_in(change.value, change.steps, steps);
    if (found == nullptr) continue;
    out.push_back({change.position, change.text, *found, true, change.is_deletion});
  }
  return out;
}

}  // namespace profline::config
