#pragma once

#include <string>
#include <vector>

namespace profline::schema {

/// Strings that may be given as a list or as one string: `[a, b]`, or `a,b` where the separator is
/// a comma. Without a separator (0) a string is a list of one. Blanks around the items of a string
/// do not count, and a blank string has no items. Written as a list.
template <char separator>
struct TextList {
  std::vector<std::string> items;

  bool operator==(const TextList&) const = default;
};

using OneOrMore = TextList<'\0'>;
using CommaList = TextList<','>;
using SemicolonList = TextList<';'>;

}  // namespace profline::schema
