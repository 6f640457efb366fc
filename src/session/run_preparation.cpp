#include "session/run_preparation.h"

#include <unistd.h>

#include <algorithm>
#include <random>

#include "analysis/kernels/classify.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "config/overrides/override.h"
#include "formats/node.h"
#include "process/runner.h"
#include "session/config_keys.h"
#include "session/machine_ceilings.h"
#include "stages/all_stages.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::Severity;
using run::FolderRequest;

bool was_named(const config::Composition& composition, std::string_view key) {
  const auto& overrides = composition.overrides;
  return std::any_of(overrides.begin(), overrides.end(),
                     [&](const config::Override& given) { return given.key == key; });
}

Result<std::string> hydra_text(const Configuration& configuration, const std::string& key) {
  config::Resolution resolution(configuration.composition().root, configuration.context());
  const auto value = PL_TRY(resolution.select(key));
  if (value && value->is_string() && !value->as_string().empty()) return value->as_string();
  if (value && value->is_int()) return std::to_string(value->as_int());
  return Error(ErrorKind::Config, key + " must name a folder");
}

Result<FolderRequest> folder_request(const Configuration& configuration,
                                     const RunRequest& request) {
  if (request.job) {
    const FolderRequest sweep = PL_TRY(sweep_folder_request(configuration));
    const fs::path root = request.sweep_folder.value_or(sweep.folder);
    return FolderRequest{
        (root / PL_TRY(hydra_text(configuration, "hydra.sweep.subdir"))).lexically_normal(), true};
  }
  const fs::path folder = PL_TRY(hydra_text(configuration, "hydra.run.dir"));
  return FolderRequest{(configuration.cwd() / folder).lexically_normal(),
                       was_named(configuration.composition(), "hydra.run.dir")};
}

/// Claims, reopens or only names the run's folder.
Result<fs::path> settle_folder(const RunRequest& request, Making making, PreparedRun& run) {
  if (request.resume) {
    run.folder_was_named = true;
    run.folder.emplace(PL_TRY(run::RunFolder::reopen(*request.resume)));
    return run.folder->path();
  }
  const FolderRequest folder = PL_TRY(folder_request(*run.configuration, request));
  run.folder_was_named = folder.given;
  if (making == Making::Nothing) return run::free_run_folder(folder);
  run.folder.emplace(PL_TRY(run::RunFolder::claim(folder)));
  return run.folder->path();
}

std::uint64_t drawn_seed() {
  std::random_device random;
  constexpr unsigned kHalf = 32;
  // Within int64, which JSON readers can represent.
  return (std::uint64_t{random()} << kHalf | random()) >> 1U;
}

std::optional<std::uint64_t> sampling_seed(const settings::Root& settings,
                                           const RunRequest& request) {
  const settings::Sampling& sampling = settings.dataset.sampling();
  if (!sampling.randomize || sampling.seed) return std::nullopt;
  return request.sampling_seed ? *request.sampling_seed : drawn_seed();
}

/// Loads the driver only if a GPU is requested, because that takes a while.
std::optional<Result<gpu::Driver>> driver_for(const pipeline::Stages& stages,
                                              const settings::Root& settings) {
  const bool is_cpu = settings.device.kind == settings::Device::Kind::Cpu;
  if (is_cpu && !pipeline::needs_of(stages, settings).ncu) return std::nullopt;
  return gpu::load_driver();
}

/// Puts the device of this machine into config and settings; a missing one becomes a finding.
Result<void> settle_device(pipeline::RunSetup& setup,
                           const std::optional<Result<gpu::Driver>>& asked,
                           std::vector<Finding>& findings) {
  if (!asked) return {};  // a CPU
  const Result<gpu::Driver>& driver = *asked;
  const auto device = decide_device(setup.settings.device, driver);
  if (!device) {
    findings.push_back(
        {Severity::Problem, "device_absent", device.error().message(), "", device.error().kind()});
    return {};
  }
  setup.config.as_map().set("device", Node::string(device->to_string()));
  setup.settings = PL_TRY(settings::read_settings(setup.config));  // catches fp16 on a CPU
  if (device->kind != settings::Device::Kind::Cuda || !driver) return {};
  setup.device_name = driver->devices[device->index.value_or(0)].name;
  return {};
}

/// What the ceilings of a run are of.
MeasuredDevice measured_device(const pipeline::RunSetup& setup,
                               const std::optional<Result<gpu::Driver>>& driver) {
  MeasuredDevice device;
  device.name = setup.device_name;
  device.threads = setup.settings.pipeline.workload.threads.value_or(0);
  if (!device.is_gpu() || !driver || !*driver) return device;
  device.uuid = (*driver)->devices[setup.settings.device.index.value_or(0)].uuid;
  return device;
}

