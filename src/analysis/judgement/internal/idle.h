#pragma once

#include <string>

#include "analysis/judgement/judge.h"

namespace profline::judgement::internal {

/// The causes of the idle time.
struct IdleVerdict {
  double launch_share = 0;  ///< of the idle time
  std::string words;        ///< the causes, largest first
  std::string cure;         ///< of the largest cause on the host
};

/// The evidence must have a device.
IdleVerdict judge_idle(const PhaseEvidence& evidence, const Limits& limits);

}  // namespace profline::judgement::internal
