#include "summary/server.h"
#include "web/internal/sections.h"
#include "web/markup.h"

namespace profline::web {
namespace {

Markup rows_of(const summary::ServerTable& table, const std::string& id, const std::string& label,
               std::size_t left, bool is_text) {
  std::vector<Table::Column> columns;
  for (const std::string& title : table.columns) {
    const bool is_left = columns.size() < left;
    columns.push_back({title, !is_left  ? Table::Align::Right
                              : is_text ? Table::Align::Text
                                        : Table::Align::Left});
  }
  Table html(id, label, std::move(columns));
  for (const auto& row : table.rows) {
    std::vector<Cell> cells;
    for (const std::string& cell : row) cells.push_back(text_cell(cell));
    html.add(cells);
  }
  return html.markup();
}

Markup paragraph(const std::string& words) {
  return words.empty() ? Markup() : element("p", text(words + "."));
}

}  // namespace

Section server_section(const PageSource& source) {
  const RunSummary& summary = source.summary;
  constexpr std::size_t kAll = 3;
  Section section{"server", "Server"};
  section.body +=
      paragraph(summary::gpu_words(summary)) + paragraph(summary::first_token_words(summary)) +
      rows_of(summary::server_runs(summary), "server-runs", "runs of the server", 1, false) +
      source_line(
          "Tokens per second and time per token: in the window, against the run "
          "without a profiler. Pauses: the longest time without a token of any "
          "request.",
          {});
  for (const ServerRecord& server : summary.server) {
    if (!server.window) continue;
    const std::string id = "server-" + server.stage;
    section.body += element("h3", text("The window under " + server.stage));
    if (server.steps) {
      section.body += paragraph(summary::steps_words(*server.steps));
      if (server.steps->why_none.empty()) {
        section.body += rows_of(summary::server_steps(*server.steps), id + "-steps",
                                "steps of the engine", 1, false);
      }
    }
    if (!server.gpus.empty()) {
      constexpr std::size_t kNames = 2;
      section.body +=
          rows_of(summary::server_gpus(server), id + "-gpus", "GPUs in the window", kNames, false);
    }
    section.body += rows_of(summary::server_processes(server), id + "-processes",
                            "processes of the server", 1, false) +
                    rows_of(summary::server_proofs(server), id + "-proofs",
                            "what was checked afterwards", kAll, true);
  }
  return section;
}

}  // namespace profline::web
