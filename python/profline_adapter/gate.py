"""What is opened around the chosen requests: cudaProfilerStart for nsys and ncu, or torch.profiler.

PROFLINE_GATE says which of them, and PROFLINE_GATE_PLAN for which requests. A window is the time between opening and closing. There is one
window for all chosen requests, except where each request needs its own: with a limit of steps, and in threads other than
the main one, because torch.profiler sees only the thread that opened it.
"""

import os
import sys
import threading

from profline_adapter import on_demand, open_requests, ranges, recording
from profline_adapter.recording import clock_ns, counted, guarded

# Without a plan: not the first request, which is never warm.
FIRST = 1
COUNT = 3


class Plan:
    def __init__(self, path):
        self.first, self.count, self.steps = FIRST, COUNT, None
        self.is_default = True
        if not path or not os.path.exists(path):
            return
        import json

        with open(path, encoding="utf-8") as file:
            values = json.load(file)
        self.first = max(0, int(values.get("first", FIRST)))
        self.count = max(1, int(values.get("count", COUNT)))
        steps = values.get("steps")
        self.steps = None if steps is None else max(0, int(steps))
        self.is_default = False

    def chosen(self, number):
        return self.first <= number < self.first + self.count

    def text(self):
        if self.count == 1:
            return f"request {self.first + 1}"
        return f"requests {self.first + 1} to {self.first + self.count}"


class CudaWindow:
    def open(self):
        torch = imported_torch()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStart()

    def close(self):
        torch = imported_torch()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStop()
        return None


class TorchWindow:
    def __init__(self, number):
        self.number = number
        self.profile = None

    def open(self):
        if on_demand.is_waiting():
            raise RuntimeError("this process made no requests in the baseline, so it was set up for Kineto on demand instead")
        torch = imported_torch()
        import torch.profiler  # torch 1.x does not import it by itself

        if not torch.autograd.profiler.kineto_available():
            recording.problem("this torch was built without Kineto, so its trace has operators but no kernels")
        synchronize(torch)
        self.profile = torch.profiler.profile(**profile_options(torch))
        self.profile.start()
        ranges.scopes.open = True

    def close(self):
        ranges.scopes.open = False
        ranges.scopes.leave_all()
        synchronize(imported_torch())
        self.profile.stop()
        return self.export()

    def export(self):
        folder = os.environ.get("PROFLINE_TRACE_DIR") or os.environ["PROFLINE_RECORD_DIR"]
        name = f"trace-{os.getpid()}.json" if self.number == 1 else f"trace-{os.getpid()}-{self.number}.json"
        unfinished = os.path.join(folder, f".{name}")
        self.profile.export_chrome_trace(unfinished)
        os.rename(unfinished, os.path.join(folder, name))
        self.profile = None
        return name


def imported_torch():
    torch = sys.modules.get("torch")
    if torch is None:
        raise RuntimeError("torch is not imported")
    return torch


def synchronize(torch):
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def profile_options(torch):
    import json

    options = json.loads(os.environ.get("PROFLINE_TORCH") or "{}")
    known = torch.profiler.ProfilerActivity
    activities = [known.CPU]
    if "cuda" in options.get("activities", ["cpu", "cuda"]) and torch.cuda.is_available():
        activities.append(known.CUDA)
    switches = {name: bool(options.get(name, False)) for name in ("record_shapes", "profile_memory", "with_stack")}
    return {"activities": activities, **switches}


