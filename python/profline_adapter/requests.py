"""Requests and the phases inside them, as docs/formats/requests.md describes them."""

import contextvars
import itertools
import os
import threading

from profline_adapter import open_requests, ranges, recording
from profline_adapter.plain import plain
from profline_adapter.recording import clock_ns, guarded

# Fields of a request that its caller may know; everything else becomes an attribute.
FIELDS = ("prompt_tokens", "new_tokens", "batch", "ttft_ns")
# A phase outside requests in a hot loop must not fill the disk.
MOST_RANGES = 20000
LONGEST_NAME = 1024

# The innermost open request or phase of this thread or task.
_current = contextvars.ContextVar("profline_scope", default=None)
_numbers = itertools.count()
_made = 0
_ranges_left = MOST_RANGES


class Phase:
    """All instances of one path in a request."""

    __slots__ = ("start_ns", "ns", "steps_ns")

    def __init__(self, start_ns):
        self.start_ns = start_ns
        self.ns = 0
        self.steps_ns = None

    def add(self, ns, steps_ns):
        self.ns += ns
        if steps_ns is not None:
            self.steps_ns = (self.steps_ns or []) + steps_ns


class Request:
    def __init__(self, number, attributes, is_programs):
        self.number = number
        self.is_programs = is_programs  # opened by the program, not by a call to generate()
        self.calls = 0  # to generate(), that run in it
        self.innermost = None  # open scope
        self.fields = {}
        self.given = set()  # fields that the program set
        self.attributes = {}
        self.phases = {}
        self.model = None
        self.pid = os.getpid()
        self.thread = threading.get_native_id()
        self.lock = threading.RLock()
        self.set(attributes)
        self.start_ns = clock_ns()
        self.end_ns = self.start_ns

    def set(self, attributes):
        for name, value in attributes.items():
            if name in FIELDS and isinstance(value, int) and value >= 0:
                self.fields[name] = value
                self.given.add(name)
            else:
                self.attributes[recording.clean(str(name))] = plain(value, str(name))

    def count(self, name, value, add):
        """Adds what was counted to a field, unless the program gave that field."""
        with self.lock:
            if value is not None and name not in self.given:
                self.fields[name] = add(self.fields.get(name, 0), value)

    def add_phase(self, path, start_ns, ns, steps_ns=None):
        with self.lock:
            phase = self.phases.get(path)
            if phase is None:
                phase = self.phases[path] = Phase(max(0, start_ns - self.start_ns))
            phase.start_ns = min(phase.start_ns, max(0, start_ns - self.start_ns))
            phase.add(max(0, ns), steps_ns)

    def line(self):
        line = {"kind": "request", "source": "python", "start_ns": self.start_ns, "ns": max(0, self.end_ns - self.start_ns)}
        line.update((name, self.fields[name]) for name in FIELDS if name in self.fields)
        line["phases"] = [phase_line(path, phase) for path, phase in sorted(self.phases.items(), key=in_order)]
        line.update(pid=self.pid, thread=self.thread)
        if self.model is not None:
            line["model"] = self.model
        line["attributes"] = self.attributes
        return line


def in_order(item):
    path, phase = item
    return phase.start_ns, path.count("/")


def phase_line(path, phase):
    line = {"path": path, "start_ns": phase.start_ns, "ns": phase.ns}
    if phase.steps_ns is not None:
        line["steps_ns"] = phase.steps_ns
    return line


class Scope:
    """An open request or phase."""

    __slots__ = ("name", "path", "parent", "request", "start_ns", "steps_ns", "step_ns", "end_ns", "pid", "thread", "emitter")

    def __init__(self, name, parent, request):
        self.name = name
        self.parent = parent
        self.request = request
        self.path = name if parent is None or parent.path is None else f"{parent.path}/{name}"
        self.steps_ns = None
        self.step_ns = None
        self.end_ns = None
        self.pid = os.getpid()
        self.thread = threading.get_ident()
        self.emitter = ranges.emitter()
        self.emitter.push(name)
        self.start_ns = clock_ns()

    def begin_step(self):
        now = clock_ns()
        self.end_step(now)
        self.emitter.push(f"{self.name}_step")
        if self.steps_ns is None:
            self.steps_ns = []
        self.step_ns = now

    def end_step(self, now):
        if self.step_ns is not None:
            self.steps_ns.append(max(0, now - self.step_ns))
            self.step_ns = None
            self.pop()

    def finish(self, now):
        self.end_step(now)
        self.pop()
        self.end_ns = now

    def pop(self):
        if self.thread == threading.get_ident():  # the ranges of another thread are not ours to close
            self.emitter.pop()

    def words(self):
        return "the request" if self.path is None else f"phase '{self.path}'"


def open_scope(scope):
    """This scope or the innermost one around it that has not ended; one that another task has ended may still be the current one."""
    while scope is not None and scope.end_ns is not None:
        scope = scope.parent
    return scope


def current_scope():
    scope = open_scope(_current.get())
    # A forked child continues a copy of its parent's requests, which are the parent's to record.
    return scope if scope is None or scope.pid == os.getpid() else None


