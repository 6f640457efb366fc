"""Runs of profline around servers, and what became of them. Loopback only."""

import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROFLINE = os.environ["PROFLINE"]
TOOLS = Path(os.environ.get("PROFLINE_TEST_TOOLS", "build/tools"))
HERE = Path(__file__).resolve().parent
ENGINE = [sys.executable, str(HERE / "engine.py")]
WORKLOAD = "pipeline.workload."
# A load whose requests take some 25 ms each, and a short window of it.
SMALL = ["load.arrival.concurrency=4", "load.warmup.requests=8", "load.measure.requests=40", "load.prompts.input_tokens=8",
         "load.prompts.output_tokens=5", "window.seconds=0.5", "server.ready.timeout=60", "server.stop.grace=10"]


def free_port():
    """A port that nobody listens on. Not one of those that the kernel gives to outgoing connections, which begin at 32768."""
    while True:
        port = random.randrange(20000, 32768)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def nsys():
    """The real nsys; None where it is not unpacked."""
    for program in sorted(TOOLS.glob("nsight-*/bin/nsys")):
        return program
    return None


def proofs(server):
    """What was checked afterwards, and its state."""
    return {proof["what"]: proof["state"] for proof in server["proofs"]}


def processes_of(folder):
    """The processes that were started for a run: its folder is in their environment or their arguments."""
    found = []
    argument = b"\0" + str(folder).encode() + b"\0"
    needle = b"PROFLINE_RUN_DIR=" + str(folder).encode() + b"\0"
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            environment = (process / "environ").read_bytes() + b"\0"
            arguments = b"\0" + (process / "cmdline").read_bytes()
            state = (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except (OSError, IndexError):
            continue
        if (needle in environment or argument in arguments) and state != "Z":
            found.append(int(process.name))
    return found


class Run:
    """One `profline run` of a server. Its limit is longer than profline itself waits for a profiler, twice ten minutes."""

    def __init__(self, server, *overrides, stages=("torch_profiler",), preset="generic", port=None, folder=None, limit=1800,
                 arguments=(), env=None, small=True):
        self.folder = Path(folder or tempfile.mkdtemp(prefix="profline-server-")) / "run"
        self.port = port or free_port()
        words = [f"workload/server={preset}", f"hydra.run.dir={self.folder}", "device=cpu",
                 f"{WORKLOAD}server.url=http://127.0.0.1:{self.port}", "pipeline.static_analysis.enable=false"]
        for stage in ("baseline", "torch_profiler", "nsys"):
            words.append(f"pipeline.{stage}.enable={'true' if stage in stages else 'false'}")
        words += [word if word.startswith(("pipeline.", "hydra", "+")) else WORKLOAD + word
                  for word in [*(SMALL if small else []), *overrides]]
        command = [PROFLINE, "run", *words, *arguments]
        if server:
            command += ["--", *(str(word).replace("PORT", str(self.port)) for word in server)]
        begin = time.monotonic()
        self.process = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=self.folder.parent,
                                      env={**os.environ, **(env or {})}, check=False)
        self.seconds = time.monotonic() - begin
        self.code = self.process.returncode
        self.stderr = self.process.stderr
        record = self.folder / "run.json"
        self.record = json.loads(record.read_text()) if record.exists() else {"stages": []}

    def stage(self, name):
        return next(stage for stage in self.record["stages"] if stage["name"] == name)

    def findings(self):
        return [finding for stage in self.record["stages"] for finding in stage["findings"]]

    def codes(self, severity=None):
        return [finding["code"] for finding in self.findings() if severity in (None, finding["severity"])]

    def text(self, code):
        return next(finding["text"] for finding in self.findings() if finding["code"] == code)

    def texts(self, code):
        return [finding["text"] for finding in self.findings() if finding["code"] == code]

    def server(self, stage):
        return json.loads((self.folder / stage / "server.json").read_text())

    def leftovers(self):
        """Processes of the run that are still there; those that are just ending get a moment."""
        for _ in range(50):
            left = processes_of(self.folder)
            if not left:
                break
            time.sleep(0.1)
        return left
