#include <algorithm>
#include <map>
#include <utility>

#include "base/digests.h"
#include "base/files.h"
#include "base/strings.h"
#include "profline_version.h"
#include "serve/internal/assets.h"
#include "serve/internal/pages.h"
#include "tiles/page_assets.h"
#include "web/assets.h"

namespace profline::serve {
namespace {

using run_index::IndexedRun;

/// Scripts and styles come from this server alone; nothing is inline.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

struct Asset {
  std::string type;
  std::string text;
};

std::string text_of(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.path == name) return std::string(file.text) + "\n";
  }
  return "";
}

/// Made once: they never change.
const std::map<std::string, Asset, std::less<>>& all_assets() {
  static const std::map<std::string, Asset, std::less<>> kAssets = [] {
    std::string script = "(() => {\n'use strict';\n";
    for (const char* name : {"figures.js", "theme.js", "tables.js"}) {
      script += text_of(web::page_assets(), name);
    }
    for (const char* name : {"capture_drawing.js", "capture_timeline.js"}) {
      script += text_of(tiles::page_assets(), name);
    }
    script += text_of(serve_assets(), "serve.js") + "})();\n";
    std::map<std::string, Asset, std::less<>> assets;
    assets["serve.css"] = {"text/css; charset=utf-8",
                           text_of(web::page_assets(), "page.css") +
                               text_of(tiles::page_assets(), "capture_timeline.css") +
                               text_of(serve_assets(), "serve.css")};
    assets["favicon.ico"] = {"image/svg+xml", text_of(serve_assets(), "icon.svg")};
    assets["serve.js"] = {"text/javascript; charset=utf-8", std::move(script)};
    return assets;
  }();
  return kAssets;
}

/// The address changes with the content, so that a browser may keep it.
std::string asset_address(const std::string& name) {
  static const std::map<std::string, std::string> kDigests = [] {
    constexpr std::size_t kDigits = 12;
    std::map<std::string, std::string> digests;
    for (const auto& [asset, content] : all_assets()) {
      digests[asset] = sha256_hex(content.text).substr(0, kDigits);
    }
    return digests;
  }();
  return "/assets/" + name + "?v=" + kDigests.at(name);
}

Markup head_of(const Content& content) {
  return element("meta", {{"charset", "utf-8"}}) +
         element("meta",
                 {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
         element("meta", {{"name", "color-scheme"}, {"content", "light dark"}}) +
         element("title", text(content.title + " · profline")) +
         element("link", {{"rel", "icon"}, {"href", asset_address("favicon.ico")}}) +
         element("link", {{"rel", "stylesheet"}, {"href", asset_address("serve.css")}}) +
         element("script", {{"src", asset_address("serve.js")}});
}

Markup site_header(std::string_view current) {
  Markup items;
  for (const auto& [name, page] : {std::pair<const char*, Page>("Runs", Page::Runs),
                                   {"Trends", Page::Trends},
                                   {"Compare", Page::Compare},
                                   {"Sweeps", Page::Sweeps}}) {
    const bool is_here = current == name;
    items += element("li", element("a",
                                   {{"href", address_of({.page = page})},
                                    {is_here ? "aria-current" : "", "page"}},
                                   text(name)));
  }
  return element(
      "header", {{"class", "site"}},
      element("a", {{"class", "brand"}, {"href", "/"}}, text("profline")) +
          element("nav", {{"class", "site"}, {"aria-label", "pages"}}, element("ul", items)) +
          element("button", {{"type", "button"}, {"class", "needs-script"}, {"id", "theme"}},
                  text("Dark")));
}

int status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::NotFound:
      return 404;
    case ErrorKind::Config:
    case ErrorKind::Parse:
      return 400;
    case ErrorKind::Cancelled:
      return 503;
    case ErrorKind::Io:
    case ErrorKind::Tool:
      return 500;
  }
  return 500;
}

}  // namespace

Response page_response(const Content& content) {
  const std::string refresh = content.refresh_s ? std::to_string(*content.refresh_s) : "";
  const Markup body =
      element("a", {{"class", "skip"}, {"href", "#main"}}, text("Skip to the content")) +
      site_header(content.section) +
      element("main", {{"id", "main"}, {"class", "site"}, {"tabindex", "-1"}}, content.main) +
      element("footer", text(std::string("profline ") + kVersion + " " + kCommit +
                             ". Nothing here can be changed or started."));
  Response response;
  response.status = content.status;
  response.policy = kPolicy;
  response.body =
      "<!doctype html>\n" +
      element("html", {{"lang", "en"}},
              element("head", head_of(content)) +
                  element("body", {{refresh.empty() ? "" : "data-refresh", refresh}}, body))
          .html() +
      "\n";
  return response;
}

