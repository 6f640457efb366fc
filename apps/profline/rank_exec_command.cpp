#include "session/rank_exec.h"
#include "verb.h"

namespace profline {
namespace {

/// `profline rank-exec`: one rank of a program, as the run that started the launcher plans it.
class RankExecVerb final : public Verb {
 public:
  std::string_view name() const override { return "rank-exec"; }
  std::string_view summary() const override {
    return "run one rank of a program; srun, mpirun and torchrun call this";
  }
  std::vector<Example> examples() const override {
    return {{"srun -n 4 profline rank-exec tmp/run/baseline/launch.json -- ./train",
             "what 'profline run' starts for a program with four ranks"}};
  }
  std::string_view words() const override { return "LAUNCH -- PROGRAM..."; }
  std::vector<Option> options() const override { return {}; }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override {
    const std::vector<std::string>& words = invocation.arguments.words;
    if (words.size() < 2) {
      return usage("'profline rank-exec' takes a launch.json and, after '--', a program");
    }
    const int code =
        PL_TRY(session::run_rank(words.front(), {words.begin() + 1, words.end()}, services));
    return static_cast<ExitCode>(code);  // the launcher sees the program's own
  }
};

}  // namespace

std::unique_ptr<Verb> rank_exec_verb() {
  return std::make_unique<RankExecVerb>();
}

}  // namespace profline
