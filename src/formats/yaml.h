#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/node.h"

namespace profline {

/// Most levels of maps and lists that are read, aliases written out.
constexpr std::size_t kMaxYamlDepth = 1000;

/// What all aliases of an input stand for, written out, may take at most this many bytes plus
/// kYamlAliasBudgetFactor for each byte of the input; a scalar counts as its text and a Node, a
/// collection as its parts and a Node. Keeps a few lines of aliases from filling the memory.
constexpr std::uint64_t kYamlAliasBudget = std::uint64_t{16} << 20U;
constexpr std::uint64_t kYamlAliasBudgetFactor = 16;

/// Reads the one YAML document of `text` (UTF-8); an input without a document is null. `source`
/// names the input in Marks and errors. Every node and key has its Mark; what an alias stands for
/// has that of its anchor.
///
/// The dialect is that of OmegaConf 2.3 on PyYAML's SafeLoader:
///   - YAML 1.1 types (`yes`, `0x1F`, `1_000`, `1:30`, `010` = 8, `~`), floats also as `1e3`, dates
///     are strings, unknown tags errors; `!!omap` and `!!pairs` become lists of two-item lists;
///   - a string key twice in one map is an error, other keys are replaced, `1`, `1.0` and `true`
///     counting as one key; lists, maps and null are no keys;
///   - merge keys (`<<`) put what they bring first, and the map's own entries win;
///   - anchors are defined once, aliases come after them and never inside of them.
/// An Error has the reason `key_type` for a null key, `validation` for a date or a set
/// (`!!timestamp`, `!!set`), `circular` for an alias inside of its anchor, and else none.
/// Not the reader's business, but that of whoever takes the tree for a config: that its root is a
/// map, a list, null or a string, and what `???` and `${…}` mean.
///
/// libyaml is stricter than PyYAML in two places, which stay errors here: `{a:}` (write `{a: }`)
/// and a tab at the start of a block scalar's first line.
Result<Node> parse_yaml(std::string_view text, std::string source);

/// The YAML of `node` as OmegaConf.to_yaml() prints it, to the byte: block style, two spaces, lists
/// in maps not indented, keys in their order, long text folded behind column 80, quotes where the
/// text would read as something else.
///
/// parse_yaml() gives an equal Node back, with three limits: what it refuses it cannot give back (a
/// null key, more than kMaxYamlDepth levels, integers of more than 4300 digits); bytes of a string
/// that are not UTF-8 are written as U+FFFD; and, where PyYAML would write text that reads back
/// changed (the line breaks U+0085, U+2028 and U+2029), this writes escapes. Python takes digits
/// and spaces outside of ASCII for numbers too, and quotes them; this leaves them plain.
std::string write_yaml(const Node& node);

}  // namespace profline
