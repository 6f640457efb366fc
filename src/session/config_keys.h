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

/// Calls `visit` with the full key (`a.b`) and value of everything below the root that is in a map;
/// maps come before what is in them. What is in a list has no key of its own here.
void for_each_key(const Node& root,
                  const std::function<void(const std::string&, const Node&)>& visit);

/// The Error of asking for a key that the config does not have, with the one that was probably
/// meant: what replaced it, a similar one, or one that ends alike (`max_new_tokens`,
/// `infer.max_new_tokens`).
Error no_such_key(const Node& root, std::string_view key);

/// What the schema says about a key of the job's config; nothing where it knows none. `config` (not
/// resolved) decides which dataset and workload there are, and so what keys.
std::optional<schema::FieldDoc> key_doc(const Node& config, const std::string& key);

/// Keys of `pipeline.nsys` and `pipeline.ncu` that this config does not have and profline has a
/// value for, other than null. Empty where a config has no such stage at all, as with the shipped
/// presets, which have every key.
std::vector<schema::FieldDoc> filled_in_keys(const Node& config);

/// The values that a type lets one choose from: `one of stop, repeat:N or null` -> stop, null; none
/// for a type of any other kind.
std::vector<std::string> choices_of_type(std::string_view type);

/// `source`, `line` and `column` of the place where something was set, each null where unknown, as
/// documents have them.
void set_position(const Position& position, NodeMap& entry);

}  // namespace profline::session
