#!/usr/bin/env python3
"""Programs of several ranks under real launchers.

    tests/ranks/ranks_test.py PROFLINE GLOO_RANKS [TEST...]

GLOO_RANKS is the program of gloo_ranks.cpp, or empty where it could not be built. Exits with 77, which CTest takes for skipped,
where a launcher or the program is missing. PROFLINE_TEST_TOOLS is the folder of unpacked tools.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLUSTER = HERE.parent / "slurm/slurm_cluster"
TOOLS = Path(os.environ.get("PROFLINE_TEST_TOOLS", HERE.parents[1] / "build/tools"))
PROFLINE = ""
GLOO_RANKS = ""


def require(is_there, what):
    if not is_there:
        raise unittest.SkipTest(what)


def processes_with(text):
    """The processes whose command line has this text."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if text in words and int(file.parent.name) != os.getpid():
                found.append(words)
    return found


class RanksTest(unittest.TestCase):
    launcher = "mpirun"

    def setUp(self):
        # Below TMPDIR, as for every test. Sockets lie in it, whose names are limited: a TMPDIR of 60 characters is short enough.
        self.root = Path(tempfile.mkdtemp(prefix="rk"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "OMPI_", "PMI"))}
        # Root and too few cores are no obstacle here, for Open MPI 4 and 5.
        self.env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                        PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", OMP_NUM_THREADS="1", TMPDIR=str(self.root))
        self.run_dir = self.root / "run"

    def profline(self, *words, ranks=4, command=None, code=0, env=None, verb="run"):
        overrides = [f"hydra.run.dir={self.run_dir}", "device=cpu", "pipeline.static_analysis.enable=false",
                     f"pipeline.workload.ranks.launcher={self.launcher}", f"pipeline.workload.ranks.n={ranks}", *words]
        if not any("torch_profiler.enable" in word for word in words):
            overrides.append("pipeline.torch_profiler.enable=false")
        if not any("nsys.enable" in word for word in words):
            overrides.append("pipeline.nsys.enable=false")
        command = command or [GLOO_RANKS, self.root / "store"]
        line = [PROFLINE, verb, *overrides, "--", *command]
        done = subprocess.run([str(word) for word in line], cwd=self.root, env={**self.env, **(env or {})}, capture_output=True,
                              text=True, timeout=300)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def json(self, name):
        return json.loads((self.run_dir / name).read_text())

    def ranks(self):
        return self.json("ranks.json")["ranks"]

    def findings(self, stage):
        return {finding["code"]: finding["text"] for finding in self.json(f"{stage}/status.json")["findings"]}

    def requests(self, folder):
        return [json.loads(line) for line in (self.run_dir / folder / "requests.jsonl").read_text().splitlines()]

    def phase_ns(self, folder, phase):
        """The median time of a phase."""
        times = sorted(one["ns"] for request in self.requests(folder) for one in request["phases"] if one["path"] == phase)
        return times[len(times) // 2]

    def expect_late_rank(self, captured_by, ranks, late=2):
        """`profline ranks` names the rank that was slowed down."""
        done = subprocess.run([PROFLINE, "ranks", str(self.run_dir), "--format", "json"], env=self.env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        analysis = json.loads(done.stdout)
        self.assertEqual(analysis["captured_by"], captured_by)
        self.assertEqual([rank["rank"] for rank in analysis["ranks"]], ranks)
        self.assertEqual((analysis["stragglers"][0]["phase"], analysis["stragglers"][0]["rank"]), ("", late), done.stdout)
        return analysis

    def expect_collectives(self, analysis, expected):
        """By name: the communicator, its ranks and the size of the message."""
        found = {row["name"]: (row["communicator"], row["ranks"], row["bytes"]) for row in analysis["collectives"]}
        self.assertEqual(found, expected)

    def expect_no_process_left(self):
        for _ in range(100):  # a launcher may need a moment to reap what it killed
            if not processes_with(str(self.root)):
                return
            time.sleep(0.1)
        self.assertEqual(processes_with(str(self.root)), [])

    def write(self, name, text):
        file = self.root / name
        file.write_text(text)
        return file


class Gloo(RanksTest):
    """What holds under every launcher."""

    def setUp(self):
        require(GLOO_RANKS, "the program over Gloo was not built (scripts/setup torch ranks)")
        super().setUp()

    def expect_baseline(self, nodes):
        """Four ranks, the third of which was slowed down."""
        ranks = self.ranks()
        self.assertEqual([rank["rank"] for rank in ranks], [0, 1, 2, 3])
        self.assertEqual([rank["node"] for rank in ranks], nodes)
        self.assertEqual([(rank["code"], rank["signal"], rank["why"]) for rank in ranks], [(0, None, "")] * 4)
        for rank in ranks:
            folder = f"baseline/ranks/{rank['rank']}"
            requests = self.requests(folder)
            self.assertEqual(len(requests), 8)
            self.assertEqual([phase["path"] for phase in requests[0]["phases"]], ["compute", "all_reduce"])
            log = (self.run_dir / folder / "log").read_text()
            pid = rank["processes"][0]["pid"]
            self.assertEqual(log, f"rank {rank['rank']} of 4: pid {pid}\n")
            self.assertTrue(list((self.run_dir / folder / "recorded").glob(f"ranges-{pid}-*.bin")))
        self.assertEqual(self.requests("baseline"), self.requests("baseline/ranks/0"))
        # The slow rank computes for longer; the others wait for it.
        slow, other = (self.phase_ns(f"baseline/ranks/{rank}", "compute") for rank in (2, 1))
        self.assertGreater(slow, 30e6)
        self.assertLess(other, slow)
        self.assertGreater(self.phase_ns("baseline/ranks/1", "all_reduce"), self.phase_ns("baseline/ranks/2", "all_reduce"))

    def expect_traces(self):
        """Ranks 0 and 2 were traced, the others were not."""
        for rank in (0, 2):
            trace = self.json(f"torch_profiler/ranks/{rank}/trace.json")
            self.assertEqual(trace["distributedInfo"], {"backend": "gloo", "rank": rank, "world_size": 4})
            names = [event["name"] for event in trace["traceEvents"]]
            self.assertEqual(names.count("gloo:all_reduce"), 8)
            self.assertEqual(self.json(f"torch_profiler/ranks/{rank}/traces.json")["traces"][0]["file"], "trace.json")
        for rank in (1, 3):
            self.assertEqual(sorted(file.name for file in (self.run_dir / f"torch_profiler/ranks/{rank}").iterdir()),
                             ["log", "rank.json"])
        self.assertEqual(self.json("torch_profiler/trace.json"), self.json("torch_profiler/ranks/0/trace.json"))
        self.assertEqual([rank["profiled"] for rank in self.ranks()], [True, False, True, False])


class UnderMpirun(Gloo):
    def setUp(self):
        require(shutil.which("mpirun"), "mpirun is not installed (scripts/setup ranks)")
        super().setUp()

    def test_ranks_run_as_planned_and_chosen_ones_are_traced(self):
        words = ["pipeline.workload.ranks.profile=[0,2]", "pipeline.torch_profiler.enable=true"]
        plan = self.profline(*words, verb="plan").stdout
        launch = f"{PROFLINE} rank-exec {self.run_dir}/baseline/launch.json -- {GLOO_RANKS} {self.root}/store"
        self.assertIn(f"$ cd {self.root} && mpirun -n 4 {launch}\n", plan)
        self.assertIn("rank 0, started by mpirun; ranks 1, 2, 3 likewise:\n", plan)
        self.assertIn("rank 0, started by mpirun; rank 2 likewise:\n", plan)
        done = self.profline(*words, env={"SLOW": "2:30"})
        self.assertNotIn("never asked for a trace", done.stderr, "each rank wrote its own")
        self.assertNotIn("kineto_absent", self.findings("torch_profiler"))
        self.expect_baseline([os.uname().nodename] * 4)
        self.expect_traces()
        self.assertIn("those of rank 0", self.findings("baseline")["lead_rank"])
        analysis = self.expect_late_rank("torch_profiler", [0, 2])
        self.expect_collectives(analysis, {"gloo:all_reduce": ("0 (default_pg)", 4, 96 * 96 * 4)})
        self.assertGreater(analysis["collectives"][0]["bus_gb_per_s"], 0)
        self.assertIn("2 of 4 ranks were captured: a rank that was not may be later than those shown", analysis["notes"])
        self.assertEqual(analysis["classes"]["transfer"], 0)
        self.expect_no_process_left()


class UnderSlurm(Gloo):
    launcher = "srun"

    def setUp(self):
        require(shutil.which("srun") and shutil.which("slurmctld") and shutil.which("munged"), "Slurm is not installed")
        super().setUp()
        cluster = self.root / "c"
        self.env["SLURM_CONF"] = str(cluster / "slurm.conf")
        self.addCleanup(self.control, "down")
        self.cluster = cluster
        self.control("up", "4", "2")

    def control(self, verb, *words):
        done = subprocess.run([CLUSTER, verb, self.cluster, *words], env=self.env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_ranks_of_several_nodes_are_told_apart(self):
        words = ["pipeline.workload.ranks.per_node=1", "pipeline.workload.ranks.profile=[0,2]",
                 "pipeline.torch_profiler.enable=true"]
        self.profline(*words, env={"SLOW": "2:30"})
        self.expect_baseline(["n1", "n2", "n3", "n4"])
        self.expect_traces()
        self.expect_late_rank("torch_profiler", [0, 2])
        self.assertIn("rank 2 is late", (self.run_dir / "report.md").read_text().lower())
        # Without captures, the requests of all four ranks show it.
        shutil.rmtree(self.run_dir / "torch_profiler/ranks")
        self.expect_late_rank("baseline", [0, 1, 2, 3])

    def test_all_ranks_are_compared(self):
        self.profline("pipeline.workload.ranks.per_node=2", "pipeline.workload.ranks.profile=all",
                      "pipeline.torch_profiler.enable=true", env={"SLOW": "2:30"})
        analysis = self.expect_late_rank("torch_profiler", [0, 1, 2, 3])
        self.assertEqual(analysis["stragglers"][0]["cause"], "compute")
        self.expect_collectives(analysis, {"gloo:all_reduce": ("0 (default_pg)", 4, 96 * 96 * 4)})
        self.assertEqual([(rank["node"], rank["matched"]) for rank in analysis["ranks"]], [("n1", 8), ("n1", 8), ("n2", 8), ("n2", 8)])
        self.assertEqual(analysis["notes"], [])
        for report in ("report.md", "report.html"):
            self.assertIn("Rank 2 is late", (self.run_dir / report).read_text(), report)
        self.assertEqual(self.findings("torch_profiler").keys() & {"kineto_absent", "trace_lost"}, set())

    def test_the_rank_that_failed_first_is_named_with_its_node(self):
        done = self.profline("pipeline.workload.ranks.per_node=2", code=1, env={"FAULT": "2:exit"})
        self.assertIn("rank 2 on n2 exited with code 5: this rank fails on purpose; 3 other ranks ended after it", done.stderr)
        self.assertEqual([rank["node"] for rank in self.ranks()], ["n1", "n1", "n2", "n2"])
        self.assertEqual([rank["local_rank"] for rank in self.ranks()], [0, 1, 0, 1])
        self.assertEqual(self.ranks()[2]["code"], 5)
        self.assertEqual(self.ranks()[2]["why"], "exited with code 5: this rank fails on purpose")

    def test_a_rank_that_is_killed_and_one_that_hangs_are_named(self):
        done = self.profline("pipeline.workload.ranks.per_node=1", code=1, env={"FAULT": "1:kill"})
        self.assertIn("rank 1 on n2 killed by SIGKILL", done.stderr)
        shutil.rmtree(self.run_dir)
        done = self.profline("pipeline.workload.ranks.per_node=1", "pipeline.baseline.timeout=25", code=1, env={"FAULT": "3:hang"})
        self.assertIn("rank 3 on n4 got least far", self.findings("baseline")["rank_behind"], done.stderr)
        for rank in self.ranks():
            self.assertTrue(rank["processes"][0]["stopped"], rank)

    def test_ranks_that_die_with_their_node_are_named(self):
        marker = self.root / "started"
        program = self.write("wait.sh", f"[ $SLURM_PROCID != 1 ] || touch {marker}\nexec sleep 600\n")
        line = [PROFLINE, "run", f"hydra.run.dir={self.run_dir}", "device=cpu", "pipeline.static_analysis.enable=false",
                "pipeline.torch_profiler.enable=false", "pipeline.nsys.enable=false", "pipeline.workload.ranks.launcher=srun",
                "pipeline.workload.ranks.n=2", "pipeline.workload.ranks.per_node=1", "--", "sh", program]
        with subprocess.Popen([str(word) for word in line], cwd=self.root, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as running:
            for _ in range(600):
                if marker.exists():
                    break
                time.sleep(0.05)
            has_started = marker.exists()
            self.control("kill", "n2")
            output = running.communicate(timeout=120)[0]
        self.assertTrue(has_started, output)
        self.assertEqual(running.returncode, 1, output)
        self.assertIn("rank 1 on n2 left no record of its end: it, or its node, was killed", output)


class Faults(RanksTest):
    """Without libtorch: what a launcher does when a rank fails."""

    def setUp(self):
        require(shutil.which("mpirun"), "mpirun is not installed (scripts/setup ranks)")
        super().setUp()
        # No other process sleeps for as long.
        self.nap = f"sleep 600.{os.getpid()}"
        self.program = ["sh", self.write("program.sh", f"nap='{self.nap}'" + """
case $FAULT in
$OMPI_COMM_WORLD_RANK:exit) echo last words; exit 5 ;;
$OMPI_COMM_WORLD_RANK:kill) kill -9 $$ ;;
$OMPI_COMM_WORLD_RANK:hang) exec $nap ;;
*:hang) exit 0 ;;
?*) exec $nap ;;
esac
echo "token=$TOKEN"
""")]

    def test_failures_are_named_and_the_others_are_ended(self):
        for fault, said in (("exit", "exited with code 5: last words"), ("kill", "killed by SIGKILL")):
            with self.subTest(fault):
                shutil.rmtree(self.run_dir, ignore_errors=True)
                done = self.profline(ranks=3, command=self.program, code=1, env={"FAULT": f"1:{fault}"})
                self.assertIn(f"baseline: rank 1 on {os.uname().nodename} {said}; 2 other ranks ended after it", done.stderr)
                self.assertEqual([rank["processes"][0]["stopped"] for rank in self.ranks()], [True, False, True])
                self.expect_no_process_left()

    def test_a_rank_that_never_ends_is_named(self):
        done = self.profline("pipeline.baseline.timeout=8", ranks=3, command=self.program, code=1, env={"FAULT": "2:hang"})
        self.assertIn("rank 2 on", self.findings("baseline")["rank_hung"], done.stderr)
        self.assertIn("still running when time was up; 2 other ranks had all ended", self.findings("baseline")["rank_hung"])
        self.expect_no_process_left()

    def test_an_interrupt_ends_every_rank(self):
        line = [PROFLINE, "run", f"hydra.run.dir={self.run_dir}", "device=cpu", "pipeline.torch_profiler.enable=false",
                "pipeline.nsys.enable=false", "pipeline.workload.ranks.launcher=mpirun", "pipeline.workload.ranks.n=3", "--",
                *self.program]
        with subprocess.Popen([str(word) for word in line], cwd=self.root, env={**self.env, "FAULT": "9:exit"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
            for _ in range(600):
                asleep = processes_with(self.nap)
                if len(asleep) >= 3:
                    break
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            output = running.communicate(timeout=60)[0]
        self.assertEqual(len(asleep), 3, output)
        self.assertEqual(running.returncode, 130, output)
        self.expect_no_process_left()

    def test_secrets_stay_out_of_files(self):
        self.profline(ranks=2, command=[*self.program, "--api-key=hunter2hunter2"], env={"TOKEN": "sk-hunter2hunter2hunter2"})
        for file in self.run_dir.rglob("*"):
            if file.is_file():
                self.assertNotIn(b"hunter2", file.read_bytes(), file)

    def test_a_missing_launcher_and_bad_settings_are_reported_first(self):
        done = self.profline(command=["true"], code=3, env={"PATH": "/nowhere"}, verb="run")
        self.assertIn("pipeline.workload.ranks.launcher: ", done.stderr)
        self.assertFalse(self.run_dir.exists())
        done = self.profline("pipeline.ncu.enable=true", command=["true"], code=2)
        self.assertIn("ncu runs each kernel several times", done.stderr)


class UnderNsys(Gloo):
    def setUp(self):
        require(shutil.which("mpirun"), "mpirun is not installed (scripts/setup ranks)")
        nsys = next(iter(sorted(TOOLS.glob("nsight-*/bin/nsys"))), None)
        require(nsys, "nsys is not unpacked (make nsight)")
        super().setUp()
        self.env["PATH"] = f"{nsys.parent}:{self.env['PATH']}"

    def test_chosen_ranks_run_under_nsys_and_the_others_do_not(self):
        self.profline("pipeline.nsys.enable=true", "pipeline.workload.ranks.profile=[0,3]", "pipeline.nsys.trace=nvtx")
        for rank in (0, 3):
            for name in ("ranges.json", "kernels.json", "workload/log"):
                self.assertTrue((self.run_dir / f"nsys/ranks/{rank}/{name}").exists(), (rank, name))
            # One capture per steady request; those of warm-up are dropped.
            reports = sorted((self.run_dir / f"nsys/ranks/{rank}").glob("run.*.nsys-rep"))
            self.assertIn(len(reports), (1, 2, 3))
            command = self.run_dir / f"nsys/ranks/{rank}/cmd.txt"
            self.assertIn(f"-rank-{rank} ", command.read_text())
            captures = self.json(f"nsys/ranks/{rank}/ranges.json")["captures"]
            self.assertEqual([capture["sqlite"] for capture in captures], [f"ranks/{rank}/{report.stem}.sqlite" for report in reports])
            for capture in captures:
                self.assertEqual(capture["ranges"], 3, "a request and its two phases")
            self.assertEqual(len(self.requests(f"nsys/ranks/{rank}/workload")), len(reports), "those that were captured")
        for rank in (1, 2):
            self.assertEqual(sorted(file.name for file in (self.run_dir / f"nsys/ranks/{rank}").iterdir()), ["rank.json", "workload"])
        self.assertEqual(self.json("nsys/ranges.json"), self.json("nsys/ranks/0/ranges.json"))
        profiled = {rank["rank"]: rank["processes"][-1]["profiled"] for rank in self.ranks()}
        self.assertEqual(profiled, {0: True, 1: False, 2: False, 3: True})
        self.expect_no_process_left()

    def test_the_ranges_of_chosen_ranks_show_who_is_late(self):
        self.profline("pipeline.nsys.enable=true", "pipeline.nsys.trace=nvtx", "pipeline.nsys.gating_nvtx=false",
                      "pipeline.workload.ranks.profile=[0,2]", command=[GLOO_RANKS, self.root / "store", 30], env={"SLOW": "2:30"})
        analysis = self.expect_late_rank("nsys", [0, 2])
        late = analysis["stragglers"][0]
        self.assertEqual(late["cause"], "compute", late)
        self.assertIn("; it computes for ", late["evidence"])
        for rank in analysis["ranks"]:
            self.assertGreater(rank["time"]["compute_ns"], 0)


class UnderTorchrun(RanksTest):
    launcher = "torchrun"

    def setUp(self):
        python = TOOLS / "python-sid/usr/bin/python3"
        require((TOOLS / "python-sid/complete").exists(), "Debian sid's Python with torch is not unpacked (scripts/fetch_python sid)")
        super().setUp()
        self.python = python
        programs = self.root / "bin"
        programs.mkdir()
        torchrun = programs / "torchrun"
        # Debian's PyTorch was built without libuv, which torchrun asks for regardless of USE_LIBUV.
        start = self.write("start.py", """\
import functools, torch.distributed
torch.distributed.TCPStore = functools.partial(torch.distributed.TCPStore, use_libuv=False)
from torch.distributed.run import main
main()
""")
        torchrun.write_text(f"#!/bin/sh\nexec {python} {start} \"$@\"\n")
        torchrun.chmod(0o755)
        self.env.update(PATH=f"{programs}:{self.env['PATH']}", USE_LIBUV="0")

    def test_ranks_are_recorded_and_traced(self):
        script = self.write("loop.py", """\
import os, sys, time, torch, torch.distributed as dist, profline
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", f"file://{sys.argv[1]}-{os.environ['MASTER_PORT']}", rank=rank, world_size=size)
for i in range(6):
    with profline.request():
        for step in range(8):
            with profline.phase("compute"):
                a = torch.ones(64, 64) @ torch.ones(64, 64)
                time.sleep(0.03 if dist.get_rank() == 1 else 0)
            with profline.phase("all_reduce"):
                dist.all_reduce(a)
assert a[0, 0] == 64 * dist.get_world_size()
dist.destroy_process_group()
""")
        self.profline("pipeline.torch_profiler.enable=true", "pipeline.torch_profiler.record_shapes=true", ranks=2,
                      command=[self.python, script, self.root / "store"])
        for rank in (0, 1):
            self.assertEqual(len(self.requests(f"baseline/ranks/{rank}")), 6)
            trace = self.json(f"torch_profiler/ranks/{rank}/trace.json")
            self.assertEqual(trace["distributedInfo"]["rank"], rank)
            self.assertTrue([event for event in trace["traceEvents"] if event["name"].startswith("gloo:all_reduce")])
        self.assertGreater(self.phase_ns("baseline/ranks/1", "compute"), 30e6)
        analysis = self.expect_late_rank("torch_profiler", [0, 1], late=1)
        self.assertEqual(analysis["skew"]["collectives"], 8, "the same request was traced on both ranks")
        # This PyTorch describes no collective of Gloo, but its traces name the only group and the shapes of inputs.
        self.expect_collectives(analysis, {"gloo:all_reduce": ("0 (default_pg)", 2, 64 * 64 * 4)})
        self.assertEqual(analysis["notes"], [])
        # Without traces, requests show it: their phases repeat, so by their times alone.
        shutil.rmtree(self.run_dir / "torch_profiler/ranks")
        self.assertEqual(self.expect_late_rank("baseline", [0, 1], late=1)["skew"]["collectives"], 0)

    def test_the_rank_that_failed_is_named(self):
        program = self.write("fail.sh", "[ $RANK != 1 ] || { echo last words; exit 5; }\nexec sleep 600\n")
        done = self.profline(ranks=2, command=["sh", program], code=1)
        self.assertIn(f"baseline: rank 1 on {os.uname().nodename} exited with code 5: last words; 1 other rank ended after it",
                      done.stderr)
        self.assertEqual([rank["processes"][0]["stopped"] for rank in self.ranks()], [True, False])
        self.expect_no_process_left()


def main():
    global PROFLINE, GLOO_RANKS
    PROFLINE, GLOO_RANKS = sys.argv[1:3]
    # In the background of a script SIGINT is ignored, and programs started here would ignore it as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[3:], sys.modules[__name__])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if result.testsRun == len(result.skipped) and result.skipped:
        print(f"skipped: {result.skipped[0][1]}")
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
