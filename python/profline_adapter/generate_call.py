"""One call to generate(): when its forward calls began, and how they divide it into prefill and decode.

Forward calls divide the call into phases: `setup` ends where the first begins, `prefill` where the second begins, and each
further one is a step of `decode`; the last step ends when generate() returns. On a GPU these are host times. generate()
reads each new token back before the next forward, so a step on the host is a step on the device.
"""

import operator
import os

from profline_adapter import gate, marks, ranges, recording
from profline_adapter.model import model_id
from profline_adapter.plain import plain
from profline_adapter.recording import clock_ns
from profline_adapter.settings import ONE_TOKEN_PER_STEP, length_of, rows_of


class GenerateCall:
    def __init__(self, model, settings, scope, visit):
        self.model = model
        self.scope = scope  # the request that this call opened; None inside a request of the program
        self.visit = visit  # of a request of the program, otherwise None
        self.request = visit.request if scope is None else scope.request
        self.settings = settings
        self.starts = []  # of the forwards
        self.batch = None
        self.cache = None
        self.consumed = 0  # tokens of the prompt, for prefill in chunks
        self.prefill_seen = False
        self.compiler = marks.compiler_counts()
        self.graphs = self.compiled_graphs()
        self.emitter = ranges.emitter()
        self.is_profiled = ranges.wanted()
        self.pushed = 0
        self.decode_steps = 0
        self.entry_ns = clock_ns() if scope is None else scope.start_ns
        self.push("setup")

    # Ranges for profilers.

    def push(self, name):
        self.emitter.push(name)
        self.pushed += 1

    def pop_all(self):
        for _ in range(self.pushed):
            self.emitter.pop()
        self.pushed = 0

    # While generate() runs.

    def forward_begins(self, args, kwargs):
        """Called after the start of this forward was appended to `starts`."""
        if len(self.starts) <= 2:
            self.look_at(args, kwargs)
        self.look_for_compilation(self.starts[-2] if len(self.starts) > 1 else self.entry_ns, self.starts[-1])
        if self.is_profiled:
            self.show_boundary(kwargs)

    def look_at(self, args, kwargs):
        if self.batch is None:
            self.batch = rows_of(args, kwargs)
            self.settings.read_first_forward(length_of(kwargs))
        cache = kwargs.get("past_key_values")
        if cache is not None:
            self.cache = type(cache).__name__

    def compiled_graphs(self):
        return 0 if self.compiler is None else self.compiler["unique_graphs"]

    def has_compiled(self):
        return self.compiler is not None and self.compiler["unique_graphs"] != self.graphs

    def look_for_compilation(self, begin_ns, end_ns):
        """Between two forwards, or between the last one and the end."""
        if self.compiler is None:
            self.compiler = marks.compiler_counts()  # imported by now, perhaps
        if self.has_compiled():
            self.graphs = self.compiled_graphs()
            marks.add("compile", begin_ns, end_ns - begin_ns)

    def show_boundary(self, kwargs):
        """Prefill in chunks lasts until the whole prompt has been read."""
        is_first = len(self.starts) == 1
        in_prefill = is_first or (self.settings.chunk is not None and self.consumed < self.settings.prompt_tokens)
        self.consumed += length_of(kwargs)
        if in_prefill:
            if is_first:
                self.pop_all()
                self.push("prefill")
            return
        if not self.prefill_seen:
            self.prefill_seen = True
            self.pop_all()
            gate.step_begins(self.request.number, 0)
            self.push("decode")
        else:
            self.emitter.pop()
            self.pushed -= 1
            self.decode_steps += 1
            gate.step_begins(self.request.number, self.decode_steps)
        self.push("decode_step")

    # When it has returned.

    def finish(self, result, end_ns):
        """Adds the phases and what is known about the call to its request. `result` is None if generate() failed."""
        settings, request = self.settings, self.request
        settings.read_result(result)
        starts = self.decoding_starts()
        self.add_phases(starts, end_ns)
        if "ttft_ns" not in request.fields and starts:
            first_token = starts[1] if len(starts) > 1 else end_ns
            request.fields["ttft_ns"] = max(0, first_token - request.start_ns)
        self.add_fields()
        request.attributes.update(self.attributes(starts))
        if not self.starts and result is not None:
            recording.problem(f"the forward calls of {type(self.model).__name__} could not be observed, "
                              "so its requests are not divided into phases")
        # Last, so that a failure on unusual parameters does not lose the times.
        request.model = model_id(self.model)

    def decoding_starts(self):
        """Where prefill begins and where each step begins; forwards that belong together are one."""
        starts, tokens = self.starts, self.settings.new_tokens
        if tokens is None or tokens < 1 or len(starts) <= tokens:
            return starts
        if self.settings.chunk is not None:
            return starts[:1] + starts[len(starts) - (tokens - 1):]
        if self.settings.mode in ONE_TOKEN_PER_STEP and len(starts) % tokens == 0:
            # Classifier-free guidance runs the model more than once for each token.
            return starts[:: len(starts) // tokens]
        return starts

    def add_phases(self, starts, end_ns):
        if not starts:
            return
        prefix = "" if self.scope is not None else enclosing_path()
        self.request.add_phase(prefix + "setup", self.entry_ns, starts[0] - self.entry_ns)
        prefill_end = starts[1] if len(starts) > 1 else end_ns
        self.request.add_phase(prefix + "prefill", starts[0], prefill_end - starts[0])
        if len(starts) > 1:
            ends = starts[2:] + [end_ns]
            steps = [max(0, end - start) for start, end in zip(starts[1:], ends)]
            self.request.add_phase(prefix + "decode", starts[1], end_ns - starts[1], steps)

    def add_fields(self):
        self.request.count("prompt_tokens", self.settings.prompt_tokens, operator.add)
        self.request.count("new_tokens", self.settings.new_tokens, operator.add)
        self.request.count("batch", self.batch, max)

    def attributes(self, starts):
        values = self.settings.attributes()
        if self.cache is not None:
            values["cache"] = self.cache
        tokens = self.settings.new_tokens
        if tokens is not None and len(starts) != tokens:
            # Assisted generation makes several tokens per step; a beam that ended early has fewer than were computed.
            values["forwards"] = len(self.starts)
        return {name: plain(value, name) for name, value in values.items()}


def enclosing_path():
    from profline_adapter.requests import current_scope

    scope = current_scope()
    return "" if scope is None or scope.path is None else scope.path + "/"


def is_forked(call):
    return call.request.pid != os.getpid()
