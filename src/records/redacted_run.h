#pragma once

#include "base/redaction.h"
#include "records/run_record.h"

namespace profline {

/// The records as they are written down: without the secrets of command lines, environments,
/// overrides and messages. Paths, digests and names stay: --resume needs them.
RunRecord redacted(RunRecord run, const Redactor& redactor);
StageRecord redacted(StageRecord stage, const Redactor& redactor);

/// The variable in which profline-workload gets the values that its config file has as
/// `<redacted>`: JSON, under their keys. By its name it is a secret itself.
inline constexpr const char* kConfigSecrets = "PROFLINE_CONFIG_SECRETS";

}  // namespace profline