def close(scope, now):
    """Ends a scope and leaves it. What is still open inside it ends with it."""
    inner, current = [], _current.get()
    while current is not None and current is not scope:
        inner.append(current)
        current = current.parent
    if current is scope:
        for each in inner:
            if each.end_ns is None:
                each.finish(now)
                recording.problem(f"{each.words()} was still open when {scope.words()} around it ended; it is recorded up to there")
                record_phase(each, now)
        _current.set(scope.parent)
    scope.finish(now)


def current_request():
    scope = current_scope()
    return None if scope is None else scope.request


@guarded
def begin_request(attributes, is_programs=True):
    """A request, or None if one is open already: then this one is part of it."""
    from profline_adapter import gate, marks

    global _made
    if current_request() is not None:
        return None
    _made += 1
    marks.watch()
    number = next(_numbers)
    gate.request_begins(number)
    request = Request(number, attributes, is_programs)
    scope = request.innermost = Scope("request", current_scope(), request)
    scope.path = None
    request.start_ns = scope.start_ns
    open_requests.begins(request)
    _current.set(scope)
    return scope


@guarded
def end_request(scope, failed=None, end_ns=None, before_line=None):
    """`before_line(request)` adds what becomes known only at the end; it runs after the measurement."""
    from profline_adapter import gate, marks

    now = clock_ns()
    if scope.end_ns is not None:
        return
    close(scope, now)
    request = scope.request
    if request.pid != os.getpid():
        return
    if failed is not None:
        request.attributes["failed"] = failed
    gate.request_ends(request.number)
    if before_line is not None:
        guarded(before_line)(request)
    request.end_ns = now if end_ns is None else end_ns
    if open_requests.ends(request):
        recording.write(request.line())
    marks.write_out()


class Visit:
    """A call to generate() in a request of the program."""

    __slots__ = ("request", "has_joined", "before")

    def __init__(self, request, has_joined):
        self.request = request
        self.has_joined = has_joined  # the request is another thread's
        self.before = _current.get()

    @guarded
    def end(self, end_ns):
        from profline_adapter import gate

        if self.has_joined:
            gate.call_leaves(self.request.number)
            _current.set(self.before)
        open_requests.leave(self.request, end_ns)


@guarded
def visit_request():
    """None if this is no part of a request."""
    from profline_adapter import gate

    request = current_request()
    if request is not None:
        open_requests.enter(request)
        return Visit(request, False)
    request = open_requests.joined()
    if request is None:
        return None
    visit = Visit(request, True)
    _current.set(request.innermost)
    gate.call_joins(request.number)
    return visit


@guarded
def begin_phase(name):
    scope = Scope(recording.clean(str(name))[:LONGEST_NAME], current_scope(), current_request())
    if scope.request is not None:
        scope.request.innermost = scope
    _current.set(scope)
    return scope


@guarded
def end_phase(scope):
    now = clock_ns()
    if scope.end_ns is not None:  # with the phase or request around it
        return
    close(scope, now)
    if scope.pid != os.getpid():
        return
    outer = scope.parent
    while outer is not None and outer.end_ns is None:
        outer = outer.parent
    if outer is not None:
        what = "it is not recorded" if outer.path is None else "it is recorded up to there"
        recording.problem(f"{scope.words()} ended after {outer.words()} around it, in another thread or task; {what}")
        if outer.path is None:
            return
        now = outer.end_ns
    record_phase(scope, now)


def record_phase(scope, now):
    global _ranges_left
    ns = max(0, now - scope.start_ns)
    parent = scope.parent
    if scope.request is not None:
        scope.request.innermost = parent
    if parent is not None and parent.path is not None and scope.name == f"{parent.name}_step":
        parent.steps_ns = (parent.steps_ns or []) + [ns]
    elif scope.request is not None:
        scope.request.add_phase(scope.path, scope.start_ns, ns, scope.steps_ns)
    elif _ranges_left > 0:
        _ranges_left -= 1
        recording.write(range_line(scope, ns))
    else:
        recording.problem(f"there are more than {MOST_RANGES} phases outside requests; the others are not recorded")


def range_line(scope, ns):
    line = {"kind": "range", "path": scope.path, "start_ns": scope.start_ns, "ns": ns}
    if scope.steps_ns is not None:
        line["steps_ns"] = scope.steps_ns
    line["thread"] = threading.get_native_id()
    return line


@guarded
def begin_step():
    from profline_adapter import gate

    scope = current_scope()
    if scope is None or scope.path is None:
        recording.problem("profline.step() was called outside a phase; that step is not recorded")
        return None
    if scope.request is not None:
        gate.step_begins(scope.request.number, len(scope.steps_ns or []) + (scope.step_ns is not None))
    scope.begin_step()
    return scope


@guarded
def end_step(scope):
    scope.end_step(clock_ns())


@guarded
def set_attributes(scope, attributes):
    request = current_request() if scope is None else scope.request
    if request is not None:
        request.set(attributes)


def made():
    """How many requests have begun."""
    return _made


def forget():
    global _made, _numbers, _ranges_left
    _numbers = itertools.count()
    _made = 0
    _ranges_left = MOST_RANGES
    _current.set(None)


recording.in_forked_child(forget)
