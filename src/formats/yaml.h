#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/node.h"

namespace profline {

/// How deeply maps and lists may be nested, with aliases expanded.
constexpr std::size_t kMaxYamlDepth = 1000;

/// All expanded aliases of an input may take at most this many bytes plus kYamlAliasBudgetFactor
/// for each byte of the input; a scalar counts as its text and a Node, a collection as its parts
/// and a Node. Keeps a few lines of aliases from filling the memory.
constexpr std::uint64_t kYamlAliasBudget = std::uint64_t{16} << 20U;
constexpr std::uint64_t kYamlAliasBudgetFactor = 16;

/// Reads the single YAML document in `text` (UTF-8); an input without a document is null. `source`
/// names the input in Marks and errors. Every node and key has its Mark; an alias has that of its
/// anchor.
///
/// The dialect is that of OmegaConf 2.3 on PyYAML's SafeLoader:
///   - YAML 1.1 types (`yes`, `0x1F`, `1_000`, `1:30`, `010` = 8, `~`), floats also as `1e3`, dates
///     are strings, unknown tags errors; `!!omap` and `!!pairs` become lists of two-item lists;
///   - a duplicate string key in a map is an error, other duplicate keys are replaced, with `1`,
///   `1.0`
///     and `true` counting as one key; lists, maps and null cannot be keys;
///   - the entries from merge keys (`<<`) come first, and the map's own entries win;
///   - anchors are defined once; aliases come after them, never inside them.
/// An Error has the reason `key_type` for a null key, `validation` for a date or a set
/// (`!!timestamp`, `!!set`), `circular` for an alias inside its anchor, and otherwise no reason.
/// Whoever uses the tree as a config must check that its root is a map, a list, null or a string,
/// and interpret `???` and `${…}`.
///
/// libyaml is stricter than PyYAML in two places, which are errors here too: `{a:}` (write `{a: }`)
/// and a tab at the start of a block scalar's first line.
Result<Node> parse_yaml(std::string_view text, std::string source);

/// The YAML of `node` exactly as OmegaConf.to_yaml() prints it: block style, two spaces, lists in
/// maps not indented, keys in their order, long text folded after column 80, quotes where the text
/// would read as something else.
///
/// parse_yaml() returns an equal Node, with three exceptions: it refuses a null key, more than
/// kMaxYamlDepth levels, and integers of more than 4300 digits; bytes of a string that are not
/// UTF-8 are written as U+FFFD; and where PyYAML would write text that reads back differently (the
/// line breaks U+0085, U+2028 and U+2029), this writes escapes. Python also accepts non-ASCII
/// digits and spaces in numbers, and quotes them; this leaves them plain.
std::string write_yaml(const Node& node);

}  // namespace profline