/// The programs to run: those named now, else those of the previous attempt. If one of the latter
/// is gone, that is an Error: silently using another one, or none, would change what the run
/// measures.
Result<ProgramChoice> settle_programs(const pipeline::Stage::Needs& needs,
                                      const ProgramChoice& programs) {
  ProgramChoice settled = programs;
  std::vector<Error> gone;
  const auto settle = [&](bool is_needed, const std::string& name,
                          const std::optional<std::string>& remembered, std::string& named) {
    if (!is_needed || !named.empty() || !remembered) return;
    named = *remembered;
    const auto found = find_program(named);
    if (found) return;
    std::string text = "the " + name + " that this run used no longer exists: ";
    text += found.error().message() + "; name another one: --" + name + " PROGRAM";
    gone.push_back(Error(ErrorKind::NotFound, std::move(text)).with_reason("tool_gone"));
  };
  settle(needs.workload, "workload", programs.remembered.workload, settled.workload);
  settle(needs.nsys, "nsys", programs.remembered.nsys, settled.nsys);
  settle(needs.ncu, "ncu", programs.remembered.ncu, settled.ncu);
  if (!gone.empty()) return Error::all(gone);
  return settled;
}

/// This program, if a user's program is to load what is installed with it.
fs::path executable_for(const settings::Root& settings) {
  if (!settings.pipeline.workload.user_command()) return {};
  std::error_code failure;
  return fs::read_symlink("/proc/self/exe", failure);
}

pipeline::Survey survey_of(const pipeline::Stage::Needs& needs, const ProgramChoice& programs,
                           std::optional<Result<gpu::Driver>> driver, fs::path executable) {
  pipeline::Survey survey;
  survey.driver = std::move(driver);
  survey.executable = std::move(executable);
  survey.workload = needs.workload;
  survey.nsys = needs.nsys;
  survey.ncu = needs.ncu;
  if (!programs.nsys.empty()) survey.nsys_program = programs.nsys;
  if (!programs.ncu.empty()) survey.ncu_program = programs.ncu;
  survey.find_workload = [given = programs.workload] {
    return given.empty() ? find_companion("profline-workload") : find_program(given);
  };
  return survey;
}

/// What the machine has of what is needed; jobs that share the result look only once.
pipeline::Toolbox look_for_tools(const pipeline::Survey& survey, const RunRequest& request,
                                 ProcessRunner& processes) {
  if (!request.surveys) return pipeline::survey(survey, processes);
  std::string key;
  for (const bool asked : {survey.driver.has_value(), survey.workload, survey.nsys, survey.ncu,
                           !survey.executable.empty()}) {
    key += asked ? '1' : '0';
  }
  const auto found = request.surveys->found.find(key);
  if (found != request.surveys->found.end()) return found->second;
  return request.surveys->found.emplace(key, pipeline::survey(survey, processes)).first->second;
}

pipeline::WhereSet where_set(const Configuration& configuration) {
  return [&configuration](const std::string& key) -> std::string {
    const auto history = configuration.composition().origins.history(key);
    if (history.empty()) return {};
    const config::Origin& last = history.back();
    return last.is_override ? last.position.source : last.position.to_string();
  };
}

void add_space_finding(pipeline::RunPlan& plan) {
  const bool captures =
      std::any_of(plan.stages.begin(), plan.stages.end(), [](const pipeline::PlannedStage& stage) {
        return stage.is_on() && stage.stage->is_measured_against_baseline();
      });
  if (auto finding = run::check_space(plan.setup.folder, captures)) {
    plan.findings.push_back(std::move(*finding));
  }
}

Result<pipeline::RunSetup> make_setup(const PreparedRun& run, const fs::path& folder,
                                      const RunRequest& request) {
  const Configuration& configuration = *run.configuration;
  pipeline::RunSetup setup;
  setup.id = folder.filename().string();
  setup.folder = folder;
  setup.cwd = configuration.cwd();
  config::Resolution resolution(configuration.composition().config, configuration.context());
  setup.config = PL_TRY(resolution.resolve_all());
  setup.settings = PL_TRY(settings::read_settings(setup.config));
  config::Resolution with_hydra(configuration.composition().root, configuration.context());
  const auto chdir = PL_TRY(with_hydra.select("hydra.job.chdir"));
  setup.chdir = chdir && chdir->is_bool() && chdir->as_bool();
  setup.sampling_seed = sampling_seed(setup.settings, request);
  setup.redactor = Redactor::of_environment();
  know_secrets(configuration.composition().config, setup.redactor);
  know_secrets(setup.config, setup.redactor);
  return setup;
}

