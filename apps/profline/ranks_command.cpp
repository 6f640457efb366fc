#include <unistd.h>

#include "command_line.h"
#include "ranks_text.h"
#include "session/ranks.h"
#include "standard_streams.h"
#include "verb.h"

namespace profline {
namespace {

/// `profline ranks RUN`: which rank is late, and what the collectives' time is.
class RanksVerb final : public Verb {
 public:
  std::string_view name() const override { return "ranks"; }
  std::string_view summary() const override {
    return "compare the ranks of a run: who is late, and what communication costs";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline ranks tmp/profile-output/20261115-100000",
         "time per rank, the late rank, each collective"},
        {"profline ranks tmp/profile-output/20261115-100000 --format json",
         "the same for programs"},
    };
  }
  std::string_view words() const override { return "RUN"; }
  std::vector<Option> options() const override {
    return {{"--top", "", Option::Takes::Value, "N", "rows per table, or 'all' [20]"}};
  }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

Result<ExitCode> RanksVerb::run(const Services&, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.size() != 1) return usage("'profline ranks RUN' takes one run's folder");
  const std::size_t top = PL_TRY(rows_asked_for(arguments)).value_or(kDefaultTop);
  const RankAnalysis analysis = PL_TRY(session::compare_ranks(arguments.words.front()));
  if (invocation.output.format == OutputFormat::Json) {
    PL_TRY(print_result(PL_TRY(to_document(analysis))));
    return ExitCode::Done;
  }
  const Palette palette(wants_color(arguments.value("--color"), STDOUT_FILENO));
  PL_TRY(print_result(ranks_text(analysis, top, output_width(), palette)));
  return ExitCode::Done;
}

std::unique_ptr<Verb> ranks_verb() {
  return std::make_unique<RanksVerb>();
}

}  // namespace profline
