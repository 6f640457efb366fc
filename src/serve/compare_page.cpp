#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/source_commit.h"
#include "base/strings.h"
#include "comparison/comparison.h"
#include "comparison/row_text.h"
#include "schema/read.h"
#include "serve/internal/pages.h"
#include "session/run_comparison.h"

namespace profline::serve {
namespace {

namespace fs = std::filesystem;
using comparison::Comparison;
using comparison::Row;
using run_index::IndexedRun;
using web::Table;
using Align = Table::Align;

constexpr std::size_t kMostPerSide = 50;
constexpr std::size_t kMostDifferences = 200;

struct Sides {
  std::vector<const ListedRun*> a;
  std::vector<const ListedRun*> b;
};

Result<std::vector<const ListedRun*>> side_of(const Snapshot& snapshot, const Query& query,
                                              std::string_view name) {
  std::vector<const ListedRun*> side;
  for (const std::string& id : query.all(name)) {
    const ListedRun* run = snapshot.find(id);
    if (run == nullptr) return Error(ErrorKind::NotFound, "there is no run '" + id + "'");
    if (std::find(side.begin(), side.end(), run) == side.end()) side.push_back(run);
  }
  if (side.size() > kMostPerSide) {
    return Error(ErrorKind::Config, fmt::format("a side has {} runs, and at most {} are compared",
                                                side.size(), kMostPerSide));
  }
  return side;
}

std::vector<fs::path> folders_of(const std::vector<const ListedRun*>& side) {
  std::vector<fs::path> folders;
  for (const ListedRun* run : side) folders.push_back(run->known.folder);
  return folders;
}

/// The runs directly below a folder, as the snapshot has them.
std::vector<IndexedRun> known_below(const Snapshot& snapshot, const fs::path& folder) {
  std::vector<IndexedRun> rows;
  for (const ListedRun& run : snapshot.runs) {
    if (auto row = catalog::row_within(run.known, folder)) rows.push_back(*std::move(row));
  }
  return rows;
}

Markup side_box(const char* title, const char* name, const std::vector<const ListedRun*>& side,
                const Query& query) {
  Markup items;
  for (const ListedRun* run : side) {
    Query without = query;
    std::erase_if(without.entries, [&](const auto& entry) {
      return entry.first == name && entry.second == run->id;
    });
    const IndexedRun& row = run->known.row;
    items += element(
        "li", run_link(*run) +
                  text(" " + row.experiment +
                       (row.commit.empty() ? "" : ", commit " + short_commit(row.commit)) + " ") +
                  element("a",
                          {{"href", address(Page::Compare, without)},
                           {"class", "remove"},
                           {"aria-label", "remove " + row.folder + " from " + title}},
                          text("remove")) +
                  element("input", {{"type", "hidden"}, {"name", name}, {"value", run->id}}));
  }
  return element("fieldset",
                 element("legend", text(title)) + element("ul", items) +
                     element("label", element("span", text(std::string("Add to ") + title)) +
                                          element("input", {{"name", name},
                                                            {"list", "known-runs"},
                                                            {"type", "text"},
                                                            {"value", ""},
                                                            {"autocomplete", "off"}})));
}

Markup sides_form(const Context& context, const Sides& sides, const Query& query) {
  constexpr std::size_t kOffered = 200;
  Markup known;
  const auto& runs = context.snapshot->runs;
  for (std::size_t i = 0; i < std::min(runs.size(), kOffered); ++i) {
    known += element("option", {{"value", runs[i].id}}, text(runs[i].known.row.experiment));
  }
  Query swapped;
  for (const auto& [name, value] : query.entries) {
    swapped.entries.emplace_back(name == "a" ? "b" : name == "b" ? "a" : name, value);
  }
  const bool with_captures = !query.get("captures").empty();
  return element(
      "form", {{"class", "sides"}, {"action", "/compare"}, {"method", "get"}},
      side_box("A", "a", sides.a, query) + side_box("B", "b", sides.b, query) +
          element("datalist", {{"id", "known-runs"}}, known) +
          element("p", {{"class", "tools"}},
                  element("label", element("input", {{"type", "checkbox"},
                                                     {"name", "captures"},
                                                     {"value", "1"},
                                                     {with_captures ? "checked" : "", ""}}) +
                                       text(" operators and kernels too")) +
                      element("button", {{"type", "submit"}}, text("Compare")) +
                      link(address(Page::Compare, swapped), text("Swap A and B"))));
}

/// The comparison of both sides. Captures are large, and read only if they are asked for.
Result<Comparison> comparison_of(const Context& context, const Sides& sides, bool with_captures) {
  const session::ComparedFolders folders{folders_of(sides.a), folders_of(sides.b)};
  const auto compare = [&](std::vector<std::string> rows) {
    session::ComparisonRequest request;
    request.metrics = std::move(rows);
    const session::KnownRuns known{
        [&](const fs::path& folder) { return known_below(*context.snapshot, folder); },
        [&](const fs::path& run) { return context.library.check_files(run).has_value(); }};
    return session::compare_runs(folders, request, context.interrupt, &known);
  };
  if (with_captures) return compare({});
  // Runs may have figures and no phases: rows that nobody has are an error there.
  auto found = compare({"metrics", "phases"});
  const bool lacks_rows = !found && found.error().kind() == ErrorKind::NotFound;
  return lacks_rows ? compare({"metrics"}) : std::move(found);
}

Markup verdict_of(const Row& row) {
  const std::string shown = comparison::verdict_text(row);
  const char* css = "undecided";
  if (shown == "SLOWER") css = "slower";
  if (shown == "FASTER") css = "faster";
  return element("span", {{"class", css}}, text(shown));
}

Markup rows_section(const comparison::Section& section) {
  std::vector<Table::Column> columns = {
      {"name", Align::Left},    {"A"},         {"B"}, {"change"}, {"95 % interval"},
      {"verdict", Align::Left}, {"detectable"}};
  if (section.has_clocks) columns.push_back({"at equal clocks"});
  if (section.has_calls) columns.push_back({"calls"});
  const std::string id(section.title);
  Table table("rows-" + lower(id), id, columns);
  for (const Row* row : section.rows) {
    if (table.rows() == 500) break;
    Markup name = web::long_name(row->short_name, row->name);
    if (!row->shape.empty()) name += text(" ") + element("small", text(row->shape));
    std::vector<web::Cell> cells = {{name, {}, {}},
                                    {text(comparison::value_text(row->a, row->unit)), {}, {}},
                                    {text(comparison::value_text(row->b, row->unit)), {}, {}},
                                    {text(comparison::change_cell(*row)), row->change, {}},
                                    web::text_cell(comparison::interval_text(*row)),
                                    {verdict_of(*row), {}, {}},
                                    web::text_cell(comparison::smallest_text(*row))};
    if (section.has_clocks)
      cells.push_back(web::text_cell(comparison::change_text(row->change_at_equal_clocks)));
    if (section.has_calls) cells.push_back(web::text_cell(comparison::calls_text(*row)));
    table.add(cells);
  }
  Markup body = element("h2", text(capitalised(std::string(section.title)))) +
                element("p", {{"class", "from"}}, text(section.explanation)) + table.markup();
  if (section.has_stars)
    body += element("p", {{"class", "from"}}, text("* " + std::string(comparison::kPairedNote)));
  return element("section", body);
}

Markup differences_section(const Comparison& found) {
  Markup body = element("h2", text("What else differs"));
  for (const comparison::DifferenceList& list : comparison::difference_lists(found)) {
    const std::string title(list.title);
    const std::string nothing = comparison::no_difference_text(found, list);
    if (!nothing.empty()) {
      body += element("p", {{"class", "from"}}, text(capitalised(title) + ": " + nothing + "."));
      continue;
    }
    Table table("differs-" + title, title,
                {{capitalised(title), Align::Left}, {"A", Align::Text}, {"B", Align::Text}});
    for (const comparison::Difference& each : *list.differences) {
      if (table.rows() == kMostDifferences) break;
      table.add({web::code_cell(each.key), web::code_cell(each.a.value_or("")),
                 web::code_cell(each.b.value_or(""))});
    }
    body += table.markup();
  }
  return element("section", body);
}

Markup result_of(const Comparison& found) {
  Markup body =
      element("p", {{"class", "verdict"}},
              text(found.regressions.empty() ? "No regression."
                                             : "Slower: " + join(found.regressions, ", ") + ".")) +
      element("p", {{"class", "lead"}}, text(comparison::tally_text(found)));
  Markup notes;
  for (const std::string& each : comparison::withheld_texts(found))
    notes += element("li", text(capitalised(each)));
  for (const std::string& each : found.notes) notes += element("li", text(capitalised(each)));
  if (!found.run_spread.empty()) {
    notes += element("li", text("Spread between runs: " + found.run_spread));
  }
  notes += element(
      "li", text(fmt::format("Changes up to {} do not matter.", chosen_percent(found.threshold))));
  body += element("ul", {{"class", "notes"}}, notes);
  for (const auto& section : comparison::sections_of(found)) body += rows_section(section);
  return body + differences_section(found);
}

}  // namespace

Response compare_page(const Context& context, const Query& query) {
  Content content{.title = "Compare", .section = "Compare", .main = {}};
  Markup main = element("h1", text("Compare")) +
                element("p", {{"class", "lead"}},
                        text("Two runs, or two groups of runs of the same thing: B against A."));
  const auto a = side_of(*context.snapshot, query, "a");
  const auto b = side_of(*context.snapshot, query, "b");
  if (!a) return problem_page(a.error());
  if (!b) return problem_page(b.error());
  const Sides sides{*a, *b};
  main += sides_form(context, sides, query);
  if (sides.a.empty() || sides.b.empty()) {
    content.main =
        main + note("Choose a run for each side: here, or by ticking A and B in the list of runs.");
    return page_response(content);
  }
  for (const auto& side : {sides.a, sides.b}) {
    for (const ListedRun* run : side) {
      const auto is_safe = context.library.check_files(run->known.folder);
      if (!is_safe) return problem_page(is_safe.error());
    }
  }
  const auto found = comparison_of(context, sides, !query.get("captures").empty());
  content.main =
      main + (found ? result_of(*found) : note(capitalised(found.error().to_string()) + "."));
  return page_response(content);
}

}  // namespace profline::serve
