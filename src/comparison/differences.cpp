#include "comparison/differences.h"

#include <map>

#include "base/strings.h"
#include "schema/diff.h"

namespace profline::comparison {
namespace {

/// `gpus.0.sm_mhz`: as the clocks happened to be when the run began.
bool is_momentary(std::string_view key) {
  return key == "cpu.mhz" || key.ends_with(".sm_mhz") || key.ends_with(".memory_mhz");
}

std::vector<Difference> differences(const std::optional<Node>& a, const std::optional<Node>& b,
                                    bool (*is_left_out)(std::string_view)) {
  std::vector<Difference> found;
  const Node nothing = Node::map();
  if (!a && !b) return found;
  for (schema::Change& change : schema::diff(a.value_or(nothing), b.value_or(nothing))) {
    if (is_left_out(change.path)) continue;
    found.push_back({std::move(change.path), std::move(change.before), std::move(change.after)});
  }
  return found;
}

std::string text_at(const Node& entry, std::string_view key) {
  const Node* value = entry.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

/// What was read, by name: the digest of each image, or of each file of a user's command.
std::map<std::string, std::string> digests(const Node& inputs) {
  std::map<std::string, std::string> found;
  if (!inputs.is_map()) return found;
  for (const auto& [key, list] : inputs.as_map()) {
    if (!list.is_list()) continue;
    for (const Node& entry : list.as_list()) {
      if (!entry.is_map()) continue;
      const std::string image = text_at(entry, "image");
      const std::string name = image.empty() ? text_at(entry, "path") : image;
      const std::string digest = text_at(entry, "sha256");
      found[name] = digest.empty() ? text_at(entry, "problem") : digest;
    }
  }
  return found;
}

std::vector<Difference> input_differences(const Node& a, const Node& b) {
  const auto first = digests(a);
  const auto second = digests(b);
  std::vector<Difference> found;
  for (const auto& [name, digest] : first) {
    const auto other = second.find(name);
    if (other == second.end()) {
      found.push_back({name, digest, std::nullopt});
    } else if (other->second != digest) {
      found.push_back({name, digest, other->second});
    }
  }
  for (const auto& [name, digest] : second) {
    if (!first.contains(name)) found.push_back({name, std::nullopt, digest});
  }
  return found;
}

}  // namespace

Differences differences_between(const RunMeasurements& a, const RunMeasurements& b) {
  Differences found;
  found.config = differences(a.config, b.config, [](std::string_view) { return false; });
  found.environment = differences(a.environment, b.environment, is_momentary);
  if (a.inputs && b.inputs) {
    found.inputs = input_differences(*a.inputs, *b.inputs);
    found.same_inputs = found.inputs.empty();
  }
  return found;
}

std::vector<std::string> disagreements(std::span<const RunMeasurements> side) {
  std::vector<std::string> notes;
  for (const RunMeasurements& other : side.subspan(1)) {
    const Differences found = differences_between(side.front(), other);
    std::vector<std::string> of;
    if (!found.config.empty()) of.push_back("config (" + found.config.front().key + ")");
    if (!found.environment.empty()) {
      of.push_back("environment (" + found.environment.front().key + ")");
    }
    if (!found.inputs.empty()) of.push_back("inputs");
    if (of.empty()) continue;
    notes.push_back("the runs of one side are not alike: " + other.run.folder + " differs from " +
                    side.front().run.folder + " in " + join(of, ", "));
  }
  return notes;
}

}  // namespace profline::comparison
