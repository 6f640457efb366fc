#include "serve/timeline_page.h"

#include <algorithm>
#include <string>
#include <vector>

#include "serve/internal/pages.h"
#include "serve/internal/run_files.h"

namespace profline::serve {
namespace {

using catalog::KnownRun;

std::vector<std::string> captures_of(const KnownRun& run) {
  constexpr std::size_t kMost = 2000;
  std::vector<std::string> captures;
  for (FoundFile& file : files_below(run.folder, kMost, is_capture)) {
    captures.push_back(std::move(file.path));
  }
  return captures;
}

/// Links to the timelines of the run's other captures.
Markup captures_list(const std::vector<std::string>& captures, const std::string& shown,
                     const Target& target) {
  Markup items;
  for (const std::string& capture : captures) {
    const std::string at =
        address_of({.page = Page::Timeline, .id = target.id, .query = {{{"capture", capture}}}});
    items +=
        element("li", element("a", {{"href", at}, {capture == shown ? "aria-current" : "", "page"}},
                              web::code(capture)));
  }
  return element("nav", {{"class", "captures"}, {"aria-label", "captures of this run"}},
                 element("ul", items));
}

Response page_of(const KnownRun& run, const Target& target) {
  const std::vector<std::string> captures = captures_of(run);
  Content content{.title = "Timeline of " + run.row.folder, .section = "", .main = {}};
  content.main = element("p", {{"class", "crumbs"}},
                         link("/", text("Runs")) + text(" / ") +
                             link(run_address(target.id), web::code(run.row.folder))) +
                 element("h1", text("Timeline"));
  if (captures.empty()) {
    content.main += note(
        "This run has no capture with a timeline: neither nsys nor the torch profiler left one.");
    return page_response(content);
  }
  const std::string wanted = target.query.get("capture");
  const std::string shown = wanted.empty() ? captures.front() : wanted;
  if (std::find(captures.begin(), captures.end(), shown) == captures.end()) {
    return problem_page(
        Error(ErrorKind::NotFound, "the run has no capture '" + shown + "' with a timeline"));
  }
  if (captures.size() > 1) content.main += captures_list(captures, shown, target);
  const std::string data = address_of({.page = Page::Tiles, .id = target.id, .path = shown});
  content.main +=
      element("div", {{"id", "timeline"}, {"data-tiles", data}},
              note("The timeline of " + shown +
                   " is drawn by a script, which this browser does "
                   "not run. 'profline trace' prints where the time of a capture goes."));
  return page_response(content);
}

std::string query_text(const Query& query) {
  std::string all;
  for (const auto& [name, value] : query.entries) {
    all += (all.empty() ? "" : "&") + escaped(name) + "=" + escaped(value);
  }
  return all;
}

Response problem(const Error& error) {
  constexpr int kBadInput = 400;
  constexpr int kNotFound = 404;
  constexpr int kFailed = 500;
  Response response;
  response.status = error.kind() == ErrorKind::Config     ? kBadInput
                    : error.kind() == ErrorKind::NotFound ? kNotFound
                                                          : kFailed;
  response.type = "text/plain; charset=utf-8";
  response.body = error.to_string() + "\n";
  return response;
}

Response data_of(tiles::Timelines& timelines, const KnownRun& run, const Target& target) {
  if (!is_capture(target.path)) {
    return problem(Error(ErrorKind::NotFound, "'" + target.path + "' is not a capture"));
  }
  // It is a file of the run, and no link on the way to it leads elsewhere.
  const auto file = file_below(run.folder, target.path);
  if (!file) return problem(file.error());
  auto json = timelines.answer(run.folder / target.path, query_text(target.query));
  if (!json) return problem(json.error());
  Response response;
  response.type = "application/json";
  response.body = *std::move(json);
  return response;
}

}  // namespace

TimelineView timeline_view(tiles::Timelines& timelines) {
  return {.page = page_of, .tiles = [&timelines](const KnownRun& run, const Target& target) {
            return data_of(timelines, run, target);
          }};
}

}  // namespace profline::serve
