#include "config_keys.h"

#include <algorithm>

#include "base/strings.h"
#include "config/key_path.h"
#include "settings/removed_keys.h"

namespace profline {
namespace {

void visit_map(const Node& map, const std::string& prefix,
               const std::function<void(const std::string&, const Node&)>& visit) {
  for (const NodeMap::Entry& entry : map.as_map()) {
    if (!entry.key.is_string()) continue;
    const std::string key = config::join_key(prefix, entry.key.as_string());
    visit(key, entry.value);
    if (entry.value.is_map()) visit_map(entry.value, key, visit);
  }
}

/// The one key that ends with `.key`; empty when there is none, or several.
std::string only_one_ending_in(const std::string& key, const std::vector<std::string>& known) {
  std::string found;
  for (const std::string& one : known) {
    if (!one.ends_with("." + key)) continue;
    if (!found.empty()) return {};
    found = one;
  }
  return found;
}

}  // namespace

void for_each_key(const Node& root,
                  const std::function<void(const std::string&, const Node&)>& visit) {
  if (root.is_map()) visit_map(root, "", visit);
}

Error no_such_key(const Node& root, std::string_view key) {
  const std::string name(key);
  if (const auto advice = settings::advice_for_removed_key(key)) {
    return Error(ErrorKind::Config, "key '" + name + "' was removed: " + std::string(*advice))
        .with_reason("no_such_key");
  }
  std::vector<std::string> known;
  for_each_key(root, [&](const std::string& one, const Node&) { known.push_back(one); });
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) {
    const std::string meant = only_one_ending_in(name, known);
    if (!meant.empty()) hint = " (did you mean '" + meant + "'?)";
  }
  return Error(ErrorKind::Config, "there is no key '" + name + "' in the config" + hint)
      .with_reason("no_such_key");
}

}  // namespace profline