Response problem_page(int status, std::string_view heading, std::string_view why) {
  Content content{.title = std::string(heading), .section = "", .main = {}};
  content.status = status;
  content.main = element("h1", text(heading)) + element("p", {{"class", "lead"}}, text(why)) +
                 element("p", link("/", text("All runs")));
  return page_response(content);
}

Response problem_page(const Error& error) {
  const int status = status_of(error.kind());
  constexpr int kNotFound = 404;
  constexpr int kBadInput = 400;
  const std::string_view heading = status == kNotFound   ? "Not found"
                                   : status == kBadInput ? "This cannot be shown"
                                                         : "It did not work";
  return problem_page(status, heading, capitalised(error.to_string()) + ".");
}

Response redirect_to(const std::string& address) {
  constexpr int kSeeOther = 303;
  Response response;
  response.status = kSeeOther;
  response.headers = {{"Location", address}};
  return response;
}

std::optional<Response> asset_response(const std::string& name) {
  const auto found = all_assets().find(name);
  if (found == all_assets().end()) return std::nullopt;
  Response response;
  response.type = found->second.type;
  response.body = found->second.text;
  response.is_kept = true;
  return response;
}

Markup link(const std::string& address, const Markup& shown) {
  return element("a", {{"href", address}}, shown);
}

Markup run_link(const ListedRun& run) {
  return link(run_address(run.id), element("code", text(run.known.row.folder)));
}

Markup state_tag(std::string_view state) {
  const bool is_bad =
      state == "failed" || state == "killed" || state == "interrupted" || state == "timeout";
  return element("span", {{"class", "tag"}, {"data-state", is_bad ? "failed" : std::string(state)}},
                 text(state));
}

Markup moment(const std::string& utc) {
  constexpr std::size_t kMinutes = 16;
  if (utc.empty()) return text("–");
  std::string shown = utc.substr(0, kMinutes);
  std::replace(shown.begin(), shown.end(), 'T', ' ');
  return element("time", {{"datetime", utc}, {"title", utc + ", UTC"}}, text(shown));
}

Markup note(std::string_view what) {
  return element("p", {{"class", "nothing"}}, text(what));
}

Markup notes_of(const Context& context) {
  Markup all;
  constexpr std::size_t kMost = 20;
  const auto& notes = context.snapshot->notes;
  for (std::size_t i = 0; i < std::min(notes.size(), kMost); ++i) {
    all += element("li", text(capitalised(notes[i]) + "."));
  }
  if (notes.size() > kMost) {
    all += element("li", text("There are " + std::to_string(notes.size() - kMost) + " more."));
  }
  return notes.empty() ? Markup() : element("ul", {{"class", "notes page-notes"}}, all);
}

Markup select_field(const std::string& label, const std::string& name,
                    const std::vector<std::string>& values, const std::string& chosen) {
  Markup options = element("option", {{"value", ""}}, text("any"));
  const bool is_listed = std::find(values.begin(), values.end(), chosen) != values.end();
  if (!chosen.empty() && !is_listed) {
    options += element("option", {{"value", chosen}, {"selected", ""}}, text(chosen));
  }
  for (const std::string& value : values) {
    options +=
        element("option", {{"value", value}, {value == chosen ? "selected" : "", ""}}, text(value));
  }
  return element("label",
                 element("span", text(label)) + element("select", {{"name", name}}, options));
}

Markup input_field(const std::string& label, const std::string& name, const std::string& type,
                   const std::string& value, const std::string& hint) {
  return element("label", element("span", text(label)) +
                              element("input", {{"name", name},
                                                {"type", type},
                                                {"value", value},
                                                {hint.empty() ? "" : "placeholder", hint}}));
}

std::string address(Page page, const Query& query) {
  Target target{.page = page, .query = query};
  std::erase_if(target.query.entries, [](const auto& entry) { return entry.second.empty(); });
  return address_of(target);
}

Query with(const Query& query, std::string_view name, const std::string& value) {
  Query changed = query;
  std::erase_if(changed.entries, [&](const auto& entry) { return entry.first == name; });
  changed.entries.emplace_back(name, value);
  return changed;
}

