#include <algorithm>
#include <numeric>

#include "analysis/requests/phases.h"
#include "run/names/artifact_names.h"
#include "summary/internal/parts.h"

namespace profline::summary {
namespace {

const Request* same_input(const run::Requests& requests, const Request& like) {
  const std::string input = requests::input_of(like);
  const auto found = std::find_if(requests.begin(), requests.end(), [&](const Request& request) {
    return requests::input_of(request) == input;
  });
  return found == requests.end() ? nullptr : &*found;
}

double first_steps(const Phase& phase, std::size_t steps) {
  return std::accumulate(phase.steps_ns->begin(),
                         phase.steps_ns->begin() + static_cast<std::ptrdiff_t>(steps), 0.0,
                         [](double sum, std::int64_t ns) { return sum + static_cast<double>(ns); });
}

/// Nothing if what the baseline usually takes for this is not known.
std::optional<PairedTime> pair_of(const run::Requests& baseline, const requests::SteadyPart& steady,
                                  const Request& without, const Request& with,
                                  std::string_view path) {
  const auto index = static_cast<std::size_t>(&without - baseline.data());
  const Phase* const before = without.find_phase(path);
  const Phase* const after = with.find_phase(path);
  if (before != nullptr && after != nullptr && before->steps_ns && after->steps_ns) {
    const std::size_t steps = std::min(before->steps_ns->size(), after->steps_ns->size());
    if (steps == 0) return PairedTime{};
    const auto usual_ns = steady.typical_ns(index, path, steps);
    if (!usual_ns) return std::nullopt;
    return PairedTime{static_cast<double>(steps), *usual_ns, first_steps(*after, steps)};
  }
  const double units =
      std::min(requests::phase_time(without, path).units, requests::phase_time(with, path).units);
  if (units <= 0) return PairedTime{};
  const auto usual_ns = steady.typical_ns(index, path, 0);
  if (!usual_ns) return std::nullopt;
  return PairedTime{units, *usual_ns, requests::phase_time(with, path).ns};
}

/// A user's program is timed by its process, including everything that the tool does around it.
void add_program(const RunRecord& run, const SummaryProgram& program,
                 std::vector<SummaryOverhead>& all) {
  if (program.wall_ns <= 0) return;
  for (const StageRecord& stage : run.stages) {
    if (stage.name == run::stages::kBaseline || stage.state != StageState::Ok) continue;
    for (const CommandRecord& command : stage.commands) {
      if (!command.name.starts_with("capture") || command.wall_ns <= 0) continue;
      const auto profiled = static_cast<double>(command.wall_ns);
      all.push_back({stage.name, "the whole program, with the tool's own work", "run", 1,
                     program.wall_ns, profiled, profiled / program.wall_ns, run::files::kRecord});
    }
  }
}

}  // namespace

std::optional<PairedTime> paired_time(const run::Requests& baseline,
                                      const requests::SteadyPart& steady,
                                      const run::Requests& profiled, std::size_t count,
                                      std::string_view path) {
  PairedTime sum;
  for (std::size_t i = 0; i < std::min(count, profiled.size()); ++i) {
    const Request* const same = same_input(baseline, profiled[i]);
    if (same == nullptr) return std::nullopt;
    const auto pair = pair_of(baseline, steady, *same, profiled[i], path);
    if (!pair) return std::nullopt;
    sum.units += pair->units;
    sum.baseline_ns += pair->baseline_ns;
    sum.profiled_ns += pair->profiled_ns;
  }
  if (sum.units == 0 || sum.baseline_ns <= 0) return std::nullopt;
  return sum;
}

std::optional<SummaryProgram> program_of(const run::Run& run) {
  const auto& process = run.get(run::kProcess);
  if (!process) return std::nullopt;
  const auto number = [&](const char* key) {
    const Node* found = process->find(key);
    return found != nullptr && found->is_int() ? static_cast<double>(found->as_int()) : 0.0;
  };
  SummaryProgram program;
  program.wall_ns = number("wall_ns");
  program.cpu_user_ns = number("cpu_user_ns");
  program.cpu_system_ns = number("cpu_system_ns");
  program.max_rss_bytes = static_cast<std::uint64_t>(number("max_rss_bytes"));
  const Node* const processes = process->find("processes");
  if (processes != nullptr && processes->is_list()) program.processes = processes->as_list().size();
  const auto text = [&](const char* key) {
    const Node* found = process->find(key);
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
  };
  program.end = text("end");
  program.no_adapter = text("no_adapter");
  program.source = process.file;
  return program;
}

std::vector<SummaryOverhead> overheads(const run::Run& run, const requests::PhaseTree& tree,
                                       const requests::SteadyPart& steady) {
  const auto& baseline = run.baseline();
  std::vector<SummaryOverhead> all;
  if (const auto program = program_of(run)) add_program(run.record(), *program, all);
  if (!baseline) return all;
  for (const run::ProfiledRequests& profiled : run.profiled()) {
    if (!profiled.requests) continue;
    for (const requests::PhaseInfo& phase : tree.phases()) {
      if (!phase.is_outermost() || phase.is_host) continue;
      const auto times =
          paired_time(*baseline, steady, *profiled.requests, profiled.requests->size(), phase.path);
      if (!times) continue;
      const std::string stage =
          profiled.gate.empty() ? profiled.stage : profiled.stage + " (" + profiled.gate + ")";
      all.push_back({stage, phase.name, phase.unit, times->units, times->baseline_ns / times->units,
                     times->profiled_ns / times->units, times->profiled_ns / times->baseline_ns,
                     profiled.requests.file});
    }
  }
  return all;
}

}  // namespace profline::summary
