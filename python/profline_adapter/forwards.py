"""Observes the start of each forward call of a model during generate(), without changing what torch.compile compiles.

A forward hook would become part of a compiled model, and a wrapped `forward` has another signature. Instead the model
gets, only while generate() runs,

- `_compiled_call_impl`, which torch.nn.Module.__call__ prefers to its own implementation (torch 2.1 and newer), and
- `get_compiled_call`, by which generate() obtains a compiled call (transformers 4.47 and newer). While the compiled call
  runs, the former is taken away, so that the compiler sees the model as it is.

An older torch gets a forward hook.
"""

import threading

from profline_adapter import recording
from profline_adapter.recording import guarded

CALL = "_compiled_call_impl"
COMPILED = "get_compiled_call"
REPLACES = "profline_replaces"  # attribute of what is put into CALL: what was there

_lock = threading.RLock()
_watched = {}  # id of a model: how many generate() calls use it, and how to stop


@guarded
def watch(model, note):
    """Calls note(model, args, kwargs) ahead of each call to the model, until `unwatch`."""
    with _lock:
        users, stop = _watched.get(id(model), (0, None))
        if users == 0:
            stop = intercept(model, note) if hasattr(type(model), CALL) else hook(model, note)
        _watched[id(model)] = (users + 1, stop)


@guarded
def unwatch(model):
    with _lock:
        users, stop = _watched.pop(id(model), (0, None))
        if users > 1:
            _watched[id(model)] = (users - 1, stop)
        elif stop is not None:
            stop()


def intercept(model, note):
    own = vars(model)
    # What the program itself has put there: model.compile(), for example.
    before = {name: own[name] for name in (CALL, COMPILED) if name in own}

    def call(*args, **kwargs):
        note(model, args, kwargs)
        inner = before.get(CALL)
        return model._call_impl(*args, **kwargs) if inner is None else inner(*args, **kwargs)

    setattr(call, REPLACES, before.get(CALL))

    def restore(name):
        if name in before:
            own[name] = before[name]
        else:
            own.pop(name, None)

    def get_compiled_call(*args, **kwargs):
        compiled = original_compiled(*args, **kwargs)

        def compiled_call(*args, **kwargs):
            note(model, args, kwargs)
            covered = own.get(CALL) is call
            restore(CALL)
            try:
                return compiled(*args, **kwargs)
            finally:
                if covered:
                    own[CALL] = call

        return compiled_call

    def stop():
        for name in (CALL, COMPILED):
            restore(name)

    original_compiled = getattr(model, COMPILED, None)
    own[CALL] = call
    if original_compiled is not None:
        own[COMPILED] = get_compiled_call
    return stop


def compiled_call(model):
    """The call that the program compiled, also while another thread's generate() has the model watched; None if there is no such call."""
    found = getattr(model, CALL, None)
    return getattr(found, REPLACES, found)


def hook(model, note):
    def note_all(module, args, kwargs):
        note(module, args, kwargs)

    try:
        handle = model.register_forward_pre_hook(note_all, with_kwargs=True)
    except TypeError:  # torch 1.x
        handle = model.register_forward_pre_hook(lambda module, args: note(module, args, {}))
    return handle.remove


def forget():
    global _lock
    _lock = threading.RLock()


recording.in_forked_child(forget)
