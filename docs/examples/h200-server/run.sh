#!/usr/bin/env bash
# Profiles server.py: a load without a profiler, then a window of it under Kineto and one under nsys.
#
#   docs/examples/h200-server/run.sh FOLDER [OVERRIDES]     e.g. run.sh /tmp/h200-server
#
# PROFLINE: the program [build/bin/profline]; PYTHON: with torch, transformers and aiohttp [python3].
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?name the folder of the run}
shift
profline=${PROFLINE:-$here/../../../build/bin/profline}
port=${PORT:-18000}
exec "$profline" run workload/server=generic "hydra.run.dir=$out" \
  "pipeline.workload.server.url=http://127.0.0.1:$port" \
  pipeline.workload.load.arrival.concurrency=16 \
  pipeline.workload.load.prompts.input_tokens=512 pipeline.workload.load.prompts.output_tokens=64 \
  pipeline.workload.load.warmup.requests=32 pipeline.workload.load.measure.requests=128 \
  pipeline.workload.load.slo.ttft_ms=2000 pipeline.workload.window.seconds=2 \
  pipeline.nsys.enable=true pipeline.torch_profiler.enable=true "$@" \
  -- "${PYTHON:-python3}" "$here/server.py" --port "$port" ${SERVER_ARGUMENTS:-}
