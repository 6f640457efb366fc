#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

namespace profline::config {

struct Expression;

/// A literal value: `12`, `true`, `null`, `abc`, `'a b'`.
struct Literal {
  Node value;
};
/// Pieces whose texts are joined: `lr-${lr}`, `'${a}'`.
struct Text {
  std::vector<Expression> parts;
};
/// `${a.b}`, `${..a}`, `${a[${b}]}`: the joined parts are the key, including leading dots. Parts
/// are literal strings, and interpolations that must evaluate to strings.
struct Reference {
  std::vector<Expression> key;
};
/// `${name:argument,argument}`; the parts of the name are joined with dots.
struct Call {
  std::vector<Expression> name;
  std::vector<Expression> arguments;
};
/// `[a, b]`
struct ListItems {
  std::vector<Expression> items;
};
/// `{a: b}`
struct MapItem;
struct MapItems {
  std::vector<MapItem> entries;
};

/// A parsed text with interpolations, in OmegaConf's value grammar.
struct Expression {
  std::variant<Literal, Text, Reference, Call, ListItems, MapItems> form;
  /// The bytes of the text that it was read from.
  std::size_t offset = 0;
  std::size_t length = 0;
};

struct MapItem {
  Node key;
  Expression value;
};

/// How deeply interpolations, lists and maps may be nested.
constexpr std::size_t kMaxInterpolationDepth = 200;

/// Whether OmegaConf treats `text` as an interpolation: it contains `${`, escaped or not.
bool holds_interpolation(std::string_view text);

/// Parses a whole config string: free text in which `${…}` is an interpolation, `\${` is not, and
/// backslashes count only before `${`. An Error has the reason `grammar`, and its position is the
/// place in `text`. Takes time linear in the text.
Result<Expression> parse_text(std::string_view text);

/// Parses one element, as written in resolver arguments and accepted by `oc.decode`: `10`, `[a,
/// ${b}]`, `{a: 'b'}`, `a b`. Otherwise as parse_text.
Result<Expression> parse_element(std::string_view text);

/// Line and column (in characters, from 1) of a byte of `text`, and that line.
struct TextPlace {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  std::string_view content;
};
TextPlace place_in_text(std::string_view text, std::size_t offset);

/// A line of `text`, counted from 1.
std::string_view line_of(std::string_view text, std::uint32_t line);

}  // namespace profline::config
