#!/usr/bin/env python3
"""Sweeps on a real Slurm: a private cluster of virtual nodes for each test, without systemd, root or slurmdbd.

    tests/slurm/sweep_test.py PROFLINE [TEST...]

Exits with 77, which CTest takes for skipped, where Slurm is not installed. PROFLINE_TEST_LONG=1 runs 20 rounds of the fault
campaign with 32 jobs, and waits for a real time limit.
"""

import json
import os
import random
import re
import resource
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

# Notes begin and end of its work, and does not end while its `.held` file is there; a second copy that runs at the same time is noted too.
PROGRAM = """\
log=LOGS/${1#job }
exec 9>>"$log.lock"
flock -n 9 || echo twice >>"$log"
# scancel signals the sleep as well as this shell, in any order, and profline may signal it a second time: note it once.
stop() { trap '' INT TERM; echo stopped >>"$log"; exit 1; }
trap stop INT TERM
echo begin >>"$log"
while [ -e "$log.held" ]; do sleep 0.05 & wait $! || stop; done
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
    gpus = 0
    slurm_conf = ""

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
        self.env = {**os.environ, "SLURM_CONF": str(self.cluster / "slurm.conf"), "SLURM_CLUSTER_CONF": self.slurm_conf,
                    "SLURM_CLUSTER_GPUS": str(self.gpus)}
        self.control("up", str(self.nodes), str(self.cpus))
        self.sweep = self.work / "sweep"

    def control(self, verb, *words):
        done = subprocess.run([CLUSTER, verb, self.cluster, *words], env=self.env, capture_output=True, text=True)
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

    def assert_cpu_time(self, limit, what, action):
        """The action, whose processes need less CPU time: unlike time on the clock, that does not depend on what else runs here."""
        def spent():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        before = spent()
        result = action()
        used = spent() - before
        print(f"{what}: {used:.2f} s of CPU time", file=sys.stderr)
        self.assertLess(used, limit, what)
        return result


class Submission(SlurmTest):
    def test_is_answered_at_once_and_its_jobs_run_and_are_reported(self):
        name = "it's a \"name\" with $HOME, # and \\"
        (self.work / "conf/named.yaml").write_text(
            "defaults: [jobs, _self_]\nhydra: {launcher: {name: " + json.dumps(name) + "}}\n")
        job = self.assert_cpu_time(1, "submitting 32 tasks", lambda: self.submit("vars.job=range(32)", config="named"))
        names = set(self.command("squeue", "-h", "-t", "all", "-j", job, "-o", "%j").stdout.splitlines())
        self.assertEqual(names, {name})
        done = self.profline("sweep", "wait", self.sweep)
        self.assertIn("32 jobs: 32 ok", done.stdout)
        self.assertEqual(len(re.findall(r"^#(\d+) : vars\.job=\1 : ok$", done.stderr, re.MULTILINE)), 32)
        report = (self.sweep / "sweep.md").read_text()
        self.assertIn("32 jobs: 32 ok.", report)
        self.assertIn("| `wall_ms` |", report)
        self.assertTrue((self.sweep / "sweep.html").exists())
        self.assertEqual(sorted(path.parent.name for path in self.sweep.glob("*/run.json")), sorted(map(str, range(32))))

    def test_of_a_thousand_recorded_tasks_is_shown_quickly(self):
        (self.logs / "0.held").touch()
        self.submit("vars.job=0,1")
        wait_until("it begins", self.begun(0))
        wait_until("the other is done", lambda: self.states() == ["running", "ok"])
        record = json.loads((self.sweep / "sweep.json").read_text())
        running, done = self.sweep / ".sweep/0.json", self.sweep / ".sweep/1.json"
        for job in range(2, 1000):
            record["jobs"].append({**record["jobs"][job % 2], "number": job, "folder": str(job), "overrides": [f"vars.job={job}"]})
            shutil.copy(running if job % 2 == 0 else done, self.sweep / f".sweep/{job}.json")
        record["submissions"][0]["jobs"] = list(range(1000))
        (self.sweep / "sweep.json").write_text(json.dumps(record))
        states = self.assert_cpu_time(0.5, "the status of 1,000 tasks", self.states)
        # Slurm knows two of them.
        self.assertEqual({state: states.count(state) for state in states}, {"running": 1, "ok": 500, "killed": 499})
        (self.logs / "0.held").unlink()

    def test_names_folders_with_percent_signs_and_shared_ones(self):
        (self.work / "conf/shared.yaml").write_text(
            f"defaults: [jobs, _self_]\nhydra: {{launcher: {{submitit_folder: {self.work}/shared/%j}}}}\n")
        for folder in ("50%a", "b"):
            self.sweep = self.work / folder
            self.submit("vars.job=0,1", f"hydra.sweep.dir={folder}")
            self.profline("sweep", "wait", self.sweep)
            self.assertEqual(len(list(self.sweep.glob(".submitit/*_log.err"))), 2, folder)
            self.submit("vars.job=0,1", f"hydra.sweep.dir={folder}/shared", config="shared")
            self.profline("sweep", "wait", self.sweep / "shared")
        self.assertEqual(len(list(self.work.glob("shared/batch-*.sh"))), 2)
        self.assertEqual(len(list(self.work.glob("shared/*_log.err"))), 4)

    def test_is_not_changed_by_variables_of_sbatch(self):
        self.env.update(SBATCH_TIMELIMIT="1", SBATCH_ARRAY_INX="7", SBATCH_NO_REQUEUE="1", SBATCH_JOB_NAME="other")
        job = self.submit("vars.job=0,1", "+hydra.launcher.additional_parameters.hold=true")
        tasks = self.command("squeue", "-h", "-j", job, "-r", "-o", "%K %l").stdout.splitlines()
        self.assertEqual(sorted(tasks), ["0 5:00", "1 5:00"])
        self.assertIn("Requeue=1", self.command("scontrol", "show", "job", job).stdout)
        self.profline("sweep", "cancel", self.sweep)
        self.assertIn("2 cancelled", (self.sweep / "sweep.md").read_text())

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


class EveryKey(SlurmTest):
    """Each key of Hydra's submitit launcher, as Slurm understood it."""

    gpus = 2
    slurm_conf = "MaxArraySize=20\nPartitionName=other Nodes=ALL State=UP\nPartitionName=third Nodes=ALL State=UP"

    KEYS = """\
defaults: [jobs, override hydra/launcher: submitit_slurm, _self_]
hydra:
  launcher:
    submitit_folder: ${hydra.sweep.dir}/out put/%j
    timeout_min: 7
    cpus_per_task: 1
    gpus_per_node: 1
    tasks_per_node: 2
    mem_gb: 1
    nodes: 1
    name: 'a "b" $HOME `id` \\ #'
    stderr_to_stdout: true
    partition: other,third
    qos: 5
    account: 12345
    comment: "it's; $(touch broken)"
    exclude: n2
    cpus_per_gpu: null
    max_num_timeout: 1
    signal_delay_s: 45
    array_parallelism: 3
    additional_parameters: {nice: 7, hold: true, begin: null, "no_kill": false}
    setup: ['export FROM_SETUP="a b"', 'echo "set up: $FROM_SETUP"']
"""

    def shown(self, job):
        text = self.command("scontrol", "show", "job", "-o", job).stdout
        return text, dict(re.findall(r"(\w+)=(\S*)", text))

    def test_reaches_slurm(self):
        (self.work / "conf/keys.yaml").write_text(self.KEYS)
        hostile = "'vars.job=\"$(touch broken) `touch broken` ; it\\'s\"'"
        job = json.loads(self.profline("run", "-cn", "keys", "-m", "--format", "json", "vars.seconds=0.1,0.2",
                                       "+vars.odd=" + hostile).stdout)["slurm_job"]
        text, job_of = self.shown(job)
        expected = {"TimeLimit": "00:07:00", "Partition": "other,third", "ExcNodeList": "n2", "Nice": "7", "Reason": "JobHeldUser",
                    "ArrayTaskId": "0-1%3", "NumNodes": "1-1"}
        self.assertEqual({key: job_of.get(key) for key in expected}, expected)
        self.assertIn('JobName=a "b" $HOME `id` \\ #', text)
        self.assertIn("Comment=it's; $(touch broken)", text)
        self.assertIn("NtasksPerN:B:S:C=2:", text)
        self.assertIn("gpu:1", text)
        self.assertRegex(text, "MinMemoryNode=1(G|024M)")
        self.assertEqual([status["state"] for status in (each["status"] for each in self.status())], ["held", "held"])
        script = (self.sweep / "out put/batch-1.sh").read_text()
        for line in ("#SBATCH --qos='5'", "#SBATCH --account='12345'", "#SBATCH --signal='B:USR2@45'"):
            self.assertIn(line, script)
        self.profline("sweep", "retry", self.sweep)  # releases what is held
        self.profline("sweep", "wait", self.sweep)
        self.assertEqual((self.sweep / f"out put/{job}_0_log.out").read_text().splitlines()[0], "set up: a b")
        self.assertEqual(list((self.sweep / "out put").glob("*.err")), [])
        self.assertEqual([path.name for path in self.work.rglob("broken")], [])
        self.assertEqual([path.name for path in self.sweep.rglob("broken")], [])

    def test_for_gpus_memory_and_features_reaches_slurm(self):
        # Slurm 22.05 writes TresPerTask=gres:gpu:1, Slurm 24.11 TresPerTask=gres/gpu=1.
        for key, value, sees in (("gres", "gpu:1", r"TresPerNode=gres.gpu[:=]1\b"),
                                 ("gpus_per_task", 1, r"TresPerTask=(cpu=\d+,)?gres.gpu[:=]1\b"),
                                 ("mem_per_cpu", 100, r"MinMemoryCPU=100M\b")):
            with self.subTest(key=key):
                job = self.submit("vars.job=1", f"hydra.launcher.{key}={value}", f"hydra.sweep.dir={key}",
                                  "+hydra.launcher.additional_parameters.hold=true")
                self.assertRegex(self.shown(job)[0], sees)
                self.sweep = self.work / key
                self.assertEqual(self.states(), ["held"])
                self.assertIn("cancelled 1 job\n", self.profline("sweep", "cancel", self.sweep).stdout)
                self.assertEqual(self.states(), ["cancelled"])
        job = self.submit("vars.job=1", "hydra.launcher.gpus_per_node=1", "hydra.launcher.cpus_per_gpu=1",
                          "hydra.launcher.mem_per_gpu=200M", "hydra.sweep.dir=per_gpu", "+hydra.launcher.additional_parameters.hold=true")
        for shown in (r"CpusPerTres=gres.gpu:1\b", r"MemPerTres=gres.gpu:200\b"):
            self.assertRegex(self.shown(job)[0], shown)
        self.command("scancel", job)
        refused = self.profline("run", "-cn", "jobs", "-m", "hydra/launcher=slurm", "vars.job=1,2",
                                "hydra.launcher.constraint=no_such_feature", code=1)
        self.assertIn("Invalid feature specification", refused.stderr)

    def test_an_array_that_is_too_large_is_refused_with_the_limit(self):
        refused = self.profline("run", "-cn", "jobs", "-m", "hydra/launcher=slurm", "vars.job=range(22)", code=1)
        self.assertIn("this cluster takes array jobs of at most 19 tasks (MaxArraySize)", refused.stderr)
        self.assertFalse(self.sweep.exists())


