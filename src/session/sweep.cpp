#include "session/sweep.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "config/hydra_node.h"
#include "config/overrides/override.h"
#include "session/configuration.h"
#include "sweep/report.h"

namespace profline::session {
namespace {

using Texts = std::vector<std::string>;

/// Hydra's own overrides go to every job unchanged. Parameters of the config precede what was
/// typed, so that for equal keys the latter wins.
Result<std::vector<Texts>> expand(const Configuration& multirun, SweeperSettings sweeper) {
  Texts for_hydra;
  for (const config::Override& given : multirun.composition().overrides) {
    if (config::is_hydra_override(given)) {
      for_hydra.push_back(given.text);
    } else {
      sweeper.params.push_back(given);
    }
  }
  const config::ConfigRepository repository(multirun.composition().search_path, multirun.context());
  config::SweepServices services;
  services.group_options = [&repository](const std::string& group) -> Result<Texts> {
    return repository.options_of(group);
  };
  std::vector<Texts> jobs;
  for (const config::Batch& batch :
       PL_TRY(config::expand_sweeps(sweeper.params, sweeper.max_batch_size, services))) {
    for (const config::Job& job : batch) {
      jobs.push_back(for_hydra);
      jobs.back().insert(jobs.back().end(), job.begin(), job.end());
    }
  }
  return jobs;
}

/// `job 0`, `jobs 0, 1`, `jobs 0, 1, 2, 3, 4, 5, 6, 7 and 92 more`.
std::string named(const std::vector<std::size_t>& jobs) {
  constexpr std::size_t kNamed = 8;
  Texts numbers;
  for (std::size_t i = 0; i < std::min(jobs.size(), kNamed); ++i) {
    numbers.push_back(std::to_string(jobs[i]));
  }
  std::string text = (jobs.size() == 1 ? "job " : "jobs ") + join(numbers, ", ");
  if (jobs.size() > kNamed) text += " and " + std::to_string(jobs.size() - kNamed) + " more";
  return text;
}

/// Finds jobs that would use the same folder.
class JobFolders {
 public:
  std::optional<Error> add(std::size_t job, const std::filesystem::path& folder) {
    const auto [first, is_new] = jobs_.try_emplace(folder.string(), job);
    if (is_new) return std::nullopt;
    return Error(ErrorKind::Config, "hydra.sweep.subdir names the folder of job " +
                                        std::to_string(first->second) + " again: '" +
                                        folder.string() + "'");
  }

 private:
  std::map<std::string, std::size_t> jobs_;
};

}  // namespace

void Jobs::lie_in(const std::filesystem::path& folder) {
  for (RunRequest& request : requests) request.sweep_folder = folder;
}

Result<Jobs> jobs_of(const RunRequest& request, bool multirun_given, const Remarks& remarks) {
  const auto multirun = Configuration::compose(request.choice, config::RunMode::Multirun);
  if (!multirun) {
    if (multirun_given) return multirun.error();
    return Jobs{{request}};  // preparing the run reports what is wrong
  }
  const Configuration& configuration = **multirun;
  const auto mode = PL_TRY(hydra_mode(configuration.hydra()));
  if (!multirun_given && mode != config::RunMode::Multirun) return Jobs{{request}};
  if (mode == config::RunMode::Run) {
    remarks.warning("--multirun overrides hydra.mode, which is RUN");
  }
  Jobs jobs;
  jobs.asked = request;
  jobs.launcher = PL_TRY(launcher_choice(configuration.hydra()));
  jobs.sweep = PL_TRY(sweep_folder_request(configuration));
  for (Texts& overrides :
       PL_TRY(expand(configuration, PL_TRY(sweeper_settings(configuration.hydra()))))) {
    jobs.requests.push_back(request);
    jobs.requests.back().job = jobs.requests.size() - 1;
    jobs.requests.back().choice.overrides = std::move(overrides);
  }
  return jobs;
}

std::string job_line(std::size_t number, const std::vector<std::string>& overrides) {
  Texts shown;
  for (const std::string& text : overrides) {
    if (!sweep::is_hydras(sweep::setting_of(text).key)) shown.push_back(text);
  }
  return fmt::format("#{} : {}", number, printable(join(shown, " ")));
}

void JobProblems::add(std::size_t job, const Error& error) {
  for (const Error& problem : error.each()) {
    const auto [place, is_new] = by_text_.try_emplace(problem.to_string(), problems_.size());
    if (is_new) problems_.push_back({problem, {}});
    problems_[place->second].jobs.push_back(job);
  }
}

bool JobProblems::are_enough() const {
  constexpr std::size_t kEnough = 20;
  return problems_.size() >= kEnough;
}

Result<void> JobProblems::result() const {
  if (problems_.empty()) return {};
  std::vector<Error> errors;
  errors.reserve(problems_.size());
  for (const Problem& problem : problems_) {
    errors.push_back(problem.error.during(named(problem.jobs)));
  }
  return Error::all(errors);
}

Result<CheckedJobs> check_jobs(const std::vector<RunRequest>& requests, const Services& services,
                               JobsRun where) {
  Services quiet = services;
  quiet.remarks = Remarks();  // a job's warnings are printed when it starts
  const auto surveys = std::make_shared<ToolSurveys>();
  CheckedJobs checked;
  JobProblems problems;
  JobProblems missing_here;
  JobFolders folders;
  for (std::size_t i = 0; i < requests.size() && !problems.are_enough(); ++i) {
    RunRequest request = requests[i];
    request.surveys = surveys;
    const auto run = prepare_run(request, Making::Nothing, quiet);
    if (!run) {
      if (run.error().kind() == ErrorKind::Cancelled) return run.error();
      problems.add(i, run.error());
      continue;
    }
    if (const auto obstacle = run->plan.obstacle()) {
      (where == JobsRun::Here ? problems : missing_here).add(i, *obstacle);
    }
    if (const auto taken = folders.add(i, run->plan.setup.folder)) problems.add(i, *taken);
    const Redactor& redactor = run->plan.setup.redactor;
    checked.jobs.push_back({run->plan.setup.folder, redactor.words(request.choice.overrides)});
    if (i == 0) checked.argv = redactor.words(request.argv);
  }
  PL_TRY(problems.result());
  if (const auto missing = missing_here.result(); !missing) {
    checked.not_on_this_machine = missing.error();
  }
  return checked;
}

Result<std::vector<PreparedRun>> plan_jobs(Jobs& jobs, const Services& services) {
  if (jobs.sweep) jobs.lie_in(PL_TRY(run::free_run_folder(*jobs.sweep)));
  std::vector<PreparedRun> runs;
  JobProblems problems;
  for (const RunRequest& request : jobs.requests) {
    auto run = prepare_run(request, Making::Nothing, services);
    if (run) {
      runs.push_back(std::move(*run));
    } else if (request.job && run.error().kind() != ErrorKind::Cancelled) {
      problems.add(*request.job, run.error());
    } else {
      return run.error();
    }
    if (problems.are_enough()) break;
  }
  PL_TRY(problems.result());
  return runs;
}

Result<FinishedRun> run_once(const RunRequest& request, const Services& services) {
  if (request.resume) return resume_run(request, services);
  PreparedRun run = PL_TRY(prepare_run(request, Making::Folder, services));
  return start_run(run, request, services);
}

}  // namespace profline::session
