#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/requests/phases.h"
#include "records/request.h"

/// How many tokens requests produced: the only place that knows. A step of generation makes one
/// token per sequence unless sequences end early, beams share a result, or an assistant model
/// proposes several tokens for each step.
namespace profline::requests {

/// What a request produced, in all sequences that it returned.
struct Tokens {
  std::uint64_t all = 0;
  std::uint64_t decoded = 0;  ///< made by steps: without the first of each sequence, unless steps
                              ///< made those as well
  std::uint64_t steps = 0;    ///< in phases that repeat; a step inside another one does not count

  /// 0: there are no steps.
  double per_step() const;
};
/// Nothing if the number of new tokens is not known.
std::optional<Tokens> tokens_of(const Request& request);

/// Whether each step of the phase made exactly one token.
bool steps_are_tokens(const Request& request, const Phase& phase);

/// The phases whose steps make a request's tokens: those that repeat, except inside another one
/// that does.
std::vector<const PhaseInfo*> generating_phases(const PhaseTree& tree);

/// How requests generated, unless each step simply made one token per sequence: a sentence without
/// its full stop for each way, such as `assisted generation: 2.9 tokens per step on average`.
std::vector<std::string> generation_notes(std::span<const Request> requests);

}  // namespace profline::requests
