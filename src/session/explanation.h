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

/// What there is to say about a key of a configuration.
struct Explanation {
  struct Child {
    std::string key;
    Node value;
    std::optional<SettingPlace> last;  ///< none for what profline itself fills in
  };

  std::string key;
  /// The key asked for, when it leads here through an interpolation.
  std::optional<std::string> asked{};
  Node value{};
  std::string type{};          ///< by the schema: `integer >= 1`; empty where it knows no such key
  std::string help{};          ///< what the key is for; empty with the type
  std::string default_text{};  ///< what holds where the key is not in the config; empty: unknown
  std::string flag{};          ///< what nsys or ncu gets for it: `--set <v>`; empty: nothing
  bool is_deleted = false;
  bool is_set = true;  ///< false: the schema knows the key, and this config does not have it
  std::optional<Node> resolved{};       ///< of a value that is an interpolation
  std::vector<SettingPlace> history{};  ///< first to last; the last one counts
  std::vector<Child> children{};        ///< of a map: everything below that is no map
};

/// An Error names the nearest key when neither the config nor the schema has one of that name, and
/// reports an interpolation that cannot be resolved.
Result<Explanation> explain(const Configuration& configuration, const std::string& key);

}  // namespace profline::session