class Preemption(SlurmTest):
    """A partition whose jobs give way to those of another, which Slurm queues again."""

    nodes = 1
    cpus = 2
    # Slurm kills what is preempted without notice after KillWait, on a busy machine too early for a job to record that.
    slurm_conf = """\
KillWait=30
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
PartitionName=noticed Nodes=ALL PriorityTier=1 PreemptMode=CANCEL GraceTime=20 State=UP
PartitionName=silent Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE GraceTime=0 State=UP
PartitionName=dropped Nodes=ALL PriorityTier=1 PreemptMode=CANCEL GraceTime=0 State=UP
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF State=UP
"""

    def preempt(self, partition, *overrides):
        job = self.submit("vars.job=0", "vars.seconds=30", f"hydra.launcher.partition={partition}", *overrides)
        wait_until("it begins", self.begun(0))
        program = self.work / "program.sh"
        program.write_text(program.read_text().replace('sleep "${2#for }"', "sleep 0.1"))
        self.command("srun", "--partition=high", "--exclusive", "true")
        return job

    def check_resumed(self, job):
        self.profline("sweep", "wait", self.sweep)
        attempts = self.task(0)["attempts"]
        self.assertEqual([(each["end"], each["slurm_task"]) for each in attempts], [("preempted", f"{job}_0"), ("done", f"{job}_0")])
        record = json.loads((self.sweep / "0/run.json").read_text())
        self.assertEqual((record["state"], len(record["resumed"])), ("ok", 1))
        self.assertEqual(self.log(0), ["begin", "stopped", "begin", "done"])

    def test_with_notice_is_no_time_limit_and_the_job_queues_itself_again(self):
        job = self.preempt("noticed", "hydra.launcher.max_num_timeout=0")
        self.assertEqual(self.status()[0]["status"]["why"], "queued again after it was preempted")
        self.check_resumed(job)

    def test_with_notice_of_a_job_without_a_time_limit_is_noticed_too(self):
        job = self.preempt("noticed", "hydra.launcher.timeout_min=null", "hydra.launcher.max_num_timeout=0")
        self.check_resumed(job)

    def test_without_notice_continues_where_slurm_queues_it_again(self):
        self.check_resumed(self.preempt("silent", "hydra.launcher.signal_delay_s=0"))

    def test_of_a_job_that_is_not_queued_again_is_not_the_users_doing(self):
        self.preempt("dropped", "hydra.launcher.signal_delay_s=0")
        self.profline("sweep", "wait", self.sweep, code=1)
        status = self.status()[0]["status"]
        self.assertEqual((status["state"], status["why"]), ("killed", "it was preempted and not queued again"))
        self.profline("sweep", "retry", self.sweep)
        self.profline("sweep", "wait", self.sweep)
        self.assertEqual(self.log(0), ["begin", "stopped", "begin", "done"])


