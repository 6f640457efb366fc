#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/origins.h"
#include "formats/node.h"
#include "session/configuration.h"

namespace profline::session {

/// Where a value was set, in words.
struct SettingPlace {
  config::Origin origin;
  std::string where;   ///< `conf/config.yaml:4:3`, `override 2`, `built in`
  std::string detail;  ///< the override's text, or which override chose the file; may be empty
};

/// Everything known about a key of a configuration.
struct Explanation {
  struct Child {
    std::string key;
    Node value;
    std::optional<SettingPlace> last;  ///< absent if profline fills it in
  };

  std::string key;
  /// The requested key, if it leads here through an interpolation.
  std::optional<std::string> asked{};
  Node value{};
  std::string type{};          ///< from the schema: `integer >= 1`; empty for an unknown key
  std::string help{};          ///< purpose of the key; empty if the type is
  std::string default_text{};  ///< used if the config lacks the key; empty: unknown
  std::string flag{};          ///< option for nsys or ncu: `--set <v>`; empty: none
  bool is_deleted = false;
  bool is_set = true;              ///< false: the schema knows the key, but the config lacks it
  std::optional<Node> resolved{};  ///< if the value is an interpolation
  std::vector<SettingPlace> history{};  ///< first to last; the last one counts
  std::vector<Child> children{};        ///< of a map: every leaf below it
};

/// An Error names the nearest key if neither the config nor the schema has this key, or reports an
/// interpolation that cannot be resolved.
Result<Explanation> explain(const Configuration& configuration, const std::string& key);

}  // namespace profline::session
