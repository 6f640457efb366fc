#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/defaults/search_path.h"
#include "config/overrides/override.h"
#include "formats/node.h"

namespace profline::config {

/// One of the places that set a value.
struct Origin {
  Position position;   ///< in a file or an override; empty for built-in values
  std::string config;  ///< the config's name (`db/mysql`), or the override's text
  /// What was set there: the value, or one that replaced its parent (a value instead of a map).
  Node value;
  bool is_override = false;
  bool is_deletion = false;
};

/// Where the values of a composition come from. Nothing is copied during merging: the configs are
/// kept, and searched on request.
class Origins {
 public:
  /// Records that a config was merged into `package`.
  void add_config(std::string name, std::string_view package,
                  std::shared_ptr<const LoadedConfig> config);
  /// Records that an override of a value was applied.
  void add_override(const Override& given);

  /// The places that set the value at a key (`db.port`, `list.0`), first to last; the last one
  /// counts. For a map, those that set any part of it. Empty if nothing did.
  std::vector<Origin> history(std::string_view key) const;

 private:
  struct Layer {
    std::string name;
    std::vector<std::string> steps;  ///< where it was placed
    std::shared_ptr<const LoadedConfig> config;
  };
  struct Change {
    std::string text;
    std::vector<std::string> steps;
    Node value;
    Position position;
    bool is_deletion = false;
  };

  std::vector<Layer> layers_;
  std::vector<Change> changes_;
};

}  // namespace profline::config
