#include <fmt/format.h>

#include "base/figures.h"
#include "run/names/artifact_names.h"
#include "web/internal/sections.h"
#include "web/markup.h"

namespace profline::web {
namespace {

using RankAlign = Table::Align;

std::optional<double> share_of(std::int64_t ns, const RankTime& time) {
  if (time.wall_ns <= 0) return std::nullopt;
  return static_cast<double>(ns) / static_cast<double>(time.wall_ns);
}

Cell clock_cell(const RankClock& clock) {
  if (clock.state == ClockState::Reference) return text_cell("reference");
  if (clock.state == ClockState::NotAligned) return text_cell("not aligned");
  return {
      text("±" + duration(clock.uncertainty_ns)), static_cast<double>(clock.uncertainty_ns), {}};
}

Cell rank_cell(const std::optional<std::int64_t>& rank) {
  if (!rank) return text_cell("–");
  return {text(std::to_string(*rank)), static_cast<double>(*rank), {}};
}

Markup rank_table(const RankAnalysis& ranks) {
  Table table(
      "ranks-table", "where the time of each rank went",
      {{"rank"},
       {"node", RankAlign::Left},
       {"captured"},
       {"compute"},
       {"exposed", RankAlign::Right, "a collective ran and no other kernel"},
       {"overlapped", RankAlign::Right, "a collective ran beside other kernels"},
       {"idle"},
       {"last", RankAlign::Right, "collectives that it was the last to enter"},
       {"makes others wait"},
       {"clock", RankAlign::Left, "how well its clock is known against that of the reference"}});
  for (const RankRow& row : ranks.ranks) {
    const RankTime& time = row.time;
    table.add({rank_cell(row.rank), text_cell(row.node),
               duration_cell(static_cast<double>(time.wall_ns)),
               bar_cell(share_of(time.compute_ns, time)), bar_cell(share_of(time.exposed_ns, time)),
               bar_cell(share_of(time.overlapped_ns, time)), bar_cell(share_of(time.idle_ns, time)),
               number_cell(row.last), duration_cell(static_cast<double>(row.caused_ns)),
               clock_cell(row.clock)});
  }
  return table.markup();
}

Markup straggler_table(const RankAnalysis& ranks) {
  Table table("late-ranks-table", "who is late in the collectives of each phase",
              {{"phase", RankAlign::Left},
               {"late rank"},
               {"costs"},
               {"of the time"},
               {"evidence", RankAlign::Text}});
  for (const RankStraggler& row : ranks.stragglers) {
    if (row.phase.empty()) continue;
    table.add({code_cell(row.phase), rank_cell(row.rank),
               duration_cell(static_cast<double>(row.caused_ns)), share_cell(row.share),
               text_cell(row.evidence)});
  }
  if (table.empty()) return {};
  return element("h3", text("Late ranks by phase")) + table.markup();
}

Markup collective_table(const RankAnalysis& ranks) {
  Table table("rank-collectives-table", "collectives that several ranks show",
              {{"collective", RankAlign::Left},
               {"group", RankAlign::Left},
               {"ranks"},
               {"bytes"},
               {"count"},
               {"mean", RankAlign::Right, "from the first arrival to the end"},
               {"transfer", RankAlign::Right, "on the rank that arrived last"},
               {"median skew", RankAlign::Right, "from the first arrival to the last"},
               {"bus GB/s"},
               {"class", RankAlign::Left, "", true},
               {"evidence", RankAlign::Text}});
  for (const RankCollective& row : ranks.collectives) {
    if (table.rows() == kMostRows) break;
    const std::optional<double> bytes =
        row.bytes ? std::optional(static_cast<double>(*row.bytes)) : std::nullopt;
    table.add({{code(row.name, 40), {}, {}},
               {code(row.communicator.empty() ? "–" : row.communicator, 40), {}, {}},
               number_cell(row.ranks),
               {text(row.bytes ? human_bytes(*row.bytes) : "–"), bytes, {}},
               number_cell(row.instances),
               duration_cell(row.mean_ns),
               duration_cell(row.transfer_ns),
               duration_cell(row.skew_median_ns),
               {text(plain_number(row.bus_gb_per_s)), row.bus_gb_per_s, {}},
               text_cell(to_text(row.kind)),
               text_cell(row.evidence)});
  }
  if (table.empty()) return {};
  return element("h3", text("Collectives")) + table.markup();
}

}  // namespace

Section ranks_section(const PageSource& source) {
  const RankAnalysis& ranks = *source.summary.ranks;
  Section section{"ranks", "Ranks"};
  Markup findings;
  for (const std::string& finding : ranks.findings) findings += element("li", text(finding));
  section.body += element("ul", findings) + rank_table(ranks) + straggler_table(ranks) +
                  collective_table(ranks);
  Markup notes;
  for (const std::string& note : ranks.notes) notes += element("li", text(note));
  if (!notes.empty()) section.body += element("ul", {{"class", "from"}}, notes);
  section.body += source_line(
      "Captures of stage " + ranks.captured_by + ", numbered by " + ranks.ranks_from + ".",
      {run::files::kRankAnalysis});
  return section;
}

}  // namespace profline::web