class Stages(SlurmTest):
    """A job of several stages of the built-in model."""

    # Notes each stage, and keeps the last one waiting until it may go on.
    WORKLOAD = "#!/bin/bash\n" + """\
[ "$1" = --mode ] || exec WORKLOAD "$@"
trap 'exit 1' INT TERM
echo "$2" >>LOGS/stages
until [ "$2" != torch_profiler ] || [ -e LOGS/go ]; do sleep 0.1; done
exec WORKLOAD "$@"
"""

    def test_a_job_that_is_queued_again_does_not_repeat_stages_that_are_done(self):
        workload = Path(PROFLINE).parent / "profline-workload"
        if not workload.exists():
            self.skipTest("profline-workload was not built")
        wrapper = self.work / "workload.sh"
        wrapper.write_text(self.WORKLOAD.replace("WORKLOAD", str(workload)).replace("LOGS", str(self.logs)))
        wrapper.chmod(0o755)
        job = json.loads(self.profline(
            "run", "-cn", "demo", "--workload", wrapper, "-m", "hydra/launcher=slurm", "--format", "json", "hydra.sweep.dir=sweep",
            "pipeline.static_analysis.enable=false", "pipeline.baseline.enable=true", "pipeline.torch_profiler.enable=true",
            "pipeline.nsys.enable=false", "infer.max_new_tokens=2", "dataset.pages=1", "dataset.page_sizes=[96x64]",
            "pipeline.workload.threads=1").stdout)["slurm_job"]
        stages = self.logs / "stages"
        wait_until("the second stage runs", lambda: stages.exists() and "torch_profiler" in stages.read_text(), 120)
        self.command("scancel", "--batch", "--signal=USR2", f"{job}_0")
        wait_until("it is queued again", lambda: self.states() == ["pending"])
        (self.logs / "go").touch()
        self.profline("sweep", "wait", self.sweep)
        self.assertEqual(stages.read_text().split(), ["baseline", "torch_profiler", "torch_profiler"])
        record = json.loads((self.sweep / "0/run.json").read_text())
        self.assertEqual([(stage["name"], stage["state"]) for stage in record["stages"] if stage["state"] != "off"],
                         [("baseline", "ok"), ("torch_profiler", "ok")])


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

    def test_of_two_retries_at_once_one_launches_the_jobs(self):
        for job in (0, 1):
            (self.logs / f"{job}.fails").touch()
        self.submit("vars.job=0,1")
        self.profline("sweep", "wait", self.sweep, code=1)
        retries = [subprocess.Popen([PROFLINE, "sweep", "retry", str(self.sweep)], cwd=self.work, env=self.env,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
        for retry in retries:
            retry.communicate(timeout=60)
        self.assertEqual(sorted(retry.returncode for retry in retries), [0, 3, 3])
        submissions = json.loads((self.sweep / "sweep.json").read_text())["submissions"]
        self.assertEqual([each["jobs"] for each in submissions], [[0, 1], [0, 1]])
        self.profline("sweep", "wait", self.sweep, code=1)
        self.assertEqual(self.log(0).count("begin"), 2)

    def test_a_retry_that_slurm_does_not_take_changes_nothing(self):
        (self.logs / "0.fails").touch()
        self.submit("vars.job=0,1")
        self.profline("sweep", "wait", self.sweep, code=1)
        self.control("kill", "slurmctld")
        done = self.profline("sweep", "retry", self.sweep, code=1)
        self.assertIn("submitting the sweep", done.stderr)
        self.control("start", "slurmctld")
        self.assertEqual(self.states(), ["failed", "ok"])
        self.assertEqual(len(json.loads((self.sweep / "sweep.json").read_text())["submissions"]), 1)

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
        (self.logs / "0.held").touch()
        job = self.submit("vars.job=0")
        wait_until("it begins", self.begun(0))
        second = subprocess.Popen([PROFLINE, "sweep", "run", str(self.sweep), "0"], cwd=self.work, env=self.env,
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(second.kill)
        self.assertIn("another process is working on this job", second.stderr.readline())
        (self.logs / "0.held").unlink()
        self.profline("sweep", "wait", self.sweep)
        said = second.communicate(timeout=60)[1]
        self.assertEqual(second.returncode, 0, said)
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

    @unittest.skipUnless(LONG, "PROFLINE_TEST_LONG=1 waits for a time limit of a minute")
    def test_slurms_own_time_limit_without_notice_is_no_cancellation(self):
        self.submit("vars.job=0", "vars.seconds=200", "hydra.launcher.timeout_min=1", "hydra.launcher.signal_delay_s=0")
        wait_until("it begins", self.begun(0))
        self.profline("sweep", "wait", self.sweep, code=1)
        status = self.status()[0]["status"]
        self.assertEqual((status["state"], status["why"]), ("timeout", "ended at its time limit by Slurm"))


class Campaign(SlurmTest):
    """Random faults while an array runs: it ends complete, no stage is done twice, nothing is left, states are true."""

    nodes = 4
    cpus = 2

    @staticmethod
    def start_ticks(pid):
        """When a process that has not ended began; none: it has ended."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else int(fields[19])

    def running(self):
        """The last attempts at the jobs that run now, by job."""
        attempts = {}
        for file in sorted(self.sweep.glob(".sweep/*.json"), key=lambda path: int(path.stem)):
            last = json.loads(file.read_text())["attempts"][-1]
            if last["end"] == "open" and self.start_ticks(last["process"]["pid"]) == last["process"]["start_ticks"]:
                attempts[int(file.stem)] = last
        return attempts

    def any_running(self, dice):
        """A job to hit; none if all of them ended just now."""
        attempts = list(self.running().values())
        return [dice.choice(attempts)] if attempts else []

    def kill(self, dice):
        for attempt in self.any_running(dice):
            try:
                os.kill(attempt["process"]["pid"], signal.SIGKILL)
            except ProcessLookupError:
                pass

    def time_limit(self, dice):
        for attempt in self.any_running(dice):
            self.command("scancel", "--batch", "--signal=USR2", attempt["slurm_task"], code=None)

    def requeue(self, dice):
        for attempt in self.any_running(dice):
            self.command("scontrol", "requeue", attempt["slurm_task"], code=None)

    def check_states(self):
        """What `status` says is true of the processes: one that lives before and after the question was not over meanwhile."""
        before = self.running()
        states = self.states()
        after = self.running()
        for job, attempt in before.items():
            if after.get(job) == attempt:
                # Slurm may have forgotten it, or think that it waits; nobody may say that it has ended.
                self.assertIn(states[job], ("running", "pending", "unknown"), f"job {job}: {attempt}")
        for job, state in enumerate(states):
            if state in ("ok", "failed"):
                self.assertEqual(self.task(job)["attempts"][-1]["end"], "done", f"job {job}")
            elif state == "pending":
                self.assertNotIn("done", [each["end"] for each in self.task(job)["attempts"][:-1]], f"job {job}")

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
        """What an administrator does: a controller that lost its last seconds drains nodes that know a job already, and goes on
        doing so until its ids are past those that the nodes know."""
        for line in self.command("sinfo", "-h", "-N", "-o", "%N %t").stdout.splitlines():
            node, state = line.split()
            if state.startswith(("drain", "drng", "down")):
                self.command("scontrol", "update", f"nodename={node}", "state=resume", code=None)

    def wait(self):
        """The exit code of `sweep wait`, during which nodes are put back into service."""
        waiting = subprocess.Popen([PROFLINE, "sweep", "wait", str(self.sweep)], cwd=self.work, env=self.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(waiting.kill)
        end = time.monotonic() + 300
        while True:
            try:
                return waiting.wait(timeout=1)
            except subprocess.TimeoutExpired:
                self.assertLess(time.monotonic(), end, "the jobs have not ended within 300 s")
                self.mend()

    def may_be_hit(self):
        """Whether a fault can come: a job runs, or none waits."""
        if self.running() or "pending" not in self.states():
            return True
        self.mend()
        return False

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
        self.assertEqual(self.left(), [], "processes are left")

    def left(self):
        """Command lines of processes that work in our folder, which all that jobs start do."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").resolve().is_relative_to(self.work):
                    found.append((process / "cmdline").read_bytes())
            except OSError:
                pass
        return found

    def round(self, seed, jobs, faults):
        dice = random.Random(seed)
        shutil.rmtree(self.sweep, ignore_errors=True)
        shutil.rmtree(self.logs)
        self.logs.mkdir()
        self.submit(f"vars.job=range({jobs})", "vars.seconds=1.5")
        for fault in faults:
            wait_until("a job runs", self.may_be_hit, 120)
            time.sleep(dice.random() * 0.5)  # where in its work the fault comes
            getattr(self, fault)(dice)
            self.check_states()
        for _ in range(6):
            if self.wait() == 0:
                break
            self.profline("sweep", "retry", self.sweep)
        self.check()

    def test_ends_complete_whatever_happens(self):
        kinds = ["kill", "time_limit", "requeue", "node_death", "controller_restart"]
        for number in range(20 if LONG else 1):
            with self.subTest(round=number):
                if number > 0:
                    # A controller that loses its last seconds brings back tasks of the round before.
                    self.control("down")
                    shutil.rmtree(self.cluster)
                    self.control("up", str(self.nodes), str(self.cpus))
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
