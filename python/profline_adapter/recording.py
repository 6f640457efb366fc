"""The file of this process in PROFLINE_RECORD_DIR: one JSON object per line, each written with one append.

The file is created by the first line, so a process that has nothing to record and no torch leaves none.
"""

import os
import sys
import threading
import time

SCHEMA = "profline.python/1"

clock_ns = time.monotonic_ns

# How the code begins with which multiprocessing starts its processes; the second since Python 3.14.
WORKERS = ("from multiprocessing.", "import sys; from multiprocessing.")


class Recording:
    """Writes lines, and says once on stderr if it cannot."""

    def __init__(self, folder):
        self.folder = folder
        self.pid = os.getpid()
        self.start_ns = clock_ns()
        self.path = os.path.join(folder, f"python-{self.pid}-{self.start_ns}.jsonl")
        self.lock = threading.RLock()
        self.file = -1
        self.identity = None  # of the open file
        self.has_begun = False  # the first line was written
        self.is_closed = False  # nothing is written any more
        self.torn = False  # the last line was written in part
        self.lost = 0  # lines that could not be written
        self.has_complained = False

    def write(self, line):
        with self.lock:
            if self.is_closed or not self.is_open() and not self.open():
                return
            if not self.has_begun:
                self.has_begun = self.append(process_line(self))
            if self.lost and self.append(lost_line(self.lost)):
                self.lost = 0
            self.lost += not self.append(line)

    def is_open(self):
        """A program may close every file it did not open, and then open its own under the same number."""
        if self.file < 0:
            return False
        try:
            return identity_of(self.file) == self.identity
        except OSError:
            return False

    def open(self):
        try:
            self.file = out_of_the_way(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644))
            self.identity = identity_of(self.file)
        except OSError as error:
            self.is_closed = True
            complain(f"cannot write into {self.folder}: {error.strerror}; this process is not recorded")
            return False
        return True

    def append(self, line):
        """Whether the whole line was written."""
        data = (("\n" if self.torn else "") + as_json(line) + "\n").encode("ascii", "replace")
        try:
            self.torn = os.write(self.file, data) != len(data)
            return not self.torn
        except OSError as error:
            if not self.has_complained:
                self.has_complained = True
                complain(f"cannot write {self.path}: {error.strerror}")
            return False

    def close(self):
        if self.has_begun or "torch" in sys.modules:
            self.write({"kind": "end", "at_ns": clock_ns()})
        if self.has_begun and not os.path.exists(self.path):
            complain(f"{self.path} was removed while the program ran; this process is not recorded")
        self.is_closed = True
        self.let_go()

    def let_go(self):
        if self.is_open():
            os.close(self.file)
        self.file = -1


def lost_line(count):
    return {"kind": "problem", "text": f"{counted(count, 'line')} of this recording could not be written"}


def identity_of(file):
    status = os.fstat(file)
    return status.st_dev, status.st_ino


def out_of_the_way(file):
    """Moves the file to a high descriptor, so that the program's own files get the same numbers as without us."""
    import fcntl

    try:
        high = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 200)
    except OSError:  # the limit is lower
        return file
    os.close(file)
    return high


def as_json(line):
    try:
        import json

        return json.dumps(line, separators=(",", ":"), allow_nan=False)
    except Exception as error:  # the program may even have a module `json` of its own
        return '{"kind":"problem","text":"a line of kind %s could not be written as JSON: %s"}' % (line.get("kind"), type(error).__name__)


def complain(text):
    try:
        sys.stderr.write(f"profline: {text}\n")
    except Exception:  # the program may have closed it
        pass


