#include "summary/overhead.h"

#include <algorithm>
#include <numeric>

#include "summary/stage_times.h"

namespace profline::summary {
namespace {

const Sample* same_input(const Samples& samples, const Sample& like) {
  const auto found = std::find_if(samples.begin(), samples.end(), [&](const Sample& sample) {
    return sample.image == like.image && sample.epoch == like.epoch && sample.index == like.index;
  });
  return found == samples.end() ? nullptr : &*found;
}

double first_steps(const Sample& sample, std::size_t steps) {
  return std::accumulate(sample.token_ns.begin(),
                         sample.token_ns.begin() + static_cast<std::ptrdiff_t>(steps), 0.0,
                         [](double sum, std::int64_t ns) { return sum + static_cast<double>(ns); });
}

PairedTime pair_of(const Sample& without, const Sample& with, std::string_view stage) {
  if (stage == "decode") {
    const std::size_t steps = std::min(without.token_ns.size(), with.token_ns.size());
    return {static_cast<double>(steps), first_steps(without, steps), first_steps(with, steps)};
  }
  const StageTime baseline = stage_time(without, stage);
  const StageTime profiled = stage_time(with, stage);
  return {std::min(baseline.units, profiled.units), baseline.ns, profiled.ns};
}

/// A program of the user's is timed by its process, with all that the tool does around it.
void add_program(const RunRecord& run, const SummaryProgram& program,
                 std::vector<SummaryOverhead>& all) {
  if (program.wall_ns <= 0) return;
  for (const StageRecord& stage : run.stages) {
    if (stage.name == "baseline") continue;
    for (const CommandRecord& command : stage.commands) {
      if (!command.name.starts_with("capture") || command.wall_ns <= 0) continue;
      const auto profiled = static_cast<double>(command.wall_ns);
      all.push_back({stage.name, "the whole program, with the tool's own work", "run", 1,
                     program.wall_ns, profiled, profiled / program.wall_ns, "run.json"});
    }
  }
}

}  // namespace

std::optional<PairedTime> paired_time(const Samples& baseline, const Samples& profiled,
                                      std::size_t images, std::string_view stage) {
  PairedTime sum;
  for (std::size_t i = 0; i < std::min(images, profiled.size()); ++i) {
    const Sample* const same = same_input(baseline, profiled[i]);
    if (same == nullptr) return std::nullopt;
    const PairedTime pair = pair_of(*same, profiled[i], stage);
    sum.units += pair.units;
    sum.baseline_ns += pair.baseline_ns;
    sum.profiled_ns += pair.profiled_ns;
  }
  if (sum.units == 0 || sum.baseline_ns <= 0) return std::nullopt;
  return sum;
}

std::optional<SummaryProgram> program_of(const RunArtifacts& run) {
  if (!run.process) return std::nullopt;
  const auto number = [&](const char* key) {
    const Node* found = run.process->find(key);
    return found != nullptr && found->is_int() ? static_cast<double>(found->as_int()) : 0.0;
  };
  SummaryProgram program;
  program.wall_ns = number("wall_ns");
  program.cpu_user_ns = number("cpu_user_ns");
  program.cpu_system_ns = number("cpu_system_ns");
  program.max_rss_bytes = static_cast<std::uint64_t>(number("max_rss_bytes"));
  const Node* const processes = run.process->find("processes");
  if (processes != nullptr && processes->is_list()) program.processes = processes->as_list().size();
  const Node* const end = run.process->find("end");
  if (end != nullptr && end->is_string()) program.end = end->as_string();
  program.source = run.process.file;
  return program;
}

std::vector<SummaryOverhead> overheads(const RunArtifacts& run) {
  std::vector<SummaryOverhead> all;
  if (const auto program = program_of(run)) add_program(run.run, *program, all);
  if (!run.baseline) return all;
  for (const ProfiledSamples& profiled : run.profiled) {
    if (!profiled.samples) continue;
    const auto add = [&](const char* phase, const char* unit) {
      const auto times =
          paired_time(*run.baseline, *profiled.samples, profiled.samples->size(), phase);
      if (!times) return;
      const std::string stage =
          profiled.gate.empty() ? profiled.stage : profiled.stage + " (" + profiled.gate + ")";
      all.push_back({stage, phase, unit, times->units, times->baseline_ns / times->units,
                     times->profiled_ns / times->units, times->profiled_ns / times->baseline_ns,
                     profiled.samples.file});
    };
    add("prefill", "image");
    add("decode", "token");
  }
  return all;
}

}  // namespace profline::summary
