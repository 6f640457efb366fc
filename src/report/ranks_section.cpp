#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "formats/markup.h"
#include "report/write_reports.h"
#include "run/names/artifact_names.h"

namespace profline::report {
namespace {

using markdown::code;
using markdown::plain;
using RankTable = markdown::Table;

std::string clock_cell(const RankClock& clock) {
  if (clock.state == ClockState::Reference) return "reference";
  if (clock.state == ClockState::NotAligned) return "not aligned";
  return "±" + duration(clock.uncertainty_ns);
}

std::string rank_table(const RankAnalysis& ranks) {
  RankTable table({{"rank"},
                   {"node", RankTable::Align::Left},
                   {"captured"},
                   {"compute"},
                   {"communication, exposed"},
                   {"overlapped"},
                   {"copies"},
                   {"idle"},
                   {"arrives last"},
                   {"makes others wait"},
                   {"clock", RankTable::Align::Left}});
  for (const RankRow& row : ranks.ranks) {
    const RankTime& time = row.time;
    const auto share = [&](std::int64_t ns) { return percent_of(ns, time.wall_ns); };
    table.add({std::to_string(row.rank), row.node.empty() ? "–" : plain(row.node),
               duration(time.wall_ns), share(time.compute_ns), share(time.exposed_ns),
               share(time.overlapped_ns), share(time.copy_ns), share(time.idle_ns),
               fmt::format("{} of {}", row.last, row.matched), duration(row.caused_ns),
               clock_cell(row.clock)});
  }
  return table.text();
}

std::string straggler_table(const RankAnalysis& ranks) {
  RankTable table({{"phase", RankTable::Align::Left},
                   {"late rank"},
                   {"costs"},
                   {"of the time"},
                   {"evidence", RankTable::Align::Left}});
  for (const RankStraggler& row : ranks.stragglers) {
    if (row.phase.empty()) continue;
    table.add({code(row.phase), row.rank ? std::to_string(*row.rank) : "–", duration(row.caused_ns),
               percent(row.share), plain(row.evidence)});
  }
  return table.empty() ? "" : "\n### Late ranks by phase\n\n" + table.text();
}

std::string collective_table(const RankAnalysis& ranks) {
  constexpr std::size_t kMost = 20;
  RankTable table({{"collective", RankTable::Align::Left},
                   {"group", RankTable::Align::Left},
                   {"ranks"},
                   {"bytes"},
                   {"count"},
                   {"mean"},
                   {"transfer"},
                   {"median skew"},
                   {"bus GB/s"},
                   {"class", RankTable::Align::Left}});
  for (std::size_t i = 0; i < std::min(kMost, ranks.collectives.size()); ++i) {
    const RankCollective& row = ranks.collectives[i];
    table.add({code(row.name, 40), row.communicator.empty() ? "–" : code(row.communicator, 40),
               row.ranks > 0 ? std::to_string(row.ranks) : "–",
               row.bytes ? human_bytes(*row.bytes) : "–", std::to_string(row.instances),
               duration(row.mean_ns), duration(row.transfer_ns), duration(row.skew_median_ns),
               plain_number(row.bus_gb_per_s), std::string(to_text(row.kind))});
  }
  if (table.empty()) return "";
  std::string text = "\n### Collectives\n\n" + table.text();
  if (ranks.collectives.size() > kMost) {
    text += fmt::format("\n{} more in {}.\n", ranks.collectives.size() - kMost,
                        code(run::files::kRankAnalysis));
  }
  return text;
}

}  // namespace

std::string ranks_section(const RunSummary& summary) {
  if (!summary.ranks) return "";
  const RankAnalysis& ranks = *summary.ranks;
  std::string text = "\n## Ranks\n\n";
  for (const std::string& finding : ranks.findings) text += "- " + plain(finding) + '\n';
  text += '\n' + rank_table(ranks) + straggler_table(ranks) + collective_table(ranks);
  if (!ranks.notes.empty()) {
    text += "\nNotes:\n\n";
    for (const std::string& note : ranks.notes) text += "- " + plain(note) + '\n';
  }
  return text + "\nFrom the captures of stage " + code(ranks.captured_by) + ", numbered by " +
         plain(ranks.ranks_from) + "; " + code("profline ranks RUN") + " shows more.\n";
}

}  // namespace profline::report
