#pragma once

#include "base/redaction.h"
#include "records/run_record.h"

namespace profline {

/// The records as they are written down: without the secrets of command lines, environments,
/// overrides and messages. Paths, digests and names stay: --resume needs them.
RunRecord redacted(RunRecord run, const Redactor& redactor);
StageRecord redacted(StageRecord stage, const Redactor& redactor);

}  // namespace profline
