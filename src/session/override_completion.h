#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/configuration.h"

namespace profline::session {

/// Completes what refers to a configuration, in the light of the overrides before it. Where those
/// do not compose, they are left out; where nothing composes, there is nothing to offer.
class OverrideCompletion {
 public:
  explicit OverrideCompletion(ConfigChoice choice);

  /// `infer.ma` -> `infer.max_new_tokens `; maps end in a dot.
  std::vector<std::string> keys(const std::string& word) const;
  /// `infer.ma` -> `infer.max_new_tokens=`, `dataset/sa` -> `dataset/sampling=`, and behind '=' the
  /// options of a group or the values that a key may have. A prefix (+ ++ ~) is understood.
  std::vector<std::string> overrides(const std::string& word) const;
  /// The names that `--config-name` may be given.
  std::vector<std::string> config_names(const std::string& word) const;

 private:
  std::vector<std::string> values(const std::string& key, const std::string& start) const;
  std::vector<std::string> changes(const std::string& word, std::string_view prefix) const;
  std::vector<std::string> additions(const std::string& word) const;
  std::vector<std::string> new_groups(const std::string& word) const;
  const Node& tree_for(const std::string& word) const;

  ConfigChoice choice_;
  std::unique_ptr<Configuration> configuration_;
};

}  // namespace profline::session
