#pragma once

#include "base/redaction.h"
#include "records/run_record.h"

namespace profline {

/// The records as they are written to files: without the secrets in command lines, environments,
/// overrides and messages. Paths, digests and names stay: --resume needs them.
RunRecord redacted(RunRecord run, const Redactor& redactor);
StageRecord redacted(StageRecord stage, const Redactor& redactor);

/// The variable that passes profline-workload the values that are `<redacted>` in its config file:
/// JSON, under their keys. Its own name marks it as a secret.
inline constexpr const char* kConfigSecrets = "PROFLINE_CONFIG_SECRETS";

}  // namespace profline
