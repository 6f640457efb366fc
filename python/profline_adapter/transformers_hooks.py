"""transformers: each outermost generate() is a request. Written for 4.40 to 5.x."""

import contextvars
import functools

from profline_adapter import forwards, marks, recording, requests
from profline_adapter.generate_call import GenerateCall, is_forked
from profline_adapter.recording import clock_ns, guarded
from profline_adapter.settings import Settings

# The generate() that is running in this thread or task, or what it has called.
_generating = contextvars.ContextVar("profline_generate", default=None)


class Inner:
    """A generate() inside another: the assistant's, for example. Its forwards are not steps of the request."""

    model = None


INNER = Inner()


@guarded
def patch(module):
    mixin = module.GenerationMixin
    mixin.generate = wrapped(mixin.generate)
    if hasattr(mixin, "_prefill_chunking"):
        mixin._prefill_chunking = in_chunks(mixin._prefill_chunking)
    if hasattr(mixin, "init_continuous_batching"):
        mixin.init_continuous_batching = reported(mixin.init_continuous_batching)
    recording.current()
    recording.before_exit(functools.partial(check_patch, mixin, mixin.generate))


def wrapped(original):
    @functools.wraps(original)
    def generate(self, *args, **kwargs):
        outer = _generating.get()
        if outer is not None and not starts_anew(outer):
            return run_inner(original, outer, self, args, kwargs)
        call = begin(self, args, kwargs)
        if call is None:
            return original(self, *args, **kwargs)
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            end(call, None, clock_ns(), type(error).__name__)
            raise
        end(call, result, clock_ns(), None)
        return result

    return generate


def starts_anew(outer):
    """A forked child does not continue the call that its parent was in."""
    return outer is not INNER and is_forked(outer)


def run_inner(original, outer, model, args, kwargs):
    # generate() may call itself with another way of decoding; that is still the same request.
    is_same = outer is not INNER and outer.model is model and outer.settings.mode != "assisted_generation"
    if is_same:
        return original(model, *args, **kwargs)
    _generating.set(INNER)
    try:
        return original(model, *args, **kwargs)
    finally:
        _generating.set(outer)


@guarded
def begin(model, args, kwargs):
    if recording.current() is None:
        return None
    settings = Settings(model, args, kwargs)
    visit = requests.visit_request()
    scope = requests.begin_request({}, is_programs=False) if visit is None else None
    if visit is None and scope is None:
        return None
    try:
        call = GenerateCall(model, settings, scope, visit)
    except Exception:
        if scope is not None:
            requests.end_request(scope)
        else:
            visit.end(clock_ns())
        raise
    forwards.watch(model, note)
    _generating.set(call)
    return call


def note(model, args, kwargs):
    call = _generating.get()
    if call is None or call.model is not model:
        return
    starts = call.starts
    starts.append(clock_ns())
    # Most steps need no more than this.
    if len(starts) > 2 and not call.is_profiled and not call.has_compiled():
        return
    try:
        call.forward_begins(args, kwargs)
    except Exception as error:
        recording.problem(f"a forward call of {type(model).__name__} could not be recorded: {type(error).__name__}: {error}")


@guarded
def end(call, result, end_ns, failed):
    _generating.set(None)
    forwards.unwatch(call.model)
    if is_forked(call):
        return
    call.pop_all()
    call.look_for_compilation(call.starts[-1] if call.starts else call.entry_ns, end_ns)
    if call.scope is None:
        if failed is not None:
            call.request.attributes["failed"] = failed
        guarded(call.finish)(result, end_ns)
        call.visit.end(end_ns)
    else:
        requests.end_request(call.scope, failed, end_ns, lambda request: call.finish(result, end_ns))


class Chunks:
    """Stands for the tokens of a prompt that are computed in chunks."""

    def __init__(self, rows, tokens):
        self.shape = rows, tokens


def in_chunks(original):
    """transformers 4.51 to 4.57 compute all but the last token of the prompt by calls of `forward` itself, which are not
    observed. They count as one forward, and that of the last token belongs to prefill as well."""

    @functools.wraps(original)
    def _prefill_chunking(self, input_ids, *args, **kwargs):
        note_chunks(self, input_ids)
        return original(self, input_ids, *args, **kwargs)

    return _prefill_chunking


@guarded
def note_chunks(model, input_ids):
    rows, tokens = input_ids.shape
    note(model, (), {"input_ids": Chunks(rows, tokens - 1)})


def reported(original):
    @functools.wraps(original)
    def init_continuous_batching(self, *args, **kwargs):
        marks.watch()
        recording.problem("the program uses continuous batching of transformers, whose requests are computed together; "
                          "they are not divided into requests and phases")
        return original(self, *args, **kwargs)

    return init_continuous_batching


def check_patch(mixin, ours):
    if mixin.generate is not ours and getattr(mixin.generate, "__wrapped__", None) is not ours and requests.made() == 0:
        recording.problem("the program replaced generate() of transformers, so its calls are not recorded")
