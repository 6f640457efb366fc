#include "compare_command.h"

#include <unistd.h>

#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "base/files.h"
#include "command_line.h"
#include "comparison/compare.h"
#include "comparison/pages.h"
#include "comparison/run_measurements.h"
#include "comparison_text.h"
#include "earlier_runs.h"
#include "option_values.h"
#include "standard_streams.h"
#include "statistics/distributions.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using comparison::Comparison;
using comparison::KnownSpread;
using comparison::RunMeasurements;

constexpr std::size_t kDefaultTop = 20;

/// What the options ask for.
struct Wishes {
  std::optional<double> threshold;
  std::optional<double> run_spread;
  std::vector<std::string> metrics;
  std::size_t top = kDefaultTop;
};

Result<Wishes> wishes_of(const Arguments& arguments) {
  Wishes wishes;
  if (const auto given = arguments.value("--threshold")) {
    wishes.threshold = PL_TRY(parse_share(*given, "--threshold"));
  }
  if (const auto given = arguments.value("--run-spread")) {
    wishes.run_spread = PL_TRY(parse_share(*given, "--run-spread"));
  }
  if (const auto given = arguments.value("--top")) {
    wishes.top = *given == "all" ? std::numeric_limits<std::size_t>::max()
                                 : PL_TRY(parse_count(*given, "--top", 1));
  }
  for (const Arguments::Given& option : arguments.options()) {
    if (option.name == "--metric" && option.value) wishes.metrics.push_back(*option.value);
  }
  return wishes;
}

Result<std::vector<RunMeasurements>> read_side(const std::vector<fs::path>& folders,
                                               bool with_captures, const Interrupt& interrupt) {
  std::vector<RunMeasurements> side;
  for (const fs::path& folder : folders) {
    if (interrupt.requested()) return Error(ErrorKind::Cancelled, "interrupted");
    side.push_back(PL_TRY(comparison::read_measurements(folder, {.captures = with_captures})));
  }
  return side;
}

KnownSpread given_spread(double difference_of_two) {
  const double reach = std::sqrt(2.0) * statistics::normal_quantile(0.975);
  return {{.deviation = std::log1p(difference_of_two) / reach},
          fmt::format("by --run-spread two runs differ by up to {:.3g} %", 100 * difference_of_two),
          KnownSpread::Basis::Given};
}

Result<void> write_pages(const Comparison& found, const Arguments& arguments, std::size_t top) {
  if (const auto file = arguments.value("--markdown")) {
    PL_TRY(write_file_atomic(*file, comparison::markdown_page(found, {.top = top})));
  }
  if (const auto file = arguments.value("--html")) {
    PL_TRY(write_file_atomic(*file, comparison::html_page(found, {.top = top})));
  }
  return {};
}

bool is_failure(const Comparison& found, const Arguments& arguments) {
  const std::string on = arguments.value("--fail-on").value_or("slower");
  if (on == "never") return false;
  if (!found.regressions.empty()) return true;
  if (on != "undecided") return false;
  for (const comparison::Row& row : found.rows) {
    if (row.verdict == std::optional(comparison::Verdict::Undecided)) return true;
  }
  return false;
}

}  // namespace

std::vector<Option> CompareVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--threshold", "", Takes::Value, "SHARE",
       "changes up to this do not matter (default 1%, on a CPU 5%)"},
      {"--metric", "", Takes::Value, "NAME",
       "only this row, or rows: a name, one with *, or metrics, stages, operators, kernels; may be "
       "repeated"},
      {"--fail-on",
       "",
       Takes::Value,
       "VERDICT",
       "what exit code 1 is for (default slower)",
       {"slower", "undecided", "never"}},
      {"--run-spread", "", Takes::Value, "SHARE",
       "by how much two runs of the same thing may differ, where that is known"},
      {"--markdown", "", Takes::Value, "FILE", "also write it for a pull request"},
      {"--html", "", Takes::Value, "FILE", "also write it as a page"},
      {"--top", "", Takes::Value, "N", "rows of operators and kernels, or 'all' (default 20)"},
  };
}

Result<ExitCode> CompareVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.size() != 2) {
    return Error(ErrorKind::Config,
                 fmt::format("'profline compare RUN_A RUN_B' takes two folders of runs, not {}",
                             arguments.words.size()))
        .with_reason("usage");
  }
  const Wishes wishes = PL_TRY(wishes_of(arguments));
  const std::vector<fs::path> folders_a = PL_TRY(comparison::runs_in(arguments.words[0]));
  const std::vector<fs::path> folders_b = PL_TRY(comparison::runs_in(arguments.words[1]));
  const bool with_captures = comparison::wants_captures(wishes.metrics);
  auto a = PL_TRY(read_side(folders_a, with_captures, services.interrupt));
  auto b = PL_TRY(read_side(folders_b, with_captures, services.interrupt));

  std::vector<fs::path> all = folders_a;
  all.insert(all.end(), folders_b.begin(), folders_b.end());
  EarlierRuns earlier(all);
  for (auto* side : {&a, &b}) {
    for (RunMeasurements& run : *side) run.opens_series = earlier.opens_series(run.run.folder);
  }
  const KnownSpread stated = comparison::stated_spread(a, b);
  const comparison::Rules rules{
      .threshold = wishes.threshold.value_or(comparison::usual_threshold(a, b)),
      .only = wishes.metrics,
      .known_spread = [&](const comparison::Series& series) {
        if (wishes.run_spread) return given_spread(*wishes.run_spread);
        return earlier.spread(series.name).value_or(stated);
      }};
  const Comparison found = PL_TRY(comparison::compare(std::move(a), std::move(b), rules));

  PL_TRY(write_pages(found, arguments, wishes.top));
  if (invocation.output.format == OutputFormat::Json) {
    PL_TRY(print_result(PL_TRY(to_document(found))));
  } else {
    const Palette palette(wants_color(arguments.value("--color"), STDOUT_FILENO));
    PL_TRY(print_result(for_terminal(comparison_text(found, wishes.top, output_width(), palette))));
  }
  return is_failure(found, arguments) ? ExitCode::Failed : ExitCode::Done;
}

}  // namespace profline
