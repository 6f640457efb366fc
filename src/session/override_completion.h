#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/configuration.h"

namespace profline::session {

/// Completes words that refer to a configuration, taking the preceding overrides into account.
/// Overrides that do not compose are ignored; if nothing composes, nothing is offered.
class OverrideCompletion {
 public:
  explicit OverrideCompletion(ConfigChoice choice);

  /// `infer.ma` -> `infer.max_new_tokens `; maps end in a dot.
  std::vector<std::string> keys(const std::string& word) const;
  /// `infer.ma` -> `infer.max_new_tokens=`, `dataset/sa` -> `dataset/sampling=`, and after '=' the
  /// options of a group or the allowed values of a key. Handles the prefixes + ++ ~.
  std::vector<std::string> overrides(const std::string& word) const;
  /// The possible values of `--config-name`.
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
