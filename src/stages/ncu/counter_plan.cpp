#include "stages/ncu/internal/counter_plan.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "analysis/counter_budget/budget.h"
#include "analysis/requests/phases.h"
#include "base/figures.h"
#include "base/strings.h"
#include "pipeline/workload_stage.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "stages/ncu/internal/captures.h"
#include "tools/ncu/nvtx.h"
#include "tools/ncu/profile_command.h"

namespace profline::stages::internal {
namespace {

using counter_budget::Census;
using counter_budget::Choice;
using counter_budget::Collection;
using counter_budget::Costs;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::uint64_t kMostLaunches = settings::kMostLaunches;
constexpr const char* kAllSections = "all sections";
constexpr const char* kOnlyRoofline = "the roofline, without other sections";

bool uses_kernel_replay(const settings::NcuCli& cli) {
  return !cli.replay_mode || *cli.replay_mode == settings::ReplayMode::Kernel;
}

/// The phase without parts in which the requests spent most time; empty: there are no phases.
std::string longest_phase(const run::Run& files) {
  const auto& requests = files.baseline();
  if (!requests) return "";
  const requests::PhaseTree tree(*requests);
  std::string longest;
  double most_ns = 0;
  for (const requests::PhaseInfo& phase : tree.phases()) {
    const double ns = requests::phase_time(*requests, phase.path).ns;
    if (phase.has_parts || phase.is_host || ns <= most_ns) continue;
    most_ns = ns;
    longest = phase.name;
  }
  return longest;
}

/// The range named by the user if it is a plain name; empty: several, or ncu's own grammar.
std::string plain_gate(const settings::Ncu& ncu) {
  const std::vector<ncu::NvtxExpression> gate = ncu::gate(ncu);
  if (gate.size() != 1 || gate.front().passed != gate.front().given + "/") return "";
  return gate.front().given;
}

struct Counted {
  Census census;
  std::string source;
};

/// The first capture in which something was launched inside the gate; nsys has the order of
/// launches with little overhead, so its captures come first. Only launches that ncu will see: it
/// may run fewer requests.
std::optional<Counted> count_launches(const settings::Root& settings, const run::Run& files,
                                      const std::string& gate) {
  const auto& baseline = files.baseline();
  const std::uint64_t requests = baseline ? baseline->size() : 0;
  const auto& ranges = files.get(run::kNsysRanges);
  if (ranges) {
    for (const NsysCapture& capture : ranges->captures) {
      const std::string file = std::string(run::stages::kNsys) + "/" + capture.sqlite;
      const run::Artifact<Timeline> timeline = files.read_capture(capture.sqlite);
      if (!timeline) continue;
      const std::uint64_t instances =
          instances_under_ncu(settings, counter_budget::gate_instances(*timeline, gate), requests);
      Census census = counter_budget::take_census(*timeline, gate, instances);
      if (gate.empty()) {  // no more than their part, as loading comes first
        census.launches.resize(instances_under_ncu(settings, census.launches.size(), requests));
      }
      if (!census.launches.empty()) return Counted{std::move(census), file};
    }
  }
  const run::Artifact<Timeline> trace = files.read(run::kTorchTrace);
  if (!trace) return std::nullopt;
  Census census = counter_budget::take_census(*trace, gate);
  if (census.launches.empty()) return std::nullopt;
  return Counted{std::move(census), trace.file};
}

/// How long the workload takes without ncu: under nsys, which runs the same requests, else as the
/// baseline.
nanoseconds program_time(const run::Run& files) {
  for (const char* const name : {run::stages::kNsys, run::stages::kBaseline}) {
    const StageRecord* const stage = files.record().find_stage(name);
    if (stage == nullptr) continue;
    std::int64_t longest_ns = 0;
    for (const CommandRecord& command : stage->commands) {
      const bool is_workload = command.name.starts_with("capture") || name != run::stages::kNsys;
      if (is_workload) longest_ns = std::max(longest_ns, command.wall_ns);
    }
    if (longest_ns > 0) return nanoseconds(longest_ns);
  }
  return nanoseconds(0);
}

std::vector<Collection> collections_of(const settings::NcuCli& cli) {
  const std::vector<std::string> sections =
      cli.sections ? cli.sections->items : std::vector<std::string>();
  const std::size_t metrics = cli.metrics ? cli.metrics->items.size() : 0;
  std::vector<Collection> collections = {
      {kAllSections, counter_budget::expected_passes(cli.set, sections, metrics)}};
  if (cli.set && !sections.empty()) {
    collections.push_back({kOnlyRoofline, counter_budget::expected_passes(cli.set, {}, metrics)});
  }
  return collections;
}

double in_seconds(nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

void take_choice(const Choice& choice, const std::vector<Collection>& collections,
                 CounterPlan& plan) {
  plan.skip = choice.skip;
  plan.count = choice.count;
  plan.kernels = choice.kernels;
  plan.collection = collections[choice.collection].name;
  plan.passes = collections[choice.collection].passes;
  plan.expected_coverage = choice.coverage();
  plan.reachable_coverage =
      static_cast<double>(choice.reachable_ns) / static_cast<double>(choice.all_ns);
  plan.expected_s = in_seconds(choice.time);
}

/// As many launches as fit, from the beginning of the gate.
void take_the_first(const settings::Ncu& ncu, const Costs& costs,
                    const std::vector<Collection>& collections, CounterPlan& plan) {
  const std::uint32_t passes = collections.front().passes;
  const std::uint64_t fits =
      std::max<std::uint64_t>(counter_budget::affordable(costs, passes, seconds(*ncu.budget_s)), 1);
  plan.count = std::min<std::uint64_t>(fits, ncu.max_launches.value_or(fits));
  plan.collection = collections.front().name;
  plan.passes = passes;
  plan.expected_s = in_seconds(counter_budget::expected_time(costs, passes, plan.count));
}

/// The prediction is far off then. A program whose own time is not known is not stopped.
std::optional<double> limit_of(const CounterPlan& plan, const Costs& costs) {
  constexpr double kTimes = 3;
  constexpr double kStart = 60;  // of the program under ncu
  if (costs.program.count() == 0) return std::nullopt;
  return kTimes * std::max(plan.budget_s, plan.expected_s) + kStart;
}

}  // namespace

bool chooses_launches(const settings::Ncu& ncu) {
  const settings::NcuCli& cli = ncu.ncu_cli;
  return ncu.budget_s && !cli.launch_count && !cli.launch_skip && !cli.kernel_name &&
         uses_kernel_replay(cli);
}

std::string budget_note(const settings::Ncu& ncu) {
  return fmt::format(
      "the launches to count are chosen once nsys or the torch profiler has captured the kernels: "
      "those of the longest phase that cover most kernel time within {} s, as predicted "
      "(pipeline.ncu.budget_s)",
      *ncu.budget_s);
}

CounterPlan plan_counters(const pipeline::StageContext& context, bool user_names_ranges,
                          bool picks_instances) {
  const settings::Ncu& own = context.setup.settings.pipeline.ncu;
  CounterPlan plan;
  plan.budget_s = *own.budget_s;
  const auto files = run::Run::open(context.setup.folder);
  const std::vector<Collection> collections = collections_of(own.ncu_cli);
  Costs costs;
  if (!files) {
    plan.why = files.error().to_string();
    take_the_first(own, costs, collections, plan);
    return plan;
  }
  const std::string longest = user_names_ranges ? "" : longest_phase(*files);
  const bool is_gated = own.gating_nvtx && !picks_instances;
  if (is_gated) plan.gate = longest.empty() ? plain_gate(own) : longest;
  costs.program = program_time(*files);
  const bool is_plain = !plan.gate.empty() || ncu::gate(own).empty();
  if (picks_instances || !is_plain) {
    plan.why = "launches can be counted only in one range with a plain name";
  } else if (auto counted = count_launches(context.setup.settings, *files, plan.gate)) {
    plan.source = counted->source;
    plan.launches = counted->census.launches.size();
    costs.program_launches = counted->census.all_launches;
    if (const auto choice =
            counter_budget::choose(counted->census, collections, costs, seconds(*own.budget_s),
                                   own.max_launches.value_or(kMostLaunches))) {
      take_choice(*choice, collections, plan);
      plan.limit_s = limit_of(plan, costs);
      return plan;
    }
    plan.why =
        fmt::format("the workload alone takes {}", duration(in_seconds(costs.program) * 1e9));
  } else {
    plan.why = "neither nsys nor the torch profiler captured kernels" +
               (plan.gate.empty() ? "" : " in " + plan.gate);
  }
  take_the_first(own, costs, collections, plan);
  plan.limit_s = limit_of(plan, costs);
  return plan;
}

std::uint64_t instances_under_ncu(const settings::Root& settings, std::uint64_t captured,
                                  std::uint64_t requests) {
  const auto run_by = [&](std::optional<std::uint32_t> samples) -> std::uint64_t {
    return pipeline::profiled_requests(settings, samples).count.value_or(requests);
  };
  const std::uint64_t under_nsys = run_by(settings.pipeline.nsys.samples);
  const std::uint64_t under_ncu = run_by(settings.pipeline.ncu.samples);
  if (under_ncu >= under_nsys) return captured;
  return std::max(captured * under_ncu / under_nsys, std::min<std::uint64_t>(captured, 1));
}

bool may_drop_gate(const pipeline::StageContext& context, const CounterPlan& plan) {
  if (!plan.source.empty()) return false;
  const auto files = run::Run::open(context.setup.folder);
  return !files || longest_phase(*files).empty();
}

settings::Ncu with_plan(settings::Ncu ncu, const CounterPlan& plan) {
  settings::NcuCli& cli = ncu.ncu_cli;
  if (!plan.gate.empty()) cli.nvtx.include = schema::SemicolonList{{plan.gate}};
  if (plan.skip > 0) cli.launch_skip = static_cast<std::uint32_t>(plan.skip);
  cli.launch_count = static_cast<std::uint32_t>(plan.count);
  if (plan.collection == kOnlyRoofline) cli.sections.reset();
  return ncu;
}

std::string plan_words(const CounterPlan& plan) {
  const std::string where = plan.gate.empty() ? "" : " inside " + plan.gate;
  std::string text =
      fmt::format("counts {} of {}{}", counted(plan.count, "launch", "launches"),
                  plan.launches > 0 ? std::to_string(plan.launches) : "those", where);
  if (plan.skip > 0) text += fmt::format(", after the first {}", plan.skip);
  text += fmt::format(" with {} (about {} each)", plan.collection,
                      counted(plan.passes, "replay", "replays"));
  if (plan.expected_coverage) {
    text += fmt::format(": {} with {} of the kernel time", counted(plan.kernels, "kernel"),
                        percent(*plan.expected_coverage));
    if (plan.reachable_coverage.value_or(0) > *plan.expected_coverage + 0.01) {
      text += fmt::format(" ({} is launched there)", percent(*plan.reachable_coverage));
    }
  }
  text += fmt::format(", in about {:.0f} s of {:.0f} s", plan.expected_s, plan.budget_s);
  if (!plan.source.empty()) text += "; launches from " + plan.source;
  return plan.why.empty() ? text : text + "; they are not chosen: " + plan.why;
}

std::string outcome_words(const CounterPlan& plan) {
  std::string text = fmt::format(
      "counted {} of {} in {:.0f} s ({:.0f} s expected)", plan.counted.value_or(0),
      counted(plan.count, "launch", "launches"), plan.seconds.value_or(0), plan.expected_s);
  if (plan.coverage) {
    text += fmt::format(": {} of the kernel time has counters", percent(*plan.coverage));
    if (plan.expected_coverage)
      text += fmt::format(" ({} expected)", percent(*plan.expected_coverage));
  }
  return text;
}

void add_outcome(const pipeline::StageContext& context, const NcuKernels& kernels,
                 CounterPlan& plan) {
  plan.counted = kernels.launches;
  if (plan.source.empty()) return;
  const auto files = run::Run::open(context.setup.folder);
  if (!files) return;
  using Identity = std::tuple<std::string, std::vector<std::uint32_t>, std::vector<std::uint32_t>>;
  std::set<Identity> known;
  for (const NcuKernel& kernel : kernels.kernels) {
    known.insert({kernel.name, kernel.grid, kernel.block});
  }
  // Kernels as the census has them, whichever range they were launched in.
  const auto counted = count_launches(context.setup.settings, *files, plan.gate);
  if (!counted) return;
  std::int64_t covered_ns = 0;
  for (const counter_budget::Kernel& kernel : counted->census.kernels) {
    if (known.contains({kernel.name, kernel.grid, kernel.block})) covered_ns += kernel.exclusive_ns;
  }
  const std::int64_t all_ns = counted->census.exclusive_ns();
  if (all_ns > 0) plan.coverage = static_cast<double>(covered_ns) / static_cast<double>(all_ns);
}

}  // namespace profline::stages::internal
