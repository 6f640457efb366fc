"""Servers for tests of the load generator, and `profline load` on them. Loopback only."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PROFLINE = os.environ["PROFLINE"]
SCRIPTED = os.environ.get("SCRIPTED_SERVER", "")
TOOLS = Path(os.environ.get("PROFLINE_TEST_TOOLS", "build/tools"))
LOAD = "pipeline.workload.load."


class Scripted:
    """scripted_server with these options, for as long as the `with` block."""

    def __init__(self, *options):
        self.options = [str(option) for option in options]

    def __enter__(self):
        self.process = subprocess.Popen([SCRIPTED, *self.options], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.url = f"http://127.0.0.1:{int(line.split()[1])}"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()


class Loaded:
    """The result of one `profline load`."""

    def __init__(self, folder, process, seconds):
        self.folder = folder
        self.code = process.returncode
        self.stdout = process.stdout
        self.stderr = process.stderr
        self.seconds = seconds
        file = folder / "load.json"
        self.load = json.loads(file.read_text()) if file.exists() else None
        lines = folder / "requests.jsonl"
        self.requests = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []

    def errors(self):
        return {error["kind"]: error["count"] for error in self.load["errors"]}


def load(url, *overrides, arguments=(), limit=120, env=None):
    folder = Path(tempfile.mkdtemp(prefix="profline-load-")) / "run"
    command = [PROFLINE, "load", url, f"hydra.run.dir={folder}"]
    command += [override if "=" in override and override.startswith(("+", "pipeline", "hydra")) else LOAD + override
                for override in overrides]
    begin = time.monotonic()
    process = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=limit,
                             env={**os.environ, **(env or {})}, cwd=folder.parent)
    return Loaded(folder, process, time.monotonic() - begin)


def llama_server():
    """The real llama-server; exits with 77 where it is not unpacked."""
    program = TOOLS / "llama" / "bin" / "llama-server"
    if not program.exists():
        print("skipped: no llama-server (scripts/fetch_llama unpacks it)")
        sys.exit(77)
    return program


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def metric(text, name):
    return int(float(re.search(rf"^llamacpp:{name} (\S+)$", text, re.M).group(1)))
