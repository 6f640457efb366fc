#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "pipeline/stage.h"
#include "records/counter_plan.h"
#include "records/ncu_tables.h"

/// The choice of launches within pipeline.ncu.budget_s.
namespace profline::stages::internal {

/// Whether launches are chosen: not if the settings choose them, or with range replay.
bool chooses_launches(const settings::Ncu& ncu);

/// What `plan` says, before anything is known about the kernels.
std::string budget_note(const settings::Ncu& ncu);

/// The choice, from what the stages ahead of this one captured: kernels from nsys, else from the
/// torch profiler; the gate is the range of the longest phase, unless the user named ranges.
/// Without a capture of the gate, as many launches as fit are taken from its beginning.
CounterPlan plan_counters(const pipeline::StageContext& context, bool user_names_ranges,
                          bool picks_instances);

/// How often the gate opens under ncu, of the instances in a capture of nsys: the two may run
/// different numbers of requests. `requests` are those of the baseline.
std::uint64_t instances_under_ncu(const settings::Root& settings, std::uint64_t captured,
                                  std::uint64_t requests);

/// Whether ncu may run again without the gate if that lets nothing through: only if nothing says
/// that the program works inside it, since other launches may be loading and warm-up.
bool may_drop_gate(const pipeline::StageContext& context, const CounterPlan& plan);

/// The settings that carry the plan out.
settings::Ncu with_plan(settings::Ncu ncu, const CounterPlan& plan);

/// `counting 45 launches of decode with 18 replays each …`
std::string plan_words(const CounterPlan& plan);
/// What came of it.
std::string outcome_words(const CounterPlan& plan);

/// Adds what came of it: the launches in the report, and the kernel time that they stand for.
void add_outcome(const pipeline::StageContext& context, const NcuKernels& kernels,
                 CounterPlan& plan);

}  // namespace profline::stages::internal
