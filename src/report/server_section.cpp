#include "formats/markup.h"
#include "report/write_reports.h"
#include "summary/server.h"

namespace profline::report {
namespace {

using markdown::plain;
using ServerRows = markdown::Table;

std::string table_text(const summary::ServerTable& table, std::size_t left) {
  std::vector<ServerRows::Column> columns;
  for (const std::string& title : table.columns) {
    const bool is_left = columns.size() < left;
    columns.push_back({title, is_left ? ServerRows::Align::Left : ServerRows::Align::Right});
  }
  ServerRows rows(std::move(columns));
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(plain(cell));
    rows.add(std::move(cells));
  }
  return rows.text();
}

std::string sentence(const std::string& text) {
  return text.empty() ? "" : plain(text) + ".\n\n";
}

}  // namespace

std::string server_section(const RunSummary& summary) {
  if (summary.server.empty()) return "";
  constexpr std::size_t kAll = 3;
  std::string text =
      "\n## Server\n\n" + sentence(summary::gpu_words(summary)) +
      sentence(summary::first_token_words(summary)) + table_text(summary::server_runs(summary), 1) +
      "\nTokens per second and time per token: in the window, against the run without "
      "a profiler. Pauses: the longest time without a token of any request.\n";
  for (const ServerRecord& server : summary.server) {
    if (!server.window) continue;
    text += "\n### The window under " + server.stage + "\n\n";
    if (server.steps) {
      text += sentence(summary::steps_words(*server.steps));
      if (server.steps->why_none.empty()) {
        text += table_text(summary::server_steps(*server.steps), 1) + '\n';
      }
    }
    if (!server.gpus.empty()) {
      constexpr std::size_t kNames = 2;
      text += table_text(summary::server_gpus(server), kNames) + '\n';
    }
    text += table_text(summary::server_processes(server), 1) + '\n';
    text += table_text(summary::server_proofs(server), kAll);
  }
  return text;
}

}  // namespace profline::report
