// The status of a sweep of many jobs: one file per job, and one answer of squeue.

#include <benchmark/benchmark.h>

#include "sweep/report.h"
#include "sweep/status.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace {

using namespace profline;

void status_of_many_jobs(benchmark::State& state) {
  const testing::TempDir folder;
  const Interrupt interrupt;
  sweep::Sweep made;
  sweep::Submission all{.number = 1, .launcher = sweep::LauncherKind::Slurm, .slurm_job = "7"};
  std::string queue;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const std::string number = std::to_string(i);
    made.jobs.push_back({i, number, {"infer.max_new_tokens=" + number}, {}, "", {}});
    all.jobs.push_back(i);
    queue += "7|" + number + "|RUNNING|None\n";
    auto claim = sweep::TaskClaim::take(folder.path(), i, interrupt, {});
    if (!claim || !claim->begin({.submission = 1})) state.SkipWithError("cannot write a record");
  }
  made.submissions = {all};
  const auto lock = sweep::SweepLock::take(folder.path());
  if (!lock || !lock->write(made)) state.SkipWithError("cannot write the sweep");
  testing::FakeProcesses processes;
  processes.expect({"squeue"}).prints(queue).any_number_of_times();
  while (state.KeepRunning()) {
    auto observed = sweep::observe(folder.path(), processes);
    if (!observed) state.SkipWithError("no status");
    sweep::summarise(observed->sweep);
    benchmark::DoNotOptimize(observed);
  }
}
BENCHMARK(status_of_many_jobs)->Arg(32)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
