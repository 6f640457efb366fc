#include "web/markup.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/figures.h"
#include "base/terminal_text.h"
#include "formats/markup.h"

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

constexpr const char* kUnknown = "–";

std::string sort_key(double value) {
  return fmt::format("{:.9g}", value);
}

std::string_view class_of(Table::Align align) {
  switch (align) {
    case Table::Align::Left:
      return "";
    case Table::Align::Right:
      return "n";
    case Table::Align::Text:
      return "t";
  }
  return "";
}

Cell figure(const std::string& shown, const std::optional<double>& value) {
  return {text(shown), value, {}};
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
  // Both escapes mean the same in a string and in a regular expression, and neither sequence occurs
  // elsewhere.
  return replaced(replaced(code, "</script", "<\\/script"), "<!--", "\\x3c!--");
}

Markup Table::row(const std::vector<Cell>& cells) const {
  PL_ASSERT(cells.size() == columns_.size(), "a row has a cell for each column");
  Markup html;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    std::string classes(class_of(columns_[i].align));
    if (cell.bar) classes += " bar";
    const double fill = std::clamp(cell.bar.value_or(0), 0.0, 1.0) * 100;
    // The first cell is the row's header.
    html += element(i == 0 ? "th" : "td",
                    {{i == 0 ? "scope" : "", "row"},
                     {classes.empty() ? "" : "class", classes},
                     {cell.value ? "data-v" : "", cell.value ? sort_key(*cell.value) : ""},
                     {cell.bar ? "style" : "", fmt::format("--fill-to:{:.1f}%", fill)}},
                    cell.shown);
  }
  return html;
}

void Table::add(const std::vector<Cell>& cells) {
  body_ += element("tr", row(cells));
  ++rows_;
}

Markup Table::markup() const {
  Markup head;
  for (const Column& column : columns_) {
    head += element("th",
                    {{"scope", "col"},
                     {column.align == Align::Right ? "class" : "", "n"},
                     {column.hint.empty() ? "" : "title", column.hint},
                     {column.is_choice ? "data-choice" : "", "1"}},
                    text(column.title));
  }
  Markup inside = element("caption", {{"class", "sr"}}, text(label_));
  inside += element("thead", element("tr", head)) + element("tbody", body_);
  const Markup table = element(
      "table", {{"id", id_}, {"class", "data"}, {has_search_ ? "data-search" : "", "1"}}, inside);
  // Wide tables scroll inside their own frame, by keyboard as well.
  return element(
      "div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", label_}},
      table);
}

Cell text_cell(std::string_view untrusted) {
  return {untrusted.empty() ? text(kUnknown) : text(untrusted), {}, {}};
}

Cell code_cell(std::string_view untrusted) {
  return {untrusted.empty() ? text(kUnknown) : code(untrusted), {}, {}};
}

Cell duration_cell(const std::optional<double>& ns) {
  return figure(duration(ns), ns);
}

Cell share_cell(const std::optional<double>& share) {
  return figure(percent(share), share);
}

Cell bar_cell(const std::optional<double>& share) {
  return {text(percent(share)), share, share};
}

Cell count_cell(const std::optional<double>& number) {
  return figure(count(number), number);
}

Cell number_cell(std::uint64_t number) {
  return figure(fmt::format("{}", number), static_cast<double>(number));
}

Markup code(std::string_view untrusted, std::size_t width) {
  const std::string safe = printable(untrusted);
  const std::string cut = fit_width(safe, width);
  return element("code",
                 {{cut.size() < safe.size() ? "title" : "", std::string(fit_width(safe, 400))}},
                 text(cut));
}

Markup long_name(std::string_view friendly, std::string_view whole) {
  const std::string_view shown = friendly.empty() ? whole : friendly;
  const bool is_short = shown == whole && display_width(printable(whole)) <= 48;
  if (is_short) return code(whole);
  return element(
      "details", {{"class", "name"}},
      element("summary", code(shown, 64)) + element("code", {{"class", "whole"}}, text(whole)));
}

}  // namespace profline::web
