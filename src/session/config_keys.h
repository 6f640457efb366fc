#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "formats/node.h"
#include "schema/docs.h"

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

}  // namespace profline::session
