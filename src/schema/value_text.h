#pragma once

#include <string>
#include <string_view>

#include "formats/node.h"

/// Values on one line, for people: defaults in help, both sides of a change, the value that a
/// message is about. Deterministic; not meant to be parsed.
namespace profline::schema {

/// `600`, `0.5`, `null`, `prefill`, `[cpu, cuda]`, `{csv: true}`. Strings are quoted if they could
/// be mistaken for something else.
std::string value_text(const Node& node);

/// For messages: `'prefill'`, `600`, `a list`. Long strings are cut.
std::string shown(const Node& node);
/// The same with the kind: `the string 'prefill'`, `the integer 600`, `null`, `a list`.
std::string shown_with_kind(const Node& node);

/// The shortest text that reads back as `value`, always with a point or an exponent; `.inf` and
/// `.nan` as YAML spells them.
std::string float_text(double value);

}  // namespace profline::schema
