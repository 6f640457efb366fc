#include "web/write_page.h"

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/digests.h"
#include "base/terminal_text.h"
#include "formats/json.h"
#include "run/names/artifact_names.h"
#include "summary/load.h"
#include "summary/verdict.h"
#include "web/internal/sections.h"

namespace profline::web {
namespace {

/// The file that shows a phase: the capture gated on it, else one that contains it, else the first.
std::string sqlite_of(const NsysRanges& ranges, const std::string& phase) {
  std::string seen_in;
  for (const RangeUse& range : ranges.ranges) {
    if (range.name == phase && seen_in.empty()) seen_in = range.capture;
  }
  const NsysCapture* best = nullptr;
  for (const NsysCapture& capture : ranges.captures) {
    if (capture.range == phase) return capture.sqlite;
    if (best == nullptr || capture.name == seen_in) best = &capture;
  }
  return best == nullptr ? "" : best->sqlite;
}

/// Null: nsys' tables name no capture.
const run::Artifact<Timeline>* capture_of(const run::Run& run, const RunSummary& summary) {
  const auto& ranges = run.get(run::kNsysRanges);
  const PhaseSummary* const leading = summary::leading_phase(summary);
  const std::string sqlite =
      ranges ? sqlite_of(*ranges, leading == nullptr ? "" : leading->name) : "";
  return sqlite.empty() ? nullptr : &run.capture(sqlite);
}

unsigned digit(char hex) {
  return static_cast<unsigned>(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

/// Base64 (RFC 4648) of bytes given as hexadecimal digits.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < hex.size(); at += 6) {
    const std::string_view three = hex.substr(at, 6);
    std::uint32_t bits = 0;
    for (const char c : three) bits = bits << 4U | digit(c);
    bits <<= 4U * (6 - three.size());
    // Two hexadecimal digits are a byte; n bytes become n + 1 characters.
    const std::size_t characters = three.size() / 2 + 1;
    for (std::size_t i = 0; i < 4; ++i) {
      text += i < characters ? kAlphabet[bits >> (18 - 6 * i) & 63U] : '=';
    }
  }
  return text;
}

std::string joined(std::span<const EmbeddedFile> files, std::string_view ending) {
  std::string all;
  for (const EmbeddedFile& file : files) {
    if (file.path.ends_with(ending)) all.append(file.text).append("\n");
  }
  return all;
}

std::vector<Section> sections_of(const PageSource& source) {
  std::vector<Section> all;
  const auto add = [&](std::initializer_list<Section (*)(const PageSource&)> sections) {
    for (const auto make : sections) all.push_back(make(source));
  };
  add({overview_section});
  if (!source.summary.server.empty()) add({server_section});
  if (source.summary.load) add({load_section});
  if (source.summary.ranks) add({ranks_section});
  if (!summary::is_only_load(source.summary)) {
    add({spread_section, device_section, timeline_section, kernels_section, roofline_section,
         counters_section, operators_section, nvml_section, overhead_section});
  }
  add({run_section, config_section, environment_section, commands_section, artifacts_section});
  return all;
}

Markup facts(const PageSource& source) {
  const RunSummary& summary = source.summary;
  const RunRecord& run = source.run.record();
  Markup items;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    items += element("div", element("dt", text(name)) + element("dd", text(value)));
  };
  add("experiment", summary.experiment);
  if (const auto& load = summary.load) {
    add("server", load->url);
    add("model", load->model);
  }
  if (!summary::is_only_load(summary)) {
    add("device", summary.device_name.empty() ? summary.device
                                              : summary.device_name + " (" + summary.device + ")");
  }
  add("format", summary.dtype);
  add("engine", summary.engine);
  add("started", run.started);
  add("host", run.host);
  add("profline", run.version + (run.commit.empty() ? "" : " " + run.commit));
  add("state", std::string(to_text(run.state)));
  return element("dl", {{"class", "facts"}}, items);
}

Markup index_of(const std::vector<Section>& sections) {
  Markup items;
  for (const Section& section : sections) {
    items += element("li", element("a", {{"href", "#" + section.id}}, text(section.title)));
  }
  return element("nav", {{"aria-label", "sections"}}, element("ol", items));
}

Markup links_of(const std::vector<PageLink>& links) {
  if (links.empty()) return {};
  Markup items;
  for (const PageLink& link : links) {
    items += element("li", element("a", {{"href", link.href}}, text(link.text)));
  }
  return element("div", {{"class", "links"}, {"role", "navigation"}, {"aria-label", "site"}},
                 element("ul", items));
}

Markup body_of(const PageFrame& frame, const std::vector<Section>& sections, bool has_charts) {
  Markup head = element("h1", element("span", {{"class", "mark"}}, text("profline")) + text(" ") +
                                  text(frame.heading));
  head += element("button", {{"type", "button"}, {"class", "needs-script"}, {"id", "theme"}},
                  text("Dark")) +
          frame.facts;
  Markup main;
  if (!has_charts) {
    main += element("p", {{"class", "nothing"}},
                    text("This profline was built without ECharts, so there are no charts; the "
                         "tables are whole."));
  }
  for (const Section& section : sections) {
    main += element("section", {{"id", section.id}},
                    element("h2", element("a", {{"href", "#" + section.id}}, text(section.title))) +
                        section.body);
  }
  return element("a", {{"class", "skip"}, {"href", "#" + sections.front().id}}, text(frame.skip)) +
         links_of(frame.links) + element("header", {{"class", "top"}}, head) +
         element("div", {{"class", "page"}}, index_of(sections) + element("main", main)) +
         element("footer",
                 text("Written by profline. Charts: Apache ECharts 6.1.0, Apache License 2.0."));
}

/// Charts show names too; as with text(), nothing in a name can reorder or hide the text around it.
void make_printable(Node& tree) {
  if (tree.is_string()) {
    tree = Node::string(printable(tree.as_string()));
  } else if (tree.is_list()) {
    for (Node& item : tree.as_list()) make_printable(item);
  } else if (tree.is_map()) {
    for (NodeMap::Entry& entry : tree.as_map()) make_printable(entry.value);
  }
}

Result<std::string> data_of(const std::vector<Section>& sections) {
  NodeMap charts;
  for (const Section& section : sections) {
    for (const auto& [name, data] : section.charts) charts.set(name, data);
  }
  NodeMap data;
  data.set("schema", Node::string("profline.page_data/1"));
  data.set("charts", Node::map(std::move(charts)));
  Node tree = Node::map(std::move(data));
  make_printable(tree);
  return json_for_script(PL_TRY(write_json(tree, {0, true, true})));
}

Markup script(const std::string& code) {
  return element("script", verbatim(code));
}

/// The library of charts if there is one, then ours.
std::vector<std::string> page_scripts() {
  std::vector<std::string> scripts;
  const std::string library = code_for_script(joined(chart_library(), ".js"));
  if (!library.empty()) scripts.push_back(library);
  scripts.push_back(
      code_for_script("(() => {\n'use strict';\n" + joined(page_assets(), ".js") + "})();\n"));
  return scripts;
}

}  // namespace

