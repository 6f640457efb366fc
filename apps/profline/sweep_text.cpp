#include "sweep_text.h"

#include <fmt/core.h>

#include "base/terminal_text.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "sweep/report.h"
#include "text_table.h"

namespace profline {
namespace {

using sweep::Job;
using Align = TextTable::Align;

std::string ended_jobs_text(const sweep::Sweep& sweep, std::size_t width) {
  TextTable table(
      {{"job"}, {"state", Align::Left}, {"overrides", Align::Left}, {"", Align::Left, true}});
  for (const Job& job : sweep.jobs) {
    table.add({std::to_string(job.number), std::string(schema::name_of(job.status.state)),
               sweep::label_of(sweep, job), job.status.why});
  }
  return table.render(width, Palette(false));
}

}  // namespace

std::string best_jobs_text(const sweep::Sweep& sweep) {
  std::string text;
  for (const sweep::Best& best : sweep.best) {
    const Job& job = sweep.jobs[static_cast<std::size_t>(best.job)];
    const std::string others = sweep::as_good_text(best);
    text += fmt::format("{:<16}  {}  job {}: {}{}\n", "best " + best.metric,
                        sweep::metric_text(*job.find_metric(best.metric), true), job.number,
                        printable(sweep::label_of(sweep, job)),
                        others.empty() ? "" : " (" + others + ")");
  }
  return text;
}

std::string sweep_answer(const sweep::Sweep& sweep, const std::filesystem::path& folder,
                         std::size_t width) {
  const auto fact = [](std::string_view name, const std::string& value) {
    return fmt::format("{:<16}  {}\n", name, printable(value));
  };
  return for_terminal(fact("sweep", folder.string()) + fact("jobs", sweep::state_counts(sweep))) +
         ended_jobs_text(sweep, width) +
         for_terminal(best_jobs_text(sweep) +
                      fact("report", (folder / run::files::kSweepPage).string()));
}

}  // namespace profline
