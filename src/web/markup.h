#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace profline::web {

/// Value of an attribute, escaped. An attribute that is left out: an empty name.
struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

/// HTML that is safe by how it was made: names of kernels, operators, files and whatever else comes
/// from outside get in through text() and attribute values, which escape.
class Markup {
 public:
  Markup() = default;

  const std::string& html() const { return html_; }
  bool empty() const { return html_.empty(); }
  Markup& operator+=(const Markup& other);
  friend Markup operator+(Markup left, const Markup& right) { return left += right; }

 private:
  explicit Markup(std::string html) : html_(std::move(html)) {}
  friend Markup text(std::string_view untrusted);
  friend Markup verbatim(std::string_view ours);
  friend Markup element(std::string_view tag, Attributes attributes, const Markup& children);

  std::string html_;
};

/// Untrusted text: escaped, and with control characters, marks that reorder text and bytes that
/// are not UTF-8 written as visible escapes.
Markup text(std::string_view untrusted);

/// HTML of our own, as it is: constants of this program and its assets, nothing else.
Markup verbatim(std::string_view ours);

/// `<tag name="value">children</tag>`; void elements (`col`, `meta`) without an end. Tags and
/// attribute names are constants of this program.
Markup element(std::string_view tag, Attributes attributes, const Markup& children = {});
inline Markup element(std::string_view tag, const Markup& children) {
  return element(tag, {}, children);
}

/// Text for the inside of a <script> element of type application/json: the same JSON in which
/// nothing ends the element.
std::string json_for_script(const std::string& json);

/// JavaScript for the inside of a <script> element, `</script` in it escaped as in a string.
std::string code_for_script(std::string_view code);

}  // namespace profline::web
