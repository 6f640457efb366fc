#include "pipeline/profiled_requests.h"

namespace profline::pipeline {
namespace {

using Reason = ProfiledRequests::Reason;

constexpr const char* kBound = "dataset.sampling.num_samples_per_epoch";

std::string first(std::uint32_t count) {
  return count == 1 ? "the first request" : "the first " + std::to_string(count) + " requests";
}

}  // namespace

ProfiledRequests profiled_requests(const settings::Root& settings,
                                   std::optional<std::uint32_t> samples) {
  if (settings.pipeline.workload.command) return {Reason::Program, std::nullopt};
  if (samples) return {Reason::Samples, samples};
  if (settings.dataset.sampling().num_samples_per_epoch) return {Reason::Bounded, std::nullopt};
  return {Reason::Unbounded, 1};
}

void add_requests(const ProfiledRequests& requests, std::string_view stage,
                  const settings::Root& settings, StagePlan& plan) {
  const std::string key = "pipeline." + std::string(stage) + ".samples";
  switch (requests.reason) {
    case Reason::Program:
      return;
    case Reason::Samples:
      plan.limits.push_back(first(*requests.count) + " (" + key + ")");
      return;
    case Reason::Bounded: {
      const auto bound = settings.dataset.sampling().num_samples_per_epoch;
      plan.notes.push_back("all requests of the baseline are profiled, because " +
                           std::string(kBound) + " is " + std::to_string(bound.value_or(0)) + "; " +
                           key + "=N takes the first N");
      return;
    }
    case Reason::Unbounded:
      plan.limits.push_back(first(*requests.count) + ", because " + kBound + " is null (" + key +
                            "=N takes the first N)");
      return;
  }
}

}  // namespace profline::pipeline
