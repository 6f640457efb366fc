"""Runs programs the way profline runs them, and reads what the adapter recorded."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
STARTUP = PACKAGE / "startup"
TOOLS = Path(os.environ.get("PROFLINE_TEST_TOOLS", ROOT / "build" / "tools"))


def unpacked_python(suite):
    """Debian's Python with torch, if scripts/fetch_python has unpacked it."""
    python = TOOLS / f"python-{suite}" / "usr" / "bin" / "python3"
    return str(python) if (TOOLS / f"python-{suite}" / "complete").exists() else None


def skip_file_without(python, suite):
    """Ends the test file as skipped (77) and says why."""
    if python is None:
        print(f"skipped: Debian {suite}'s Python with torch is not unpacked (scripts/fetch_python {suite}; `make test-long` does it)")
        sys.exit(77)


class Recorded:
    """All lines of a folder `recorded`."""

    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("python-*.jsonl")) if Path(folder).is_dir() else []
        self.lines = [line for file in self.files for line in map(json.loads, file.read_text().splitlines())]

    def of(self, kind):
        return [line for line in self.lines if line["kind"] == kind]

    @property
    def requests(self):
        return self.of("request")

    @property
    def problems(self):
        return [line["text"] for line in self.of("problem")]


def phases(request):
    return {phase["path"]: phase for phase in request["phases"]}


class ProgramTest(unittest.TestCase):
    """Each test has its own folder, in which it runs programs with and without the adapter."""

    python = sys.executable

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="profline-python-")
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)
        self.folder.chmod(0o755)
        self.recorded = self.folder / "recorded"
        self.recorded.mkdir()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def environment(self, adapter=True, path=(), **more):
        values = {name: value for name, value in os.environ.items() if not name.startswith(("PROFLINE_", "PYTHON", "NVTX_"))}
        entries = [str(entry) for entry in path]
        if adapter:
            entries.insert(0, str(STARTUP))
            values.update(PROFLINE_RECORD_DIR=str(self.recorded), PROFLINE_PYTHON=str(PACKAGE))
        if entries:
            values["PYTHONPATH"] = os.pathsep.join(entries)
        values.update({name: str(value) for name, value in more.items()})
        return values

    def run_program(self, text, *arguments, python=None, options=(), adapter=True, path=(), check=True, environment=None, **subprocess_options):
        """Runs `text` as a script. Returns what it printed; `self.last` is the finished process."""
        script = self.write("program.py", text)
        env = self.environment(adapter, path, **(environment or {}))
        command = [python or self.python, *options, str(script), *arguments]
        self.last = subprocess.run(command, env=env, cwd=self.folder, capture_output=True, timeout=300, **subprocess_options)
        if check:
            self.assertEqual(self.last.returncode, 0, self.last.stderr.decode(errors="replace"))
        return self.last.stdout.decode(errors="replace")

    def read(self):
        return Recorded(self.recorded)