/// Reports that secrets were removed from the run's files, if they were.
std::optional<Finding> redaction_finding(const pipeline::RunSetup& setup,
                                         const std::vector<std::string>& overrides) {
  const Node part = redacted_part(setup.config, redacted(setup.config, setup.redactor));
  std::vector<std::string> places;
  if (part.is_map()) {
    for_each_key(part, [&](const std::string& key, const Node& value) {
      if (!value.is_map()) places.push_back(key);
    });
  }
  const bool in_overrides = setup.redactor.words(overrides) != overrides;
  if (places.empty() && in_overrides) places.emplace_back("overrides");
  if (places.empty()) return std::nullopt;
  return Finding{Severity::Note, "redacted",
                 "values that look like secrets are replaced by " + std::string(kRedacted) +
                     " in the files of this run: " + join(places, ", ")};
}

/// Reports the settings of the hydra node that have no effect, once per sweep. Commands that make
/// sweeps have chosen a job by now.
Result<void> warn_of_hydra_node(const Configuration& configuration, const RunRequest& request,
                                const Remarks& remarks) {
  if (request.job.value_or(0) > 0 || remarks.verbosity() < 0) return {};
  std::vector<std::string> in_vain = ignored_hydra_settings(configuration.composition());
  const auto mode = PL_TRY(hydra_mode(configuration.hydra()));
  if (!request.job && !request.resume && mode == config::RunMode::Multirun) {
    in_vain.emplace_back("hydra.mode is MULTIRUN, but this command runs one job");
  }
  for (const std::string& text : in_vain) remarks.warning(text);
  return {};
}

/// Without any stage of its own, a server is only put under load, as by `profline load`.
pipeline::Stages stages_for(const settings::Pipeline& pipeline) {
  using settings::Enable;
  if (pipeline.workload.kind != settings::WorkloadKind::Server) return stages::all_stages();
  const bool only_load = pipeline.baseline.enable == Enable::No &&
                         pipeline.torch_profiler.enable == Enable::No &&
                         pipeline.nsys.enable == Enable::No;
  return only_load ? stages::load_stages() : stages::server_stages();
}

Error no_stage() {
  return Error(ErrorKind::Config,
               "no stage is enabled; enable one, as in pipeline.static_analysis.enable=true")
      .with_reason("no_stage");
}

bool all_are_off(const pipeline::RunPlan& plan) {
  return std::all_of(
      plan.stages.begin(), plan.stages.end(),
      [](const pipeline::PlannedStage& stage) { return stage.state == StageState::Off; });
}

}  // namespace

ConfigChoice for_answers(ConfigChoice choice) {
  const std::string predictions = "pipeline.direct_inference.output.prediction.enable";
  const auto mentions = [&](const std::string& text) {
    const auto given = config::parse_override(text);
    return given && given->key == predictions;
  };
  if (std::none_of(choice.overrides.begin(), choice.overrides.end(), mentions)) {
    choice.overrides.push_back(predictions + "=true");
  }
  for (const char* other : {"static_analysis", "baseline", "torch_profiler", "nsys", "ncu"}) {
    choice.overrides.push_back("pipeline." + std::string(other) + ".enable=false");
  }
  choice.overrides.push_back("pipeline.direct_inference.enable=true");
  return choice;
}

Result<FolderRequest> sweep_folder_request(const Configuration& configuration) {
  const fs::path folder = PL_TRY(hydra_text(configuration, "hydra.sweep.dir"));
  return FolderRequest{(configuration.cwd() / folder).lexically_normal(),
                       was_named(configuration.composition(), "hydra.sweep.dir")};
}

