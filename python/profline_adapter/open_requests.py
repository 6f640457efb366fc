"""The requests that are open in this process, and the calls to generate() that run in them.

A program that shows text while it is generated runs generate() in a thread of its own, which does not know the request around
it: new threads inherit no context variables. Such a call joins the request if it is the only one that is open.
"""

import threading

from profline_adapter import recording

_lock = threading.RLock()
_open = {}  # by number
_unwritten = []  # requests that ended while calls were running in them
_have_been_joined = False


def begins(request):
    with _lock:
        _open[request.number] = request
    recording.before_exit(report_open)


def ends(request):
    """Whether its line can be written now; otherwise the last call that leaves it does that."""
    with _lock:
        _open.pop(request.number, None)
        if request.calls == 0:
            return True
        _unwritten.append(request)
    recording.before_exit(write_out)
    return False


def joined():
    """The request that a call in a thread without one belongs to; None if that is not certain."""
    global _have_been_joined
    with _lock:
        candidates = [request for request in _open.values() if request.is_programs]
        if not candidates or candidates[0].thread == threading.get_native_id():
            return None
        if len(_open) > 1:
            recording.problem(f"generate() ran in a thread without a request while {len(_open)} requests were open, so it is not known "
                              "which of them it belongs to; it is recorded as a request of its own")
            return None
        (request,) = candidates
        if request.calls > 0:
            recording.problem("two calls to generate() ran at once in one request; the second is recorded as a request of its own")
            return None
        _have_been_joined = True
        request.calls += 1
        return request


def have_been_joined():
    return _have_been_joined


def enter(request):
    with _lock:
        request.calls += 1


def leave(request, end_ns):
    """A request lasts until the calls in it have returned."""
    with _lock:
        request.calls -= 1
        if request.calls > 0 or request not in _unwritten:
            return
        _unwritten.remove(request)
        request.end_ns = max(request.end_ns, end_ns)
    recording.write(request.line())


def write_out():
    """The program ends, whatever its threads are doing."""
    with _lock:
        requests = _unwritten[:]
        _unwritten.clear()
    for request in requests:
        recording.write(request.line())


def report_open():
    """The program ends inside requests: those of threads that died or never end, and those that were opened without `with`."""
    with _lock:
        count = len(_open)
    if count > 0:
        recording.problem(f"{recording.counted(count, 'request')} did not end and {'is' if count == 1 else 'are'} not recorded")


def forget():
    global _lock, _have_been_joined
    _lock = threading.RLock()
    _have_been_joined = False
    _open.clear()
    _unwritten.clear()


recording.in_forked_child(forget)
