#!/usr/bin/env python3
"""Captures around chosen requests, with a torch that only notes its calls: the real CUDA needs a GPU."""

import json
import subprocess
import sys
import unittest

from support import ProgramTest

# Notes the calls of the CUDA runtime, of NVTX and of the profiler in order.
FAKE_TORCH = '''
import sys, types
__version__ = "0.0"
calls = []
def module(name, **members):
    made = types.ModuleType("torch." + name)
    vars(made).update(members)
    sys.modules["torch." + name] = made
    return made
class Runtime:
    def cudaProfilerStart(self): calls.append("start")
    def cudaProfilerStop(self): calls.append("stop")
nvtx = module("cuda.nvtx", range_push=lambda name: calls.append("+" + name), range_pop=lambda: calls.append("-"))
cuda = module("cuda", synchronize=lambda: calls.append("sync"), is_available=lambda: True, is_initialized=lambda: True,
              cudart=Runtime, nvtx=nvtx)
class Activity: CPU, CUDA = "cpu", "cuda"
class profile:
    def __init__(self, **options): calls.append(f"profile {sorted(options.items())}")
    def start(self): calls.append("start")
    def stop(self): calls.append("stop")
    def export_chrome_trace(self, path):
        if FAIL: raise OSError("no space")
        open(path, "w").write("{}")
class record_function:
    def __init__(self, name): self.name = name
    def __enter__(self): calls.append("+" + self.name)
    def __exit__(self, *failure): calls.append("-" + self.name)
FAIL = False
autograd = types.SimpleNamespace(profiler=types.SimpleNamespace(kineto_available=lambda: True))
profiler = module("profiler", profile=profile, record_function=record_function, ProfilerActivity=Activity)
'''
PROGRAM = """
import torch, profline
for i in range(4):
    with profline.request(i=i), profline.phase("decode"):
        for _ in range(2):
            profline.step()
            torch.calls.append(f"work {i}")
print(" ".join(torch.calls))
"""


