#include "ranks_text.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

using Align = TextTable::Align;

std::string headed(std::string_view title, std::string_view more, const TextTable& table,
                   std::size_t width, const Palette& palette) {
  if (table.empty()) return "";
  std::string text = '\n' + palette.heading(title);
  if (!more.empty()) text += "  " + palette.faint(more);
  return text + '\n' + table.render(width, palette);
}

std::string clock_text(const RankClock& clock) {
  switch (clock.state) {
    case ClockState::Reference:
      return "reference";
    case ClockState::Aligned:
      return "±" + duration(clock.uncertainty_ns);
    case ClockState::NotAligned:
      break;
  }
  return "not aligned";
}

/// How far the rank's clock is ahead, with its sign.
std::string ahead_text(const RankClock& clock) {
  if (!clock.ahead_ns) return "–";
  const std::int64_t ns = *clock.ahead_ns;
  return (ns < 0 ? "-" : "+") + duration(ns < 0 ? -ns : ns);
}

std::string rank_table(const RankAnalysis& analysis, std::size_t width, const Palette& palette) {
  TextTable table({{"rank"},
                   {"time"},
                   {"compute"},
                   {"exposed"},
                   {"overlap", Align::Right, false, 2},
                   {"copies", Align::Right, false, 4},
                   {"idle"},
                   {"last", Align::Right},
                   {"causes"},
                   {"clock", Align::Left, false, 1},
                   {"ahead", Align::Right, false, 3},
                   {"node", Align::Left, false, 5},
                   {"source", Align::Left, true, 6}});
  for (const RankRow& row : analysis.ranks) {
    const RankTime& time = row.time;
    const auto share = [&](std::int64_t ns) { return percent_of(ns, time.wall_ns); };
    table.add({std::to_string(row.rank), duration(time.wall_ns), share(time.compute_ns),
               share(time.exposed_ns), share(time.overlapped_ns), share(time.copy_ns),
               share(time.idle_ns), std::to_string(row.last), duration(row.caused_ns),
               clock_text(row.clock), ahead_text(row.clock), or_dash(row.node), row.source});
  }
  return headed("ranks", "exposed: communication alone; causes: how long the others wait for it",
                table, width, palette);
}

std::string phase_table(const RankAnalysis& analysis, std::size_t width, const Palette& palette) {
  TextTable table({{"phase", Align::Left},
                   {"late rank"},
                   {"last"},
                   {"costs"},
                   {"of time"},
                   {"cause", Align::Left},
                   {"evidence", Align::Left, true}});
  for (const RankStraggler& row : analysis.stragglers) {
    if (row.phase.empty()) continue;
    table.add({row.phase, row.rank ? std::to_string(*row.rank) : "–",
               fmt::format("{} of {}", row.last, row.collectives), duration(row.caused_ns),
               percent(row.share), or_dash(row.cause), row.evidence});
  }
  return headed("phases", "who is late in the collectives of each", table, width, palette);
}

std::string collective_table(const RankAnalysis& analysis, std::size_t top, std::size_t width,
                             const Palette& palette) {
  TextTable table({{"count"},
                   {"mean"},
                   {"transfer"},
                   {"skew"},
                   {"p90", Align::Right, false, 3},
                   {"bytes", Align::Right, false, 2},
                   {"bus GB/s", Align::Right, false, 1},
                   {"class", Align::Left},
                   {"group", Align::Left, false, 4},
                   {"collective", Align::Left, true}});
  for (std::size_t i = 0; i < std::min(top, analysis.collectives.size()); ++i) {
    const RankCollective& row = analysis.collectives[i];
    table.add({std::to_string(row.instances), duration(row.mean_ns), duration(row.transfer_ns),
               duration(row.skew_median_ns), duration(row.skew_p90_ns),
               row.bytes ? human_bytes(*row.bytes) : "–", plain_number(row.bus_gb_per_s),
               std::string(to_text(row.kind)), or_dash(row.communicator), row.name});
  }
  std::string text =
      headed("collectives", "mean: first arrival to end; skew: median", table, width, palette);
  if (analysis.collectives.size() > top) {
    text += palette.faint(fmt::format("  and {} more\n", analysis.collectives.size() - top));
  }
  return text;
}

std::string instance_table(const RankAnalysis& analysis, std::size_t top, std::size_t width,
                           const Palette& palette) {
  TextTable table({{"at"},
                   {"skew"},
                   {"±", Align::Right, false, 1},
                   {"of"},
                   {"first"},
                   {"last"},
                   {"class", Align::Left},
                   {"phase", Align::Left, false, 2},
                   {"collective", Align::Left, true}});
  for (std::size_t i = 0; i < std::min(top, analysis.longest_skews.size()); ++i) {
    const RankInstance& row = analysis.longest_skews[i];
    table.add({row.begin_ns ? duration(*row.begin_ns) : "–", duration(row.skew_ns),
               row.uncertainty_ns ? duration(*row.uncertainty_ns) : "–", duration(row.ns),
               std::to_string(row.first), std::to_string(row.last), std::string(to_text(row.kind)),
               or_dash(row.phase), row.name});
  }
  return headed("longest skews", "at: since the reference's capture began", table, width, palette);
}

}  // namespace

std::string ranks_text(const RankAnalysis& analysis, std::size_t top, std::size_t width,
                       const Palette& palette) {
  std::string text = palette.heading(counted(analysis.ranks.size(), "rank"));
  text +=
      "  " +
      palette.faint("numbered by " + analysis.ranks_from +
                    (analysis.captured_by.empty() ? "" : ", captured by " + analysis.captured_by)) +
      "\n\n";
  for (const std::string& finding : analysis.findings) {
    text += wrap_lines("  " + printable(finding) + '\n', width);
  }
  text += rank_table(analysis, width, palette) + phase_table(analysis, width, palette) +
          collective_table(analysis, top, width, palette) +
          instance_table(analysis, top, width, palette);
  std::string notes;
  for (const std::string& note : analysis.notes) {
    notes += wrap_lines("  " + palette.accent("note") + "  " + printable(note) + '\n', width);
  }
  for (const RankRow& row : analysis.ranks) {
    for (const std::string& loss : row.losses) {
      notes += wrap_lines(
          fmt::format("  {}  rank {}: {}\n", palette.warning("lost"), row.rank, printable(loss)),
          width);
    }
  }
  if (!notes.empty()) text += '\n' + palette.heading("notes") + '\n' + notes;
  return text;
}

}  // namespace profline