ShownCapture PageSource::shown_capture() const {
  const auto* capture = capture_of(run, summary);
  if (capture != nullptr && *capture) return {capture->file, run::stages::kNsys, &**capture};
  const auto& trace = run.get(run::kTorchTrace);
  if (trace) return {trace.file, run::stages::kTorchProfiler, &*trace};
  return {};
}

std::string PageSource::why_no_capture() const {
  if (const auto* capture = capture_of(run, summary)) return capture->file + " " + capture->why_not;
  const auto& ranges = run.get(run::kNsysRanges);
  return ranges.file + " " + (ranges ? "names no capture" : ranges.why_not);
}

std::string content_policy(std::span<const std::string> scripts) {
  std::string hashes;
  for (const std::string& script : scripts) {
    hashes += " 'sha256-" + base64_of_hex(sha256_hex(script)) + "'";
  }
  // Bars in tables and the charts' tooltips use inline styles.
  return "default-src 'none'; style-src 'unsafe-inline'; script-src" + hashes +
         "; base-uri 'none'; form-action 'none'";
}

std::string page_policy() {
  return content_policy(page_scripts());
}

Result<std::string> framed_page(const PageFrame& frame, const std::vector<Section>& sections) {
  const std::string data = PL_TRY(data_of(sections));
  const std::vector<std::string> scripts = page_scripts();
  const bool has_charts = scripts.size() > 1;

  Markup head =
      element("meta", {{"charset", "utf-8"}}) +
      element("meta",
              {{"http-equiv", "Content-Security-Policy"}, {"content", content_policy(scripts)}}) +
      element("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
      element("meta", {{"name", "color-scheme"}, {"content", "light dark"}}) +
      element("title", text(frame.title)) +
      element("style", verbatim(joined(page_assets(), ".css")));
  Markup body = body_of(frame, sections, has_charts);
  body += element("script", {{"type", "application/json"}, {"id", "data"}}, verbatim(data));
  for (const std::string& code : scripts) body += script(code);
  return "<!doctype html>\n" +
         element("html", {{"lang", "en"}}, element("head", head) + element("body", body)).html() +
         "\n";
}

Result<std::string> page_of(const PageSource& source) {
  PageFrame frame;
  frame.title = "profline " + source.summary.run +
                (source.summary.experiment.empty() ? "" : " · " + source.summary.experiment);
  frame.heading = source.summary.run;
  frame.skip = "Skip to the verdict";
  frame.facts = facts(source);
  frame.links = source.links;
  return framed_page(frame, sections_of(source));
}

Result<std::filesystem::path> write_page(const run::Run& run, const RunSummary& summary) {
  const std::string page = PL_TRY(page_of({run, summary}));
  // Readable by the owner only, because it contains command lines.
  PL_TRY(write_private_file(run.folder() / run::files::kReportPage, page));
  return std::filesystem::path(run::files::kReportPage);
}

}  // namespace profline::web