def counted(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def process_line(recording):
    line = {
        "kind": "process",
        "schema": SCHEMA,
        "pid": recording.pid,
        "parent": os.getppid(),
        "python": ".".join(map(str, sys.version_info[:3])),
        "argv": program_name(),
        "started": how_started(),
        "torch": version_of("torch"),
        "transformers": version_of("transformers"),
        "clock": "monotonic",
        "start_ns": recording.start_ns,
    }
    # Ranks of one program, as torchrun and others number them.
    for name, variable in (("rank", "RANK"), ("ranks", "WORLD_SIZE")):
        if os.environ.get(variable, "").isdigit():
            line[name] = int(os.environ[variable])
    return line


def program_name():
    """The script without its folder, or `-m module`. Arguments may hold prompts and secrets, so they stay out."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None and spec.name:
        return ["-m", clean(spec.name)]
    argv = getattr(sys, "argv", None) or [""]
    return [clean(os.path.basename(str(argv[0])))]


def how_started():
    """The script, `-m` and the module, `-c`, or `multiprocessing`: by the command line, which the program cannot change."""
    words = command_line()[1:]
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            return clean(os.path.basename(word))
        if word == "--check-hash-based-pycs":
            words = words[1:]
        # Letters may be joined, as in -uc; what -c, -m, -W and -X take may follow at once.
        letter = next((letter for letter in word[1:] if letter in "cmWX"), "") if not word.startswith("--") else ""
        value = word[word.index(letter) + 1:] if letter else ""
        if letter and not value and words:
            value = words.pop(0)
        if letter == "m":
            return clean(f"-m {value}")
        if letter == "c":
            return "multiprocessing" if value.startswith(WORKERS) else "-c"
    return ""


def command_line():
    if hasattr(sys, "orig_argv"):
        return [str(word) for word in sys.orig_argv]
    try:  # Python 3.9
        with open("/proc/self/cmdline", "rb") as file:
            return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    except OSError:
        return []


def version_of(module):
    """The version of a module that is already imported."""
    version = getattr(sys.modules.get(module), "__version__", None)
    return None if version is None else clean(str(version))


def clean(text):
    """Without the lone surrogates that stand for bytes that are not UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


_recording = None


def current():
    """The recording of this process; None if profline does not run the program."""
    global _recording
    if _recording is None:
        folder = os.environ.get("PROFLINE_RECORD_DIR")
        if not folder:
            return None
        _recording = Recording(folder)
        at_exit_once()
        prepare_gate()
    return _recording


def prepare_gate():
    """So that a program that never makes a request is reported too."""
    if os.environ.get("PROFLINE_GATE", "none") != "none":
        from profline_adapter import gate

        gate.current()


def write(line):
    recording = current()
    if recording is not None:
        recording.write(line)


_said = set()


def problem(text):
    """One plain sentence about what could not be recorded; the same sentence only once."""
    if text in _said or len(_said) > 100:
        return
    _said.add(text)
    write({"kind": "problem", "text": clean(text)[:2000]})


def guarded(function):
    """Runs `function` so that its failure is a problem of the recording, never of the program."""

    name = getattr(function, "__qualname__", type(function).__name__)

    def run(*arguments, **named):
        try:
            return function(*arguments, **named)
        except Exception as error:
            try:
                problem(f"{name} failed: {type(error).__name__}: {error}")
            except Exception:
                pass
            return None

    run.__doc__ = function.__doc__
    return run


# Called in this order when the program ends; the recording is closed last.
_endings = []
_exit_registered = False


def before_exit(function):
    if function not in _endings:
        _endings.append(function)


def forget_ending(function):
    if function in _endings:
        _endings.remove(function)


def at_exit_once():
    global _exit_registered
    if _exit_registered:
        return
    import atexit

    atexit.register(end)
    os.register_at_fork(after_in_child=after_fork)
    _exit_registered = True


def end():
    for ending in _endings:
        guarded(ending)()
    if _recording is None:
        return
    if _recording.pid == os.getpid():
        guarded(_recording.close)()


# Called in a forked child, which starts with a recording of its own.
_forks = []


def in_forked_child(function):
    if function not in _forks:
        _forks.append(function)


def after_fork():
    global _recording
    if _recording is None:
        return
    _recording.let_go()
    _recording = Recording(_recording.folder)
    _said.clear()
    for function in _forks:
        guarded(function)()
