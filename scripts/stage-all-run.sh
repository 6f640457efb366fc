#!/usr/bin/env bash
# The Python system's stages 1 and 2 in one run directory. Takes the same overrides as `profline run`.
set -euo pipefail
# shellcheck source=scripts/old_entry_point
source "$(dirname "${BASH_SOURCE[0]}")/old_entry_point"
run_instead stage-all-run pipeline.direct_inference.enable=false -- "$@"
