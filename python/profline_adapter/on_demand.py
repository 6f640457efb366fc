"""Kineto on demand beside torch.profiler: who is traced from outside, and who traces itself.

PROFLINE_KINETO holds the variables, as JSON, that make libkineto wait for a request to trace its process. PyTorch 2.11 crashed on
an H200 when a process that waited in this way opened torch.profiler. Therefore a process that made requests in the baseline, for
which this adapter opens torch.profiler, runs without these variables, and every other process with them.
"""

import os
import sys

from profline_adapter import recording
from profline_adapter.recording import guarded

VARIABLES = "PROFLINE_KINETO"


@guarded
def choose():
    """Called when Python starts, because libtorch reads the variables when it is loaded."""
    if "torch" in sys.modules:
        return
    import json

    variables = json.loads(os.environ[VARIABLES])
    if recording.how_started() in makers_of_requests():
        for name in variables:
            os.environ.pop(name, None)
    else:
        os.environ.update(variables)  # a parent that makes requests has removed them


def makers_of_requests():
    """How the processes that made requests in the baseline were started."""
    import json

    with open(os.environ["PROFLINE_GATE_PLAN"], encoding="utf-8") as file:
        return json.load(file).get("processes") or []


def is_waiting():
    """Whether libkineto waits for requests to trace this process."""
    return VARIABLES in os.environ and "KINETO_USE_DAEMON" in os.environ