Result<PreparedRun> prepare_run(const RunRequest& request, Making making,
                                const Services& services) {
  PreparedRun run;
  run.overrides = request.choice.overrides;
  run.configuration = PL_TRY(Configuration::compose(request.choice));
  PL_TRY(warn_of_hydra_node(*run.configuration, request, services.remarks));
  run.configuration->set_mode(request.job ? config::RunMode::Multirun : config::RunMode::Run);
  if (request.job) run.configuration->set_job(*request.job);
  const fs::path folder = PL_TRY(settle_folder(request, making, run));
  run.configuration->set_output_dir(folder);
  const std::vector<Error> problems = run.configuration->problems();
  report_composition(*run.configuration, services.remarks);
  if (!problems.empty()) return Error::all(problems);
  PL_TRY(hydra_output_subdir(run.configuration->hydra()));

  pipeline::RunSetup setup = PL_TRY(make_setup(run, folder, request));
  setup.verbosity = services.remarks.verbosity();
  std::vector<Finding> findings;
  run.stages = stages_for(setup.settings.pipeline);
  const auto driver = driver_for(run.stages, setup.settings);
  PL_TRY(settle_device(setup, driver, findings));
  auto ceilings =
      PL_TRY(ceilings_for(run.configuration->composition().search_path,
                          measured_device(setup, driver), {setup.settings.ceilings, setup.cwd}));
  setup.ceilings = std::move(ceilings.used);
  setup.known_ceilings = std::move(ceilings.record);
  setup.kernel_classes =
      PL_TRY(kernels::own_classes(run.configuration->composition().search_path, setup.cwd));
  const pipeline::Stage::Needs needs = pipeline::needs_of(run.stages, setup.settings);
  const ProgramChoice programs = PL_TRY(settle_programs(needs, request.programs));
  PL_TRY(temporary_folder());  // without it every tool would appear to be missing
  pipeline::Toolbox tools =
      look_for_tools(survey_of(needs, programs, driver, executable_for(setup.settings)), request,
                     services.processes);
  if (services.interrupt.requested()) return Error(ErrorKind::Cancelled, "interrupted");
  run.plan = pipeline::make_plan(std::move(setup), std::move(tools), run.stages,
                                 where_set(*run.configuration));
  if (all_are_off(run.plan)) return no_stage();
  run.plan.findings = std::move(findings);
  add_space_finding(run.plan);
  if (auto finding = redaction_finding(run.plan.setup, run.overrides)) {
    run.plan.findings.push_back(std::move(*finding));
  }
  return run;
}

namespace {

constexpr std::string_view kMaker = "nvidia ";

std::string plain(std::string_view name) {
  const std::string small = lower(name);
  return small.starts_with(kMaker) ? small.substr(kMaker.size()) : small;
}

}  // namespace

Result<settings::Hardware> load_hardware(const config::SearchPath& search_path) {
  for (const config::SearchPath::Entry& entry : search_path.entries()) {
    if (!entry.source) continue;
    const auto file = PL_TRY(entry.source->load("hardware/devices"));
    if (file) return settings::read_hardware(file->tree);
  }
  return Error(ErrorKind::NotFound, "there is no hardware/devices.yaml on the search path");
}

const settings::DeviceLimits* find_device(const settings::Hardware& hardware,
                                          std::string_view name) {
  if (const settings::DeviceLimits* exact = hardware.find(name)) return exact;
  const settings::DeviceLimits* found = nullptr;
  for (const settings::DeviceLimits& device : hardware.devices) {
    const bool is_it = std::any_of(device.names.begin(), device.names.end(),
                                   [&](const auto& known) { return plain(known) == plain(name); });
    if (!is_it) continue;
    if (found != nullptr) return nullptr;
    found = &device;
  }
  return found;
}

Result<settings::Device> decide_device(const settings::Device& asked,
                                       const Result<gpu::Driver>& driver) {
  using Kind = settings::Device::Kind;
  const settings::Device cpu{.kind = Kind::Cpu, .index = {}};
  if (asked.kind == Kind::Cpu) return cpu;
  if (asked.kind == Kind::Auto && !driver) return cpu;
  const std::uint16_t index = asked.index.value_or(0);
  if (!driver) {
    return Error(ErrorKind::NotFound, "device " + asked.to_string() + ": " +
                                          driver.error().message() + "; device=cpu needs no GPU");
  }
  if (index >= driver->devices.size()) {
    return Error(ErrorKind::NotFound, "device " + asked.to_string() + ": there " +
                                          (driver->devices.size() == 1 ? "is " : "are ") +
                                          counted(driver->devices.size(), "CUDA device") + " here");
  }
  return settings::Device{.kind = Kind::Cuda, .index = index};
}

std::string device_name(const settings::Device& device, const Result<gpu::Driver>& driver) {
  if (device.kind == settings::Device::Kind::Cpu || !driver) return "";
  const int index = device.index.value_or(0);
  for (const gpu::Device& found : driver->devices) {
    if (found.index == index) return found.name;
  }
  return "";
}

}  // namespace profline::session
