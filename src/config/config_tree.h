#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "config/defaults/search_path.h"
#include "config/interpolation/resolve.h"
#include "config/overrides/override.h"
#include "config/type_rule.h"
#include "formats/node.h"

namespace profline::config {

/// How many steps a key or a package may have. Keeps trees shallow enough for recursion.
constexpr std::size_t kMaxKeySteps = 200;

/// A configuration during composition, with OmegaConf's rules of merging:
///   - maps are merged key by key, new keys going last; lists and everything else are replaced;
///   - `???` replaces nothing, null replaces everything;
///   - an interpolation that refers to a map or list becomes a copy of it when something is merged
///     into it;
///   - a map does not merge with a list.
/// Once the tree is closed, keys can be added only explicitly. Typed parts keep their types.
class ConfigTree {
 public:
  /// The context must outlive this.
  explicit ConfigTree(const ResolveContext& context) : context_(context), root_(Node::map()) {}

  /// Reasons of an Error: `merge_dict_list`, `validation`, `hydra_schema_key`.
  Result<void> merge(Node source);
  /// Applies from now on. Existing values are converted to their types. `types` must outlive this.
  Result<void> set_types(const TypeRule& types);
  void close() { closed_ = true; }

  /// A change of one value, as by OmegaConf.update.
  struct Change {
    std::vector<std::string> steps;  ///< the key's, at least one
    Node value;
    bool force = false;           ///< add missing keys
    std::size_t failed_step = 0;  ///< set with an Error: which step it is about
    std::vector<Mark> marks{};    ///< of the steps, for keys that are added; may be empty
  };
  /// Anything but a map or list on the path to the value is replaced by a map. Reasons of an Error:
  /// `key_not_in_config`, `list_index_not_int`, `list_index_range`, and those of merge.
  Result<void> change(Change& change);

  /// The value at a key, with interpolations followed; a null pointer if it is absent, `???` or
  /// null. Valid until the next change. The reason of an Error is `list_index_not_int` or one of
  /// Resolution.
  Result<const Node*> select(std::string_view key);
  /// Removes what select finds at the key. Reasons of an Error: `list_index_not_int`,
  /// `typed_deletion`.
  Result<void> erase(std::string_view key);

  const Node& root() const { return root_; }
  Node& root() { return root_; }

 private:
  /// A key on the path to what is being merged.
  struct Level {
    const Level* above = nullptr;
    const Node* key = nullptr;
  };
  /// A map or list on the path to a change.
  struct Spot {
    Node* node = nullptr;
    const TypeRule* types = nullptr;
  };

  Result<void> merge_maps(Node& into, Node source, const TypeRule* types, const Level* level);
  Result<void> merge_values(Node& into, Node source, const TypeRule* types, const Level& level);
  Result<void> merge_containers(Node& into, Node source, const TypeRule* types, const Level* level);
  Result<void> add(Node& into, NodeMap::Entry entry, const TypeRule* types, const Level* level);
  void follow(Node& interpolation, const Level& level) const;
  static std::string key_of(const Level* level);
  Error unknown_key(const Node& map, const Node& key, const std::string& full_key) const;

  Result<Spot> step_into(Spot spot, Change& change);
  Result<Node*> item_at(const Spot& spot, Change& change, bool must_exist) const;
  Result<void> put(const Spot& spot, Change& change);
  Result<const Node*> find(std::string_view key);

  const ResolveContext& context_;
  Node root_;
  const TypeRule* types_ = nullptr;
  bool closed_ = false;
  /// Holds the result of select if that is not part of the tree.
  Node found_;
  std::optional<Resolution> resolution_;
};

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