class Gate(ProgramTest):
    def capture(self, gate, plan=None, program=PROGRAM, **more):
        self.write("torch.py", FAKE_TORCH)
        environment = {"PROFLINE_GATE": gate, "PROFLINE_TRACE_DIR": self.folder, **more}
        if plan is not None:
            environment["PROFLINE_GATE_PLAN"] = self.write("steady.json", json.dumps(plan))
        return self.run_program(program, environment=environment, check=False)

    def gates(self):
        return [(line["gate"], line["requests"], line["trace"]) for line in self.read().of("gate")]

    def test_no_gate_no_ranges(self):
        out = self.capture("none")
        self.assertEqual(out.split(), "work 0 work 0 work 1 work 1 work 2 work 2 work 3 work 3".split())
        self.assertEqual(self.gates(), [])

    def test_ranges_without_a_capture(self):
        out = self.capture("nvtx")
        request = "+request +decode +decode_step work {0} - +decode_step work {0} - - -"
        self.assertEqual(out.strip(), " ".join(request.format(i) for i in range(4)))

    def test_cuda_around_the_planned_requests(self):
        out = self.capture("cuda", {"schema": "profline.steady/1", "first": 1, "count": 2})
        self.assertEqual(self.gates(), [("cuda", [1, 2], None)])
        names = out.split()
        self.assertEqual(names.index("sync") + 1, names.index("start"))
        before, _, rest = out.partition("sync start ")
        captured, _, after = rest.partition("sync stop ")
        self.assertTrue("work 0" in before and "work 1" not in before)
        self.assertTrue(captured.startswith("+request") and "work 1" in captured and "work 2" in captured and "work 3" not in captured)
        self.assertTrue("work 3" in after and "start" not in after)
        self.assertEqual(self.read().problems, [])

    def test_torch_writes_a_trace(self):
        out = self.capture("torch", {"first": 0, "count": 1}, PROFLINE_TORCH='{"activities": ["cpu"], "record_shapes": true}')
        (pid,) = {line["pid"] for line in self.read().of("process")}
        self.assertEqual(self.gates(), [("torch", [0], f"trace-{pid}.json")])
        self.assertEqual([p.name for p in self.folder.glob("*trace*")], [f"trace-{pid}.json"])
        self.assertIn("('activities', ['cpu']), ('profile_memory', False), ('record_shapes', True), ('with_stack', False)", out)
        self.assertIn("start +request +decode +decode_step work 0 -decode_step +decode_step work 0 -decode_step -decode -request sync stop work 1", out)

    def test_a_limit_of_steps_closes_early_and_captures_each_request_alone(self):
        out = self.capture("torch", {"first": 1, "count": 2, "steps": 1})
        (pid,) = {line["pid"] for line in self.read().of("process")}
        self.assertEqual(self.gates(), [("torch", [1], f"trace-{pid}.json"), ("torch", [2], f"trace-{pid}-2.json")])
        self.assertIn("start +request +decode +decode_step work 1 -decode_step -decode -request sync stop work 1 ", out.replace("-decode_step work", "work"))

    def test_fewer_requests_than_planned(self):
        self.capture("cuda", {"first": 3, "count": 2})
        self.assertEqual(self.gates(), [("cuda", [3], None)])
        self.assertEqual(self.read().problems, ["the program made 4 requests, but requests 4 to 5 were to be captured"])

    def test_a_single_request_and_no_plan(self):
        self.capture("cuda", program="import torch, profline\nwith profline.request(): pass\n")
        self.assertEqual(self.gates(), [])
        self.assertEqual(self.read().problems, ["the program made 1 request, but captures begin with request 2"])

    def test_no_request_at_all(self):
        self.capture("cuda", {"first": 0, "count": 1}, program="import torch, profline\nwith profline.phase('x'): pass\n")
        self.assertEqual(self.read().problems, ["the program made no requests, but request 1 was to be captured"])

    def test_a_plan_that_cannot_be_read(self):
        for text in ("{", "[]", '{"first": "x"}'):
            with self.subTest(text):
                self.write("bad.json", text)
                self.capture("cuda", PROFLINE_GATE_PLAN=self.folder / "bad.json")
                self.assertIn("the plan of the capture cannot be read, so 3 requests after the first are captured", self.read().problems[-1])
                self.assertEqual(self.gates()[-1], ("cuda", [1, 2, 3], None))

    def test_the_program_ends_in_a_captured_request(self):
        for end, failed in (("sys.exit(3)", True), ("raise ValueError", True)):
            with self.subTest(end):
                before = len(self.gates())
                self.capture("cuda", {"first": 0, "count": 2}, program=f"import sys, torch, profline\nwith profline.request(): {end}\n")
                self.assertNotEqual(self.last.returncode, 0)
                self.assertEqual(self.gates()[before:], [("cuda", [0], None)])
                self.assertEqual(self.read().problems[-1], "the program made 1 request, but requests 1 to 2 were to be captured")

    def test_a_request_that_never_ends(self):
        self.capture("cuda", {"first": 0, "count": 1}, program="import torch, profline\nprofline.request().__enter__()\nprint('end')\n")
        self.assertEqual(self.gates(), [("cuda", [0], None)])
        self.assertEqual(self.read().problems, ["the program ended in the middle of a request that was being captured (0 requests captured before it)",
                                                "1 request did not end and is not recorded"])

    def test_a_trace_that_cannot_be_written(self):
        out = self.capture("torch", {"first": 0, "count": 1}, program=PROGRAM.replace("for i in range(4)", "torch.FAIL = True\nfor i in range(4)", 1))
        self.assertIn("work 3", out)
        self.assertEqual(self.gates(), [("torch", [0], None)])
        self.assertEqual(self.read().problems, ["the capture of request 1 could not be closed: OSError: no space"])

    def test_threads_are_captured_one_by_one(self):
        self.capture("torch", {"first": 0, "count": 3}, program="""
import threading, torch, profline
def work():
    with profline.request(): pass
for _ in range(3):
    thread = threading.Thread(target=work); thread.start(); thread.join()
""")
        self.assertEqual([requests for _, requests, _ in self.gates()], [[0], [1], [2]])
        self.assertEqual(len({trace for _, _, trace in self.gates()}), 3)

    def test_a_thread_neither_closes_nor_joins_the_capture_of_another(self):
        """The real torch.profiler crashes if another thread stops it."""
        self.capture("torch", {"first": 0, "count": 2}, program="""
import threading, torch, profline
begun, go_on = threading.Event(), threading.Event()
def work():
    with profline.request(): begun.set(); go_on.wait(60)
thread = threading.Thread(target=work); thread.start(); begun.wait(60)
with profline.request(): torch.calls.append("main")
go_on.set(); thread.join()
print(" ".join(torch.calls))
""")
        self.assertEqual([requests for _, requests, _ in self.gates()], [[0]])
        self.assertRegex(self.last.stdout.decode(), r"main.* stop$")

    def test_a_thread_that_dies_in_a_captured_request(self):
        self.capture("torch", {"first": 0, "count": 1}, program="""
import threading, torch, profline
thread = threading.Thread(target=profline.request().__enter__); thread.start(); thread.join()
""")
        self.assertEqual((self.gates(), self.read().problems), ([], ["a request that was being captured did not end in its thread, so it has no trace",
                                                                     "1 request did not end and is not recorded"]))

    def test_an_unknown_gate(self):
        self.capture("gpu")
        self.assertEqual(self.read().problems, ["PROFLINE_GATE=gpu is not known (none, nvtx, cuda, torch); nothing is captured"])

    SHOW = """
import os, subprocess, sys
print([name for name in ("KINETO_USE_DAEMON", "KINETO_CONFIG") if name in os.environ])
"""
    KINETO = {"PROFLINE_KINETO": '{"KINETO_USE_DAEMON": "1", "KINETO_CONFIG": "x"}', "KINETO_USE_DAEMON": "1", "KINETO_CONFIG": "x"}

    def test_a_process_is_traced_from_outside_or_traces_itself(self):
        """PyTorch 2.11 crashes if both are set up in one process."""
        child = self.write("child.py", self.SHOW)
        program = self.SHOW + f"sys.stdout.flush()\nsubprocess.run([sys.executable, {str(child)!r}], check=True)\n"
        for makers, expected in ((["program.py"], "[]\n['KINETO_USE_DAEMON', 'KINETO_CONFIG']\n"),
                                 (["program.py", "child.py"], "[]\n[]\n"),
                                 (["-c"], "['KINETO_USE_DAEMON', 'KINETO_CONFIG']\n" * 2)):
            with self.subTest(makers):
                out = self.capture("torch", {"first": 0, "count": 1, "processes": makers}, program=program, **self.KINETO)
                self.assertEqual(out, expected)

    def test_a_process_that_waits_for_kineto_opens_no_profiler(self):
        out = self.capture("torch", {"first": 0, "count": 1, "processes": ["another.py"]}, **self.KINETO)
        self.assertNotIn("profile", out)
        self.assertIn("this process made no requests in the baseline, so it was set up for Kineto on demand instead", self.read().problems[0])

    def test_without_a_plan_every_process_is_traced_from_outside(self):
        out = self.capture("torch", program=self.SHOW, PROFLINE_GATE_PLAN=self.folder / "absent.json", **self.KINETO)
        self.assertEqual(out, "['KINETO_USE_DAEMON', 'KINETO_CONFIG']\n")

    def test_how_a_process_was_started(self):
        self.write("torch.py", FAKE_TORCH)
        self.write("package/module.py", "import profline\nwith profline.request(): pass\n")
        self.write("script.py", """
import multiprocessing, profline
def work():
    with profline.request(): pass
if __name__ == "__main__":
    work()
    for method in ("spawn", "fork", "forkserver"):
        worker = multiprocessing.get_context(method).Process(target=work)
        worker.start(); worker.join()
""")
        work = "import profline\nwith profline.request(): pass\n"
        for words in (["-m", "package.module"], ["-Bum", "package.module"], ["-Wignore", "-X", "dev", "package/module.py", "-m", "x"],
                      ["-uc", work], ["--check-hash-based-pycs", "never", "script.py"]):
            subprocess.run([self.python, *words], env=self.environment(), cwd=self.folder, check=True, timeout=100)
        started = sorted(line["started"] for line in self.read().of("process"))
        # Forked workers are copies of their parent.
        self.assertEqual(started, ["-c", "-m package.module", "-m package.module", "module.py", "multiprocessing", "multiprocessing",
                                   "script.py", "script.py"])

    @unittest.skipUnless(hasattr(sys, "orig_argv"), "Python 3.9 has no orig_argv")
    def test_a_server_of_forks_is_of_multiprocessing_in_every_python(self):
        for code in ("from multiprocessing.forkserver import main; main(5, 6, [], **{})",
                     "import sys; from multiprocessing.forkserver import main; main(5, 6, [], sys_argv=sys.argv[1:], **{})"):
            out = self.run_program(f"""
import sys
sys.orig_argv = [sys.executable, "-c", {code!r}]
from profline_adapter import recording
print(recording.how_started())
""")
            self.assertEqual(out, "multiprocessing\n")

    def test_a_worker_of_multiprocessing_closes_its_capture(self):
        self.capture("cuda", {"first": 0, "count": 9}, program="""
import multiprocessing, torch, profline
def work():
    with profline.request(): pass
if __name__ == "__main__":
    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start(); worker.join()
""")
        self.assertEqual(self.gates(), [("cuda", [0], None)])


if __name__ == "__main__":
    unittest.main()
