#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/config_tree.h"
#include "formats/node.h"
#include "schema/docs.h"
#include "session/configuration.h"

namespace profline::session {

/// Calls `visit` with the full key (`a.b`) and value of every map entry below the root, maps before
/// their entries. Elements of lists have no key here.
void for_each_key(const Node& root,
                  const std::function<void(const std::string&, const Node&)>& visit);

/// The Error for a key that the config does not have, with a suggestion: its replacement, a similar
/// key, or one with the same ending (`max_new_tokens`, `infer.max_new_tokens`).
Error no_such_key(const Node& root, std::string_view key);

/// What the schema says about a key of the job's config; nothing for a key it does not know.
/// `config` (unresolved) decides which dataset and workload there are, and so which keys.
std::optional<schema::FieldDoc> key_doc(const Node& config, const std::string& key);

/// Keys of `pipeline.nsys` and `pipeline.ncu` that this config does not have but for which profline
/// has a value other than null. Empty if the config lacks such a stage altogether, and for the
/// shipped presets, which have every key.
std::vector<schema::FieldDoc> filled_in_keys(const Node& config);

/// The values to choose from in a type: `one of stop, repeat:N or null` -> stop, null; empty for
/// any other kind of type.
std::vector<std::string> choices_of_type(std::string_view type);

/// `source`, `line` and `column` of the place where something was set, each null if unknown, as in
/// JSON documents.
void set_position(const Position& position, NodeMap& entry);

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

/// What `profline explain --format json` prints: docs/formats/explain.md.
Node explanation_document(const Explanation& explanation);

}  // namespace profline::session
