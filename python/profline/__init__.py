"""Names the requests and phases of a program for profline, and for any profiler that shows NVTX ranges.

    import profline

    with profline.request(prompt_tokens=512):
        with profline.phase("prefill"):
            ...
        with profline.phase("decode"):
            for _ in range(tokens):
                profline.step()
                ...

These calls never raise. They cost next to nothing in a program that profline does not run.
"""

import os

__all__ = ["phase", "request", "step"]


def _is_watched():
    if os.environ.get("PROFLINE_RECORD_DIR"):
        return True
    # A profiler started by hand.
    return bool(os.environ.get("NVTX_INJECTION64_PATH") or os.environ.get("PROFLINE_GATE"))


class _Nothing:
    """Stands for any range when nothing is recorded."""

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        return None

    def set(self, **attributes):
        pass


_NOTHING = _Nothing()
_requests = None
if _is_watched():
    try:
        from profline_adapter import requests as _requests
        from profline_adapter import start as _start

        if os.environ.get("PROFLINE_RECORD_DIR"):
            _start.start()
    except Exception:  # an incomplete installation: nothing is recorded
        _requests = None


class _Request(_Nothing):
    def __init__(self, attributes):
        self._attributes = attributes
        self._scope = None

    def __enter__(self):
        self._scope = _requests.begin_request(self._attributes)
        if self._scope is None:
            self.set(**self._attributes)
        return self

    def __exit__(self, kind, error, traceback):
        if self._scope is not None:
            _requests.end_request(self._scope, None if kind is None else kind.__name__)

    def set(self, **attributes):
        """Adds values that became known later, such as new_tokens."""
        _requests.set_attributes(self._scope, attributes)


class _Phase(_Nothing):
    def __init__(self, name):
        self._name = name
        self._scope = None

    def __enter__(self):
        self._scope = _requests.begin_phase(self._name)
        return self

    def __exit__(self, kind, error, traceback):
        if self._scope is not None:
            _requests.end_phase(self._scope)


class _Step(_Nothing):
    def __init__(self, scope):
        self._scope = scope

    def __exit__(self, kind, error, traceback):
        if self._scope is not None:
            _requests.end_step(self._scope)


def request(**attributes):
    """One unit of work, such as a prompt: `with profline.request(): ...`.

    prompt_tokens, new_tokens, batch and ttft_ns are fields of the request, anything else is an attribute. A request inside
    a request is part of the outer one.
    """
    return _NOTHING if _requests is None else _Request(attributes)


def phase(name):
    """A named part of a request: `with profline.phase("prefill"): ...`. Phases can be nested, and used outside requests."""
    return _NOTHING if _requests is None else _Phase(name)


def step():
    """Begins a step of the innermost phase, at the top of a loop's body; it lasts until the next step or the phase's end.

    `with profline.step(): ...` ends it with the block.
    """
    return _NOTHING if _requests is None else _Step(_requests.begin_step())
