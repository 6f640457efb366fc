#pragma once

#include <string>

#include "formats/node.h"

namespace profline {

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