std::vector<web::PageLink> site_links(const Context& context, const ListedRun* run) {
  std::vector<web::PageLink> links = {{"All runs", "/"}};
  if (run == nullptr) {
    links.push_back({"All sweeps", address_of({.page = Page::Sweeps})});
    return links;
  }
  links.push_back({"Files of this run", address_of({.page = Page::Files, .id = run->id})});
  if (context.has_timeline) {
    links.push_back({"Timeline", address_of({.page = Page::Timeline, .id = run->id})});
  }
  const IndexedRun& row = run->known.row;
  Query series{{{"experiment", row.experiment},
                {"workload", workload_of(row)},
                {"device", row.device_name}}};
  if (row.state == "ok" && !row.metrics.empty()) {
    links.push_back({"Trend", address(Page::Trends, series)});
  }
  // The run of the same thing before this one.
  const auto& members = context.snapshot->series[run->series];
  for (std::size_t i = run->place + 1; i < members.size(); ++i) {
    const ListedRun& before = context.snapshot->runs[members[i]];
    if (before.known.row.state != "ok") continue;
    links.push_back({"Compare with the run before",
                     address(Page::Compare, {{{"a", before.id}, {"b", run->id}}})});
    break;
  }
  return links;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

const std::string& workload_of(const IndexedRun& run) {
  return run.model.empty() ? run.program : run.model;
}

std::vector<std::string> values_of(const Snapshot& snapshot,
                                   const std::function<std::string(const IndexedRun&)>& of) {
  constexpr std::size_t kMost = 200;
  std::map<std::string, std::size_t> counts;
  for (const auto& series : snapshot.series) {
    if (series.empty()) continue;
    // Runs of a series agree in everything that is chosen from.
    const std::string value = of(snapshot.runs[series.front()].known.row);
    if (!value.empty()) counts[value] += series.size();
  }
  std::vector<std::pair<std::size_t, std::string>> sorted;
  for (const auto& [value, number] : counts) sorted.emplace_back(number, value);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> values;
  for (const auto& [number, value] : sorted) {
    if (values.size() < kMost) values.push_back(value);
  }
  return values;
}

Result<RunChoice> RunChoice::read(const Query& query) {
  RunChoice choice;
  const std::string words = lower(query.get("q"));
  for (const std::string_view word : split(words, ' ')) {
    if (!word.empty()) choice.words_.emplace_back(word);
  }
  choice.state_ = query.get("state");
  choice.experiment_ = query.get("experiment");
  choice.workload_ = query.get("workload");
  choice.device_ = query.get("device");
  choice.commit_ = lower(query.get("commit"));
  const std::string since = query.get("since");
  const std::string until = query.get("until");
  if (!since.empty()) choice.filter_.since = PL_TRY(run_index::parse_moment(since, "since"));
  if (!until.empty()) choice.filter_.until = PL_TRY(run_index::parse_moment(until, "until"));
  for (const std::string& condition : query.all("where")) {
    choice.filter_.metrics.push_back(PL_TRY(run_index::parse_metric_condition(condition)));
    choice.metrics_.push_back(choice.filter_.metrics.back().name);
  }
  return choice;
}

bool RunChoice::holds(const ListedRun& run) const {
  return holds_apart_from_commit(run) &&
         (commit_.empty() || is_wanted_commit(run.known.row.commit));
}

bool RunChoice::is_wanted_commit(std::string_view commit) const {
  return !commit_.empty() && lower(commit).starts_with(commit_);
}

bool RunChoice::holds_apart_from_commit(const ListedRun& run) const {
  const IndexedRun& row = run.known.row;
  const auto is = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  return is(state_, row.state) && is(experiment_, row.experiment) &&
         is(workload_, workload_of(row)) && is(device_, row.device_name) &&
         std::all_of(words_.begin(), words_.end(),
                     [&](const std::string& word) { return contains(run.haystack, word); }) &&
         filter_.holds(row);
}

Markup RunChoice::fields(const Snapshot& snapshot, const Query& query) {
  const auto select = [&](const char* label, const char* name, auto of) {
    return select_field(label, name, values_of(snapshot, of), query.get(name));
  };
  return select("Experiment", "experiment", [](const IndexedRun& run) { return run.experiment; }) +
         select("Model or program", "workload",
                [](const IndexedRun& run) { return workload_of(run); }) +
         select("Device", "device", [](const IndexedRun& run) { return run.device_name; });
}

}  // namespace profline::serve
