#include "web/markup.h"

#include <algorithm>
#include <array>

#include "formats/html.h"

namespace profline::web {
namespace {

bool is_void(std::string_view tag) {
  constexpr std::array<std::string_view, 5> kVoid = {"br", "col", "input", "link", "meta"};
  return std::find(kVoid.begin(), kVoid.end(), tag) != kVoid.end();
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size());
  std::size_t at = 0;
  for (std::size_t found = text.find(from); found != std::string_view::npos;
       found = text.find(from, at)) {
    result.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
  }
  return result.append(text.substr(at));
}

}  // namespace

Markup& Markup::operator+=(const Markup& other) {
  html_ += other.html_;
  return *this;
}

Markup text(std::string_view untrusted) {
  std::string html;
  html.reserve(untrusted.size());
  html += html_text(untrusted);
  return Markup(std::move(html));
}

Markup verbatim(std::string_view ours) {
  return Markup(std::string(ours));
}

Markup element(std::string_view tag, Attributes attributes, const Markup& children) {
  std::string html = "<";
  html += tag;
  for (const Attribute& attribute : attributes) {
    if (attribute.name.empty()) continue;
    html += ' ';
    html += attribute.name;
    html += "=\"";
    html += html_text(attribute.value);
    html += '"';
  }
  html += '>';
  if (is_void(tag)) return Markup(std::move(html));
  html += children.html();
  html += "</";
  html += tag;
  html += '>';
  return Markup(std::move(html));
}

std::string json_for_script(const std::string& json) {
  return replaced(json, "<", "\\u003c");
}

std::string code_for_script(std::string_view code) {
  // Both are the same in a string and in a regular expression, and neither occurs elsewhere.
  return replaced(replaced(code, "</script", "<\\/script"), "<!--", "\\x3c!--");
}

}  // namespace profline::web
