#include "web/internal/sections.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "web/internal/markup.h"

namespace profline::web {

void Section::add_chart(const std::string& name, const std::string& label, const Markup& caption,
                        Node data) {
  const Markup plot = element(
      "div", {{"class", "plot"}, {"data-chart", name}, {"role", "img"}, {"aria-label", label}});
  body += element("figure", {{"class", "chart"}, {"id", "chart-" + name}},
                  plot + element("figcaption", caption));
  charts.emplace_back(name, std::move(data));
}

void Section::add_nothing(std::string_view why) {
  body += element("p", {{"class", "nothing"}}, text(why));
}

Markup from_files(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& list : given) {
    for (const std::string_view part : split(list, ',')) {
      const std::string file(trim(part));
      if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) {
        files.push_back(file);
      }
    }
  }
  Markup all;
  for (const std::string& file : files) {
    if (!all.empty()) all += text(", ");
    all += code(file);
  }
  return all;
}

Markup source_line(std::string_view what, const std::vector<std::string>& files) {
  const Markup from = from_files(files);
  return element("p", {{"class", "from"}},
                 text(what) + (from.empty() ? from : text(" From ") + from + text(".")));
}

Node number(double value) {
  return std::isfinite(value) ? Node::real(value) : Node();
}

Node number(const std::optional<double>& value) {
  return value ? number(*value) : Node();
}

Node texts(const std::vector<std::string>& values) {
  Node list = Node::list();
  for (const std::string& value : values) list.as_list().push_back(Node::string(value));
  return list;
}

Node numbers(const std::vector<double>& values) {
  Node list = Node::list();
  list.as_list().reserve(values.size());
  for (const double value : values) list.as_list().push_back(number(value));
  return list;
}

Node object(std::vector<std::pair<std::string, Node>> entries) {
  NodeMap map;
  for (auto& entry : entries) map.set(entry.first, std::move(entry.second));
  return Node::map(std::move(map));
}

}  // namespace profline::web
