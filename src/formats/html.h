#pragma once

#include <string>
#include <string_view>

namespace profline {

/// Text in which nothing opens a tag, begins an entity or ends a quoted value: for HTML and SVG.
std::string html_escaped(std::string_view text);

/// Untrusted text for HTML, between tags or inside a quoted attribute: nothing in it opens a tag,
/// ends a value or reorders what stands around it. Control characters, marks that reorder text and
/// bytes that are not UTF-8 become visible escapes, as in printable().
std::string html_text(std::string_view text);

}  // namespace profline
