#!/usr/bin/env python3
"""Sweeps on a real Slurm: a private cluster of virtual nodes for each test, without systemd, root or slurmdbd.

    tests/slurm/sweep_test.py PROFLINE [TEST...]

Exits with 77, which CTest takes for skipped, where Slurm is not installed. PROFLINE_TEST_LONG=1 runs 20 rounds of the fault
campaign with 32 jobs, and waits for a real time limit.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLUSTER = HERE / "slurm_cluster"
LONG = os.environ.get("PROFLINE_TEST_LONG") == "1"
PROFLINE = ""

CONFIG = """\
defaults:
  - demo
  - _self_
device: cpu
pipeline:
  static_analysis: {enable: false}
  baseline: {enable: true}
  torch_profiler: {enable: false}
  nsys: {enable: false}
  workload: {command: [sh, PROGRAM, 'job ${vars.job}', 'for ${vars.seconds}']}
vars: {job: 0, seconds: '0.1'}
hydra:
  sweep: {dir: sweep}
  launcher: {timeout_min: 5, signal_delay_s: 30}
"""

# Notes begin and end of its work; a second copy that runs at the same time is noted too.
PROGRAM = """\
log=LOGS/${1#job }
exec 9>>"$log.lock"
flock -n 9 || echo twice >>"$log"
# scancel signals the sleep as well as this shell, in any order, and profline may signal it a second time: note it once.
stop() { trap '' INT TERM; echo stopped >>"$log"; exit 1; }
trap stop INT TERM
echo begin >>"$log"
sleep "${2#for }" & wait $! || stop
echo done >>"$log"
[ ! -e "$log.fails" ]
"""


def wait_until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


class SlurmTest(unittest.TestCase):
    nodes = 2
    cpus = 4

    def setUp(self):
        # Short, because of the length of a socket's name.
        self.root = Path(tempfile.mkdtemp(prefix="sw", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.cluster = self.root / "c"
        self.work = self.root / "w"
        self.logs = self.work / "logs"
        (self.work / "conf").mkdir(parents=True)
        self.logs.mkdir()
        program = self.work / "program.sh"
        program.write_text(PROGRAM.replace("LOGS", str(self.logs)))
        (self.work / "conf/jobs.yaml").write_text(CONFIG.replace("PROGRAM", str(program)))
        self.addCleanup(self.control, "down")
        self.control("up", str(self.nodes), str(self.cpus))
        self.env = {**os.environ, "SLURM_CONF": str(self.cluster / "slurm.conf")}
        self.sweep = self.work / "sweep"

    def control(self, verb, *words):
        done = subprocess.run([CLUSTER, verb, self.cluster, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def command(self, *words, code=0):
        done = subprocess.run([str(word) for word in words], cwd=self.work, env=self.env, capture_output=True, text=True,
                              timeout=300)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def profline(self, *words, code=0):
        return self.command(PROFLINE, *words, code=code)

    def submit(self, *overrides, config="jobs"):
        done = self.profline("run", "-cn", config, "-m", "hydra/launcher=slurm", "--format", "json", *overrides)
        return json.loads(done.stdout)["slurm_job"]

    def status(self):
        return json.loads(self.profline("sweep", "status", self.sweep, "--format", "json").stdout)["jobs"]

    def states(self):
        return [job["status"]["state"] for job in self.status()]

    def task(self, job):
        file = self.sweep / f".sweep/{job}.json"
        return json.loads(file.read_text()) if file.exists() else {"attempts": []}

    def log(self, job):
        file = self.logs / str(job)
        return file.read_text().split() if file.exists() else []

    def begun(self, job, times=1):
        return lambda: self.log(job).count("begin") >= times


class Submission(SlurmTest):
    def test_is_answered_at_once_and_its_jobs_run_and_are_reported(self):
        started = time.monotonic()
        name = "it's a \"name\" with $HOME, # and \\"
        (self.work / "conf/named.yaml").write_text(
            "defaults: [jobs, _self_]\nhydra: {launcher: {name: " + json.dumps(name) + "}}\n")
        job = self.submit("vars.job=range(32)", config="named")
        print(f"submitted 32 tasks in {time.monotonic() - started:.2f} s", file=sys.stderr)
        names = set(self.command("squeue", "-h", "-t", "all", "-j", job, "-o", "%j").stdout.splitlines())
        self.assertEqual(names, {name})
        done = self.profline("sweep", "wait", self.sweep)
        self.assertIn("32 jobs: 32 ok", done.stdout)
        self.assertEqual(done.stderr.count(" ok : vars.job="), 32)
        report = (self.sweep / "sweep.md").read_text()
        self.assertIn("32 jobs: 32 ok.", report)
        self.assertIn("| `wall_ms` |", report)
        self.assertTrue((self.sweep / "sweep.html").exists())
        self.assertEqual(sorted(path.parent.name for path in self.sweep.glob("*/run.json")), sorted(map(str, range(32))))

    def test_that_slurm_refuses_leaves_nothing(self):
        done = self.profline("run", "-cn", "jobs", "-m", "hydra/launcher=submitit_slurm", "vars.job=1,2",
                             "hydra.launcher.partition=nowhere", code=1)
        self.assertIn("submitting the sweep", done.stderr)
        self.assertIn("invalid partition", done.stderr.lower())
        self.assertFalse(self.sweep.exists())

    def test_of_jobs_of_which_one_is_wrong_submits_nothing(self):
        self.profline("run", "-cn", "jobs", "-m", "hydra/launcher=slurm", "pipeline.baseline.timeout=1,-1", code=2)
        self.assertFalse(self.sweep.exists())
        self.assertEqual(self.command("squeue", "-h", "-t", "all").stdout, "")


class Faults(SlurmTest):
    def test_cancelled_and_failed_jobs_are_told_apart_and_retried(self):
        (self.logs / "1.fails").touch()
        self.submit("vars.job=0,1,2,3,4,5,6,7,8,9", "vars.seconds=30", "hydra.launcher.array_parallelism=3")
        wait_until("three jobs run", lambda: self.states().count("running") == 3 and all(self.log(j) for j in range(3)))
        self.assertIn("cancelled 10 jobs", self.profline("sweep", "cancel", self.sweep).stdout)
        self.profline("sweep", "wait", self.sweep, code=130)
        self.assertEqual(self.states(), ["cancelled"] * 10)
        self.assertEqual(self.log(0), ["begin", "stopped"])
        # scancel signals the program as well: whichever of the two is quicker.
        self.assertIn(json.loads((self.sweep / "0/run.json").read_text())["state"], ("failed", "interrupted"))
        program = self.work / "program.sh"
        program.write_text(program.read_text().replace('sleep "${2#for }"', "sleep 0.1"))
        self.profline("sweep", "retry", self.sweep)
        self.profline("sweep", "wait", self.sweep, code=1)
        self.assertEqual(self.states(), ["ok", "failed"] + ["ok"] * 8)
        (self.logs / "1.fails").unlink()
        self.profline("sweep", "retry", self.sweep)
        self.profline("sweep", "wait", self.sweep)
        self.assertEqual(self.log(0).count("done"), 1)
        self.assertEqual(self.log(1).count("done"), 2)
        self.profline("sweep", "retry", self.sweep, code=3)

    def test_ahead_of_its_time_limit_a_job_closes_its_record_and_continues_later(self):
        job = self.submit("vars.job=0", "vars.seconds=20")
        wait_until("it begins", self.begun(0))
        self.command("scancel", "--batch", "--signal=USR2", f"{job}_0")
        wait_until("it is queued again", lambda: self.states() == ["pending"])
        attempt = self.task(0)["attempts"][0]
        self.assertEqual((attempt["end"], attempt["slurm_task"]), ("time_limit", f"{job}_0"))
        self.assertEqual(self.status()[0]["status"]["why"], "queued again after its time limit")
        self.assertEqual(json.loads((self.sweep / "0/run.json").read_text())["state"], "interrupted")
        program = self.work / "program.sh"
        program.write_text(program.read_text().replace('sleep "${2#for }"', "sleep 0.1"))
        self.profline("sweep", "wait", self.sweep)
        record = json.loads((self.sweep / "0/run.json").read_text())
        self.assertEqual((record["state"], len(record["resumed"])), ("ok", 1))
        self.assertEqual(self.task(0)["attempts"][1]["slurm_task"], f"{job}_0")
        self.assertEqual(self.log(0), ["begin", "stopped", "begin", "done"])

    def test_a_job_that_starts_twice_does_its_work_once(self):
        job = self.submit("vars.job=0", "vars.seconds=3")
        wait_until("it begins", self.begun(0))
        second = subprocess.Popen([PROFLINE, "sweep", "run", str(self.sweep), "0"], cwd=self.work, env=self.env,
                                  stderr=subprocess.PIPE, text=True)
        self.profline("sweep", "wait", self.sweep)
        said = second.communicate(timeout=30)[1]
        self.assertEqual(second.returncode, 0, said)
        self.assertIn("another process is working on this job", said)
        self.assertIn("this job is already done", said)
        self.command("scontrol", "requeue", f"{job}_0")  # of a job that has ended: Slurm starts it again
        wait_until("it ran again", lambda: "this job is already done" in
                   "".join(path.read_text() for path in self.sweep.glob(".submitit/*_log.err")))
        self.assertEqual(self.log(0), ["begin", "done"])

    @unittest.skipUnless(LONG, "PROFLINE_TEST_LONG=1 waits for a time limit of a minute")
    def test_slurms_own_time_limit_is_noticed_in_time(self):
        self.submit("vars.job=0", "vars.seconds=50", "hydra.launcher.timeout_min=1", "hydra.launcher.signal_delay_s=20",
                    "hydra.launcher.max_num_timeout=1")
        wait_until("it begins", self.begun(0))
        self.profline("sweep", "wait", self.sweep, code=1)
        self.assertEqual(self.states(), ["timeout"])
        self.assertEqual([attempt["end"] for attempt in self.task(0)["attempts"]], ["time_limit", "time_limit"])


class Campaign(SlurmTest):
    """Random faults while an array runs: it ends complete, no stage is done twice, nothing is left, states are true."""

    nodes = 4
    cpus = 2

    def running(self):
        """The last attempts at the jobs that run now."""
        attempts = []
        for file in self.sweep.glob(".sweep/*.json"):
            last = json.loads(file.read_text())["attempts"][-1]
            if last["end"] == "open" and Path(f"/proc/{last['process']['pid']}").exists():
                attempts.append(last)
        return attempts

    def kill(self, dice):
        for attempt in self.running()[:1]:
            try:
                os.kill(attempt["process"]["pid"], signal.SIGKILL)
            except ProcessLookupError:
                pass

    def time_limit(self, dice):
        for attempt in self.running()[:1]:
            self.command("scancel", "--batch", "--signal=USR2", attempt["slurm_task"], code=None)

    def requeue(self, dice):
        for attempt in self.running()[:1]:
            self.command("scontrol", "requeue", attempt["slurm_task"], code=None)

    def node_death(self, dice):
        node = f"n{dice.randint(1, self.nodes)}"
        self.control("kill", node)
        self.command("scontrol", "update", f"nodename={node}", "state=down", "reason=test", code=None)
        self.control("start", node)
        self.command("scontrol", "update", f"nodename={node}", "state=resume", code=None)

    def controller_restart(self, dice):
        self.control("kill", "slurmctld")
        self.control("start", "slurmctld")
        wait_until("the controller answers", lambda: self.command("scontrol", "ping", code=None).returncode == 0)

    def mend(self):
        """What an administrator does: a controller that lost its last seconds drains nodes that know a job already."""
        for line in self.command("sinfo", "-h", "-N", "-o", "%N %t").stdout.splitlines():
            node, state = line.split()
            if state.startswith(("drain", "drng", "down")):
                self.command("scontrol", "update", f"nodename={node}", "state=resume", code=None)

    def check(self):
        for job, status in enumerate(self.status()):
            self.assertEqual(status["status"]["state"], "ok", status)
            log = self.log(job)
            self.assertNotIn("twice", log, f"job {job}")
            record = json.loads((self.sweep / f"{job}/run.json").read_text())
            self.assertEqual(record["state"], "ok", f"job {job}")
            # The result of a stage that was done is never set aside for another.
            for earlier in (self.sweep / str(job)).glob("attempts/**/status.json"):
                self.assertNotEqual(json.loads(earlier.read_text())["state"], "ok", str(earlier))
        wait_until("the queue is empty", lambda: self.command("squeue", "-h").stdout == "")
        left = [path for path in Path("/proc").glob("[0-9]*/cmdline")
                if str(self.work).encode() in self.read(path)]
        self.assertEqual([self.read(path) for path in left], [], "processes are left")

    @staticmethod
    def read(path):
        try:
            return path.read_bytes()
        except OSError:
            return b""

    def round(self, seed, jobs, faults):
        dice = random.Random(seed)
        shutil.rmtree(self.sweep, ignore_errors=True)
        shutil.rmtree(self.logs)
        self.logs.mkdir()
        self.submit(f"vars.job=range({jobs})", "vars.seconds=1.5")
        for fault in faults:
            wait_until("a job runs", lambda: self.running() or "pending" not in self.states(), 120)
            time.sleep(dice.random() * 0.5)  # where in its work the fault comes
            getattr(self, fault)(dice)
        for _ in range(6):
            self.mend()
            done = self.profline("sweep", "wait", self.sweep, code=None)
            if done.returncode == 0:
                break
            self.profline("sweep", "retry", self.sweep)
        self.check()

    def test_ends_complete_whatever_happens(self):
        kinds = ["kill", "time_limit", "requeue", "node_death", "controller_restart"]
        for number in range(20 if LONG else 1):
            with self.subTest(round=number):
                started = time.monotonic()
                faults = kinds[:]
                random.Random(number).shuffle(faults)
                self.round(number, 32 if LONG else 12, faults)
                print(f"round {number}: {', '.join(faults)}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def main():
    global PROFLINE
    PROFLINE = str(Path(sys.argv[1]).resolve())
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not shutil.which(name, path=path)]
    if missing:
        print(f"skipped: no {', '.join(missing)}: install slurm-wlm and munge", file=sys.stderr)
        return 77
    program = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], exit=False, verbosity=2)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
