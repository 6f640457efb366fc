"""What runs at the start of every Python process: a hook on imports, and nothing that takes time.

The hook waits for the modules below, patches each when it has been imported, and then removes itself.
"""

import os
import sys

SIGN = "python-started"
# The module that defines what is patched, and the adapter's module whose `patch(module)` does it.
PATCHES = {"transformers.generation.utils": "profline_adapter.transformers_hooks"}


class ImportHook:
    """A finder that lets the other finders find a module, and patches it after it was executed."""

    def __init__(self, patches):
        self.waiting = dict(patches)

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self.waiting:
            return None
        for finder in list(sys.meta_path):
            find_spec = getattr(finder, "find_spec", None)
            if isinstance(finder, ImportHook) or find_spec is None:
                continue
            spec = find_spec(fullname, path, target)
            if spec is not None:
                patch_after_execution(spec.loader, self)
                return spec
        return None

    def executed(self, module):
        """Stops waiting for the module only now, because a module may be looked up without being imported."""
        hook = self.waiting.pop(module.__name__, None)
        if not self.waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        if hook is not None:
            apply(hook, module)


def patch_after_execution(loader, hook):
    """Replaces `exec_module` of this one loader for its one call, so that the module looks as it always does."""
    try:
        execute = loader.exec_module

        def exec_module(module):
            try:
                del loader.exec_module
            except AttributeError:
                pass
            execute(module)
            hook.executed(module)

        loader.exec_module = exec_module
    except Exception as error:
        report(f"an import could not be hooked: {type(error).__name__}: {error}")


def apply(hook, module):
    try:
        __import__(hook)
        sys.modules[hook].patch(module)
    except Exception as error:
        report(f"{module.__name__} could not be patched, so its calls are not recorded: {type(error).__name__}: {error}")


def report(text):
    try:
        from profline_adapter import recording

        recording.problem(text)
    except Exception:  # there is nowhere else to report it
        pass


def separate_from_kineto():
    try:
        from profline_adapter import on_demand

        on_demand.choose()
    except Exception as error:
        report(f"traces on demand could not be set up: {type(error).__name__}: {error}")


def leave_sign():
    """An empty file says that the adapter started, also if no process has anything to record."""
    try:
        os.close(os.open(os.path.join(os.environ["PROFLINE_RECORD_DIR"], SIGN), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))
    except (KeyError, OSError):  # what is recorded reports that
        pass


_started = False


def start():
    """Called by sitecustomize, and by `import profline` in a process that sitecustomize did not reach."""
    global _started
    if _started:
        return
    _started = True
    leave_sign()
    if "PROFLINE_KINETO" in os.environ:
        separate_from_kineto()
    hook = ImportHook({})
    for name, adapter in PATCHES.items():
        if name in sys.modules:
            apply(adapter, sys.modules[name])
        else:
            hook.waiting[name] = adapter
    if hook.waiting:
        sys.meta_path.insert(0, hook)
