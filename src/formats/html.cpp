#include "formats/html.h"

#include "base/terminal_text.h"

namespace profline {

std::string html_escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      case '`':  // ended an attribute in browsers of old
        safe += "&#96;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string html_text(std::string_view text) {
  return html_escaped(printable(text));
}

}  // namespace profline
