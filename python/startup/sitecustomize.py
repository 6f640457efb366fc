"""Starts profline's Python adapter in a program that profline runs; PYTHONPATH names this folder.

Python imports `sitecustomize` at its start. This one takes itself out of the way: it leaves sys.path as it would be
without profline and then imports the program's own `sitecustomize`, if there is one. Whatever that raises, and its
absence too, reaches Python as if this file did not exist.

Any Python may start here, so the syntax is that of the oldest ones; the adapter itself needs Python 3.9.
"""

import sys


def _leave_path():
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if not entry or os.path.abspath(entry) != here]
    left = len(others) < len(sys.path)
    sys.path[:] = others
    return left


def _start_adapter():
    import os

    package = os.environ.get("PROFLINE_PYTHON")
    if not package or not os.environ.get("PROFLINE_RECORD_DIR") or sys.version_info < (3, 9):
        return
    if package not in sys.path:
        sys.path.append(package)
    import profline_adapter.start

    profline_adapter.start.start()


def _complain(error):
    try:
        text = "the Python adapter did not start, so this process is not recorded: {}: {}".format(type(error).__name__, error)
        sys.stderr.write("profline: " + text + "\n")
    except Exception:  # stderr may be closed
        pass


try:
    _start_adapter()
except Exception as _error:  # the program matters more than its recording
    _complain(_error)
_left = _leave_path()
del _leave_path, _start_adapter, _complain

# Without the check, a path that cannot be left would import this file again and again.
if _left:
    del sys.modules["sitecustomize"]
    import sitecustomize  # noqa: E402, F401  (the program's own)