class Gate:
    def __init__(self, kind, plan):
        self.kind = kind
        self.plan = plan
        self.begun = 0  # requests
        self.running = set()  # chosen requests that have not ended
        self.captured = []  # of the open window
        self.done = 0  # chosen requests that ended
        self.window = None
        self.opener = None  # thread
        self.windows = 0
        self.opened_ns = 0
        self.broken = False
        self.lock = threading.RLock()

    def request_begins(self, number):
        with self.lock:
            self.begun += 1
            if self.kind != "torch" or not open_requests.have_been_joined():
                self.capture(number)

    def call_joins(self, number):
        """A call to generate() in another thread than its request."""
        with self.lock:
            if number not in self.running:
                self.capture(number)
            elif self.is_of_another_thread():
                recording.problem("generate() ran in another thread than the one that opened torch.profiler, so its operators are not in the trace")

    def capture(self, number):
        with self.lock:
            if not self.plan.chosen(number) or self.broken:
                return
            if self.window is None:
                self.open()
            elif self.is_of_another_thread():
                return
            if self.window is not None:
                self.running.add(number)
                self.captured.append(number)

    def request_ends(self, number):
        with self.lock:
            if number in self.running:
                self.running.discard(number)
                self.done += 1
            if self.window is None or self.running or self.is_of_another_thread():
                return
            if self.is_last(number) or self.one_each():
                self.close()

    def step_begins(self, number, steps_done):
        """Closes after the planned number of steps of a phase that repeats."""
        if self.plan.steps is None or steps_done < self.plan.steps or self.window is None or self.is_of_another_thread():
            return
        with self.lock:
            if number in self.running and len(self.running) == 1:
                self.running.discard(number)
                self.done += 1
                self.close()

    def is_of_another_thread(self):
        """torch.profiler sees only the thread that opened it, and crashes if another one closes it."""
        return self.kind == "torch" and self.opener != threading.get_ident()

    def is_last(self, number):
        return number + 1 >= self.plan.first + self.plan.count or self.done >= self.plan.count

    def one_each(self):
        return self.plan.steps is not None or threading.current_thread() is not threading.main_thread()

    def open(self):
        try:
            window = CudaWindow() if self.kind == "cuda" else TorchWindow(self.windows + 1)
            window.open()
        except Exception as error:
            self.broken = True
            recording.problem(f"the capture of {self.plan.text()} could not be opened: {type(error).__name__}: {error}")
            return
        self.window = window
        self.opener = threading.get_ident()
        self.windows += 1
        self.opened_ns = clock_ns()
        at_end_of_worker()

    def close(self):
        window, self.window = self.window, None
        closed_ns = clock_ns()
        trace = None
        try:
            trace = window.close()
        except Exception as error:
            self.broken = True
            recording.problem(f"the capture of {self.plan.text()} could not be closed: {type(error).__name__}: {error}")
        recording.write({"kind": "gate", "gate": self.kind, "requests": self.captured, "opened_ns": self.opened_ns,
                         "closed_ns": closed_ns, "trace": trace})
        self.captured = []

    def end(self):
        """Called when the program ends."""
        if self.window is not None and self.is_of_another_thread():
            self.broken = True
            recording.problem("a request that was being captured did not end in its thread, so it has no trace")
        elif self.window is not None:
            ended = len(self.captured) - len(self.running)
            self.close()
            if self.running:
                recording.problem(f"the program ended in the middle of a request that was being captured "
                                  f"({counted(ended, 'request')} captured before it)")
        if not self.broken and not (self.begun == 0 and is_worker()):
            self.report_missing()

    def report_missing(self):
        plan = self.plan
        made = counted(self.begun, "request") if self.begun else "no requests"
        if plan.is_default:
            if self.begun <= plan.first:
                recording.problem(f"the program made {made}, but captures begin with request {plan.first + 1}")
        elif self.begun < plan.first + plan.count:
            verb = "was" if plan.count == 1 else "were"
            recording.problem(f"the program made {made}, but {plan.text()} {verb} to be captured")


_gate = None
_looked = False


def current():
    global _gate, _looked
    if not _looked:
        _looked = True
        recording.current()
        kind = os.environ.get("PROFLINE_GATE", "none")
        if kind in ("cuda", "torch"):
            _gate = Gate(kind, read_plan())
            recording.before_exit(_gate.end)
        elif kind not in ("", "none", "nvtx"):
            recording.problem(f"PROFLINE_GATE={kind} is not known (none, nvtx, cuda, torch); nothing is captured")
    return _gate


def read_plan():
    path = os.environ.get("PROFLINE_GATE_PLAN")
    try:
        return Plan(path)
    except Exception as error:
        recording.problem(f"the plan of the capture cannot be read, so {counted(COUNT, 'request')} after the first are captured: "
                          f"{type(error).__name__}: {error}")
        return Plan(None)


def request_begins(number):
    gate = current()
    if gate is not None:
        gate.request_begins(number)


def request_ends(number):
    if _gate is not None:
        guarded(_gate.request_ends)(number)


def call_joins(number):
    if _gate is not None:
        guarded(_gate.call_joins)(number)


def call_leaves(number):
    """The end of the request for the thread that captures it."""
    if _gate is not None and _gate.opener == threading.get_ident():
        guarded(_gate.request_ends)(number)


def step_begins(number, steps_done):
    if _gate is not None:
        _gate.step_begins(number, steps_done)


def at_end_of_worker():
    """Worker processes of multiprocessing exit without atexit, but run the finalizers of multiprocessing."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None and is_worker():
        util.Finalize(None, recording.end, exitpriority=100)


def is_worker():
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def forget():
    """A forked child counts its own requests; its parent's window is not its own."""
    global _gate, _looked
    if _gate is not None:
        recording.forget_ending(_gate.end)
    ranges.scopes.open = False
    _gate, _looked = None, False


recording.in_forked_child(forget)
