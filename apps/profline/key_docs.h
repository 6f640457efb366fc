#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/node.h"
#include "schema/docs.h"

namespace profline {

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

}  // namespace profline
