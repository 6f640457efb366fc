"""Ranges that profilers see: NVTX for nsys and ncu, scopes of torch.profiler for its trace.

The unprofiled run has no ranges: what the adapter measures is in its own file, and the recorder would count it twice.
"""

import os
import sys
import threading

OUR_RECORDER = "libprofline-recorder"


def wanted():
    """Whether a profiler records ranges; that does not change while the program runs."""
    global _wanted
    if _wanted is None:
        _wanted = profiler_is_there()
    return _wanted


def profiler_is_there():
    if os.environ.get("PROFLINE_GATE", "none") not in ("", "none"):
        return True
    injected = os.environ.get("NVTX_INJECTION64_PATH", "")
    return bool(injected) and OUR_RECORDER not in os.path.basename(injected)


class Nothing:
    def push(self, name):
        pass

    def pop(self):
        pass


class TorchNvtx:
    def __init__(self, nvtx):
        self.push = nvtx.range_push
        self.pop = nvtx.range_pop


class RecorderNvtx:
    """Through the recorder's C interface, for programs without torch and with a torch that was built without CUDA."""

    def __init__(self, path):
        import ctypes

        library = ctypes.CDLL(path)
        self.library_push = library.profline_range_push
        self.library_push.argtypes = [ctypes.c_char_p]
        self.library_push.restype = None
        self.library_pop = library.profline_range_pop
        self.library_pop.argtypes = []
        self.library_pop.restype = None

    def push(self, name):
        self.library_push(name.encode("utf-8", "replace"))

    def pop(self):
        self.library_pop()


class ProfilerScopes:
    """record_function of torch, while its profiler is open. A scope can be left early, when the profiler is closed."""

    def __init__(self):
        self.threads = threading.local()
        self.open = False

    def stack(self):
        if not hasattr(self.threads, "stack"):
            self.threads.stack = []
        return self.threads.stack

    def push(self, name):
        scope = None
        if self.open:
            scope = sys.modules["torch"].profiler.record_function(name)
            scope.__enter__()
        self.stack().append(scope)

    def pop(self):
        stack = self.stack()
        scope = stack.pop() if stack else None
        if scope is not None:
            scope.__exit__(None, None, None)

    def leave_all(self):
        stack = self.stack()
        for index in range(len(stack) - 1, -1, -1):
            if stack[index] is not None:
                stack[index].__exit__(None, None, None)
                stack[index] = None


NOTHING = Nothing()
scopes = ProfilerScopes()
_wanted = None
_nvtx = None


def emitter():
    if not wanted():
        return NOTHING
    if os.environ.get("PROFLINE_GATE") == "torch":
        return scopes
    return nvtx()


def nvtx():
    """Looked for again until it is found: torch may be imported later."""
    global _nvtx
    if _nvtx is None:
        _nvtx = torch_nvtx() or recorder_nvtx()
    return _nvtx or NOTHING


def torch_nvtx():
    module = getattr(getattr(sys.modules.get("torch"), "cuda", None), "nvtx", None)
    # A torch that was built without CUDA has a stand-in that raises.
    if module is None or type(getattr(module, "_nvtx", None)).__name__ == "_NVTXStub":
        return None
    return TorchNvtx(module)


def recorder_nvtx():
    path = os.environ.get("PROFLINE_RECORDER")
    if not path:
        return None
    try:
        return RecorderNvtx(path)
    except (OSError, AttributeError):
        return None
