"""One-time events that explain a slow request: garbage collections, CUDA graph captures, compilations.

They are kept in memory and written between requests: a callback of the collector may run anywhere, even inside a write.
"""

import collections
import gc
import sys

from profline_adapter import recording
from profline_adapter.recording import clock_ns, guarded

SHORTEST_GC_NS = 1_000_000
MOST = 10000

_marks = collections.deque(maxlen=MOST)
_gc_start = 0
_watching = False
_graphs_watched = False


def add(name, at_ns, ns):
    _marks.append({"kind": "mark", "name": name, "at_ns": at_ns, "ns": max(0, ns)})


def on_gc(phase, info):
    global _gc_start
    if phase == "start":
        _gc_start = clock_ns()
    elif _gc_start:
        ns = clock_ns() - _gc_start
        if ns >= SHORTEST_GC_NS:
            add("gc", _gc_start, ns)


def watch():
    """Called by each request; cheap once everything is watched."""
    global _watching
    if not _watching:
        _watching = True
        gc.callbacks.append(on_gc)
        recording.before_exit(stop)
    if not _graphs_watched and "torch.cuda.graphs" in sys.modules:
        watch_graphs()


@guarded
def watch_graphs():
    """Wraps __enter__ and __exit__ of torch.cuda.graph, which torch.compile uses for its captures too."""
    global _graphs_watched
    _graphs_watched = True
    graph = getattr(sys.modules["torch.cuda.graphs"], "graph", None)
    if graph is None:
        return
    enter, leave = graph.__enter__, graph.__exit__
    begun = []

    def __enter__(self):
        begun.append(clock_ns())
        return enter(self)

    def __exit__(self, *failure):
        try:
            return leave(self, *failure)
        finally:
            if begun:
                start = begun.pop()
                add("graph_capture", start, clock_ns() - start)

    graph.__enter__, graph.__exit__ = __enter__, __exit__


def compiler_counts():
    """What torch.compile has done so far, by name; None before its first use."""
    utils = sys.modules.get("torch._dynamo.utils")
    return None if utils is None else utils.counters["stats"]


def stop():
    """Removes the callback, because the collector runs once more while modules are being torn down."""
    if on_gc in gc.callbacks:
        gc.callbacks.remove(on_gc)
    write_out()


@guarded
def write_out():
    while _marks:
        recording.write(_marks.popleft())


def forget():
    _marks.clear()


recording.in_forked_child(forget)
