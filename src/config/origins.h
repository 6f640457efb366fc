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
  Position position;   ///< in a file, or in an override; empty for what is built in
  std::string config;  ///< the config's name (`db/mysql`), or the override's text
  /// What was set there: the value, or what stood in its way (a value in place of a map).
  Node value;
  bool is_override = false;
  bool is_deletion = false;
};

/// Where the values of a composition come from. Nothing is copied while configs are merged: they
/// are kept, and looked through when somebody asks.
class Origins {
 public:
  /// A config was merged into `package`.
  void add_config(std::string name, std::string_view package,
                  std::shared_ptr<const LoadedConfig> config);
  /// An override of a value was carried out.
  void add_override(const Override& given);

  /// The places that set the value at a key (`db.port`, `list.0`), first to last; the last one
  /// counts. Of a map, those that set any of it. Empty when nobody did.
  std::vector<Origin> history(std::string_view key) const;

 private:
  struct Layer {
    std::string name;
    std::vector<std::string> steps;  ///< where it was put
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
