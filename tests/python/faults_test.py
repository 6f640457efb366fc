#!/usr/bin/env python3
"""Everything that can go wrong around a program: the program is unharmed, and what was lost is reported."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

from fake_transformers import FAKE_UTILS, MODEL, FakeTransformersTest
from support import phases


class Faults(FakeTransformersTest):
    def assert_complains(self, text):
        """One line on stderr, and nothing else."""
        lines = self.last.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("profline: "), lines)
        self.assertIn(text, lines[0])

    # Folders and disks.

    REQUEST = "import profline\nwith profline.request(): pass\nprint('ok')\n"

    def test_no_record_folder(self):
        self.recorded.rmdir()
        self.assertEqual(self.run_program(self.REQUEST), "ok\n")
        self.assert_complains("No such file or directory; this process is not recorded")

    def test_the_record_folder_is_a_file(self):
        self.recorded.rmdir()
        self.recorded.write_text("")
        self.assertEqual(self.run_program(self.REQUEST), "ok\n")
        self.assert_complains("Not a directory")

    def test_a_record_folder_of_somebody_else(self):
        self.recorded.chmod(0o555)
        as_user = {"user": 65534} if os.getuid() == 0 else {}
        try:
            out = self.run_program(self.REQUEST, **as_user)
        except PermissionError:
            out = self.run_program(self.REQUEST, python="/usr/bin/python3", **as_user)
        self.assertEqual(out, "ok\n")
        self.assert_complains("Permission denied")

    def test_unwritable_and_no_stderr(self):
        self.recorded.rmdir()
        self.assertEqual(self.run_program("import os, sys\nos.close(2)\nsys.stderr = None\n" + self.REQUEST), "ok\n")

    def test_a_read_only_home(self):
        home = self.folder / "home"
        home.mkdir(mode=0o555)
        self.run_program(self.REQUEST, environment={"HOME": home})
        self.assertEqual((len(self.read().requests), list(home.iterdir())), (1, []))

    def test_the_record_folder_is_removed_while_it_runs(self):
        out = self.run_program(self.REQUEST + f"import shutil; shutil.rmtree({str(self.recorded)!r})\n" + self.REQUEST)
        self.assertEqual(out, "ok\nok\n")
        self.assert_complains("was removed while the program ran")

    def test_a_full_disk(self):
        """A limit of the file's size fails like a full disk does: some bytes, then an error."""
        out = self.run_program(f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, resource.RLIM_INFINITY))
import profline
for i in range(20):
    with profline.request(i=i): pass
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with profline.request(i="after"): pass
print("ok")
""")
        self.assertEqual(out, "ok\n")
        self.assert_complains("File too large")
        text = next(self.recorded.glob("*.jsonl")).read_text()
        lines = [json.loads(line) for line in text.splitlines() if is_json(line)]
        self.assertEqual([line["text"] for line in lines if line["kind"] == "problem"], [f"{lost_lines(lines)} lines of this recording could not be written"])
        self.assertEqual(lines[-2]["attributes"], {"i": "after"})

    def test_a_program_that_closes_all_files_and_opens_its_own(self):
        out = self.run_program(self.REQUEST + """
import os
os.closerange(3, 1024)
mine = [os.open("mine", os.O_RDWR | os.O_CREAT) for _ in range(300)]
""" + self.REQUEST + "print(os.path.getsize('mine'))\n")
        self.assertEqual((out, len(self.read().requests)), ("ok\nok\n0\n", 2))

    # Ends of a process.

    def test_a_killed_program_keeps_the_requests_it_made(self):
        self.run_program("""
import os, profline, signal
with profline.request(i=1): pass
with profline.request(i=2):
    os.kill(os.getpid(), signal.SIGKILL)
""", check=False)
        self.assertEqual(self.last.returncode, -signal.SIGKILL)
        self.assertEqual([r["attributes"]["i"] for r in self.read().requests], [1])
        self.assertEqual(self.read().of("end"), [])

    def test_a_hung_program_is_ended_by_a_signal(self):
        script = self.write("hung.py", "import profline, time\nwith profline.request(): pass\nprint('hangs', flush=True)\nwith profline.request(): time.sleep(600)\n")
        process = subprocess.Popen([sys.executable, script], env=self.environment(), stdout=subprocess.PIPE)
        process.stdout.readline()
        begin = time.monotonic()
        process.terminate()
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)
        process.stdout.close()
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(len(self.read().requests), 1)

    def test_exits_inside_a_request(self):
        for call, code, requests in (("sys.exit(5)", 5, 1), ("os._exit(6)", 6, 0)):
            with self.subTest(call):
                before = len(self.read().requests)
                self.run_program(f"import os, profline, sys\nwith profline.request(): {call}\n", check=False)
                self.assertEqual((self.last.returncode, len(self.read().requests) - before), (code, requests))

    def test_an_interrupt_reaches_the_program(self):
        self.run_program("""
import os, profline, signal
try:
    with profline.request(), profline.phase("x"):
        os.kill(os.getpid(), signal.SIGINT)
        import time; time.sleep(5)
except KeyboardInterrupt:
    print("interrupted")
""")
        self.assertEqual(self.last.stdout, b"interrupted\n")
        self.assertEqual(self.read().requests[0]["attributes"], {"failed": "KeyboardInterrupt"})

    # Other processes and threads.

    def test_a_fork_inside_a_request(self):
        self.run_program("""
import os, profline, sys
with profline.request(who="parent"):
    child = os.fork()
    if child == 0:
        with profline.request(who="child"), profline.phase("x"): pass
if child == 0:
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
""")
        found = {r["attributes"]["who"]: r for r in self.read().requests}
        self.assertEqual(sorted(found), ["child", "parent"])
        self.assertEqual((len(self.read().files), len(self.read().requests)), (2, 2))
        self.assertNotEqual(found["child"]["pid"], found["parent"]["pid"])

    def test_processes_of_multiprocessing(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                before = len(self.read().requests)
                self.run_program(f"""
import multiprocessing, profline
def work(i):
    with profline.request(i=i): return i
if __name__ == "__main__":
    with profline.request(i="main"): pass
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(work, range(4)))
""")
                self.assertEqual(self.last.stdout, b"[0, 1, 2, 3]\n")
                self.assertEqual(len(self.read().requests) - before, 5)

    def test_a_thread_that_dies_inside_a_phase(self):
        self.run_program("""
import profline, threading
def work():
    profline.request(i=1).__enter__()
    profline.phase("x").__enter__()
threading.Thread(target=work).start()
with profline.request(i=2): pass
""")
        self.assertEqual([r["attributes"]["i"] for r in self.read().requests], [2])
        self.assertEqual(self.read().problems, ["1 request did not end and is not recorded"])

    def test_phases_closed_in_the_wrong_order(self):
        self.run_program("""
import profline, time
with profline.request():
    a, b = profline.phase("a"), profline.phase("b")
    a.__enter__(); b.__enter__()
    a.__exit__(None, None, None)
    time.sleep(0.01)
    b.__exit__(None, None, None); b.__exit__(None, None, None)
    with profline.phase("c"): pass
print("ok")
""")
        (request,) = self.read().requests
        found = phases(request)
        self.assertEqual([*found], ["a", "a/b", "c"])
        self.assertLessEqual(found["a/b"]["start_ns"] + found["a/b"]["ns"], found["a"]["start_ns"] + found["a"]["ns"])
        self.assertEqual(self.read().problems, ["phase 'a/b' was still open when phase 'a' around it ended; it is recorded up to there"])

    def test_a_phase_closed_after_its_request(self):
        self.run_program("""
import profline
for i in range(2):
    request, x = profline.request(i=i), profline.phase("x")
    request.__enter__(); x.__enter__()
    profline.step()
    request.__exit__(None, None, None)
    x.__exit__(None, None, None)
""")
        self.assertEqual([r["attributes"]["i"] for r in self.read().requests], [0, 1])
        for request in self.read().requests:
            (phase,) = request["phases"]
            self.assertEqual((phase["path"], len(phase["steps_ns"])), ("x", 1))
            self.assertLessEqual(phase["start_ns"] + phase["ns"], request["ns"])
        self.assertEqual(self.read().problems, ["phase 'x' was still open when the request around it ended; it is recorded up to there"])

    def test_a_task_that_outlives_the_request_that_started_it(self):
        self.run_program("""
import asyncio, profline
async def background(ended):
    with profline.phase("late"):
        await ended.wait()
    with profline.request(i="background"):
        with profline.phase("x"): pass
async def main():
    ended = asyncio.Event()
    with profline.request(i="main"):
        task = asyncio.create_task(background(ended))
        await asyncio.sleep(0)
    ended.set()
    await task
asyncio.run(main())
""")
        self.assertEqual([(r["attributes"]["i"], [*phases(r)]) for r in self.read().requests], [("main", []), ("background", ["x"])])
        self.assertEqual(self.read().problems, ["phase 'late' ended after the request around it, in another thread or task; it is not recorded"])

    # What Python was given.

    def test_a_huge_and_secret_command_line(self):
        self.run_program(self.REQUEST, *["--token=secret" + "x" * 100000] * 10)
        text = next(self.recorded.glob("*.jsonl")).read_text()
        self.assertNotIn("secret", text)
        self.assertLess(len(text), 10000)

    def test_a_command_line_that_is_not_utf_8(self):
        name = os.fsencode(self.folder) + b"/n\xff.py"
        with open(name, "wb") as file:
            file.write(self.REQUEST.encode())
        subprocess.run([sys.executable, name, b"\xfe"], env=self.environment(), check=True, capture_output=True)
        self.assertEqual(self.read().of("process")[0]["argv"], ["n?.py"])

    def test_a_clock_that_stands_still(self):
        self.run_program("import time\ntime.monotonic_ns = lambda: 5\n" + self.REQUEST)
        self.assertEqual((self.read().requests[0]["ns"], self.last.stderr), (0, b""))

    def test_a_module_json_of_the_program(self):
        self.write("json.py", "raise RuntimeError('not that json')\n")
        self.assertEqual(self.run_program(self.REQUEST), "ok\n")
        self.assertIn("a line of kind request could not be written as JSON: RuntimeError", self.read().problems)

    def test_an_unfinished_installation(self):
        for missing in ("no folder", "no adapter"):
            with self.subTest(missing):
                folder = self.folder / "partial"
                folder.mkdir(exist_ok=True)
                environment = {"PROFLINE_PYTHON": folder if missing == "no adapter" else "/nowhere"}
                self.assertEqual(self.run_program("print('ok')", environment=environment), "ok\n")
                self.assert_complains("the Python adapter did not start, so this process is not recorded: ModuleNotFoundError: No module named 'profline_adapter'")

    # torch and transformers.

    def test_no_torch(self):
        self.run_program(self.REQUEST)
        (process,) = self.read().of("process")
        self.assertEqual((process["torch"], process["transformers"]), (None, None))

    def test_a_torch_gate_without_torch(self):
        for gate in ("torch", "cuda"):
            with self.subTest(gate):
                self.run_program(self.REQUEST + self.REQUEST, environment={"PROFLINE_GATE": gate})
                self.assertIn("the capture of requests 2 to 4 could not be opened: RuntimeError: torch is not imported", self.read().problems)

    def test_transformers_cannot_be_imported(self):
        self.fake_transformers(utils="raise ImportError('broken wheel')\n")
        out = self.run_program("try:\n    import transformers.generation.utils\nexcept ImportError as e:\n    print(e)\n")
        self.assertEqual((out, self.last.stderr), ("broken wheel\n", b""))

    def test_a_transformers_without_generate(self):
        self.fake_transformers(utils="pass\n")
        self.run_program("import transformers.generation.utils as u; print(u.__name__, u.__loader__.name)")
        self.assertEqual(self.last.stdout, b"transformers.generation.utils transformers.generation.utils\n")
        self.assertIn("GenerationMixin", self.read().problems[0])

    def test_the_smallest_generate(self):
        self.fake_transformers()
        self.run_program(MODEL + "Model().generate(Ids(2, 5), max_new_tokens=4)\n")
        (request,) = self.read().requests
        self.assertEqual((request["prompt_tokens"], request["new_tokens"], request["batch"]), (5, 4, 2))
        self.assertEqual(len(phases(request)["decode"]["steps_ns"]), 3)
        self.assertEqual(self.read().problems, [])

    def test_a_prompt_in_chunks_that_are_computed_out_of_sight(self):
        """As transformers 4.51 to 4.57 do it: all but the last token of the prompt, by calls of `forward` itself."""
        chunking = """
    def _prefill_chunking(self, input_ids, generation_config, **kwargs):
        for _ in range(0, input_ids.shape[1] - 1, 2):
            self.forward(input_ids=Ids(input_ids.shape[0], 2))
        return kwargs
"""
        self.fake_transformers(utils=FAKE_UTILS.replace("        for step", "        self._prefill_chunking(inputs, None)\n        for step")
                               .replace("inputs.shape[1] if step == 0 else 1", "1") + chunking)
        program = MODEL.replace("        pass", "        time.sleep(0.002)").replace("import torch", "import time, torch")
        for gate in ("none", "nvtx"):
            with self.subTest(gate):
                self.run_program(program + "Model().generate(Ids(2, 9), max_new_tokens=4, prefill_chunk_size=2)\n", environment={"PROFLINE_GATE": gate})
                request = self.read().requests[-1]
                found = phases(request)
                self.assertEqual((request["prompt_tokens"], request["batch"], len(found["decode"]["steps_ns"])), (9, 2, 3))
                self.assertGreaterEqual(found["prefill"]["ns"], 5 * 2e6)
        self.assertEqual(self.read().problems, [])

    def test_a_module_that_is_looked_for_before_it_is_imported(self):
        self.fake_transformers()
        self.run_program("import importlib.util, sys\nassert importlib.util.find_spec('transformers.generation.utils')\n" + MODEL + """
Model().generate(Ids(1, 5))
print([type(finder).__name__ for finder in sys.meta_path if type(finder).__module__.startswith("profline")])
import profline
Model().generate(Ids(1, 5))
assert not hasattr(GenerationMixin.generate.__wrapped__, "__wrapped__")
""")
        self.assertEqual((self.last.stdout, len(self.read().requests)), (b"[]\n", 2))

    def test_generate_fails(self):
        self.fake_transformers()
        self.run_program(MODEL + """
class Bad(Model):
    def forward(self, input_ids):
        if input_ids.shape[1] == 1: raise ValueError("no more")
try:
    Bad().generate(Ids(1, 5))
except ValueError as error:
    print(error)
""")
        self.assertEqual(self.last.stdout, b"no more\n")
        (request,) = self.read().requests
        self.assertEqual((request["attributes"]["failed"], [*phases(request)]), ("ValueError", ["setup", "prefill", "decode"]))

    def test_generate_is_replaced_by_the_program(self):
        self.fake_transformers()
        self.run_program(MODEL + """
GenerationMixin.generate = lambda self, *args, **kwargs: "mine"
print(Model().generate())
""")
        self.assertEqual(self.last.stdout, b"mine\n")
        self.assertEqual(self.read().problems, ["the program replaced generate() of transformers, so its calls are not recorded"])

    def test_generate_is_wrapped_by_the_program(self):
        """As peft and unsloth do it: on the class, and on the model."""
        self.fake_transformers()
        self.run_program(MODEL + """
import functools
first = GenerationMixin.generate
@functools.wraps(first)
def outer(self, *args, **kwargs):
    return first(self, *args, **kwargs)
GenerationMixin.generate = outer
model = Model()
second = model.generate
model.generate = lambda *args, **kwargs: second(*args, **kwargs)
model.generate(Ids(1, 3))
""")
        self.assertEqual((len(self.read().requests), self.read().problems), (1, []))

    def test_a_model_that_cannot_be_described(self):
        self.fake_transformers()
        self.run_program(MODEL + """
class Odd(Model):
    @property
    def config(self): raise RuntimeError("none of your business")
print(Odd().generate(Ids(1, 3)).shape)
""")
        (request,) = self.read().requests
        self.assertEqual((self.last.stdout, len(phases(request)["decode"]["steps_ns"])), (b"(1, 7)\n", 3))
        self.assertIn("none of your business", self.read().problems[0])

    def test_a_model_whose_calls_cannot_be_seen(self):
        self.fake_transformers()
        self.run_program(MODEL + """
class Hidden(Model):
    def __call__(self, *args, **kwargs): return self.forward(*args, **kwargs)
Hidden().generate(Ids(1, 3))
""")
        self.assertEqual(self.read().requests[0]["phases"], [])
        self.assertIn("the forward calls of Hidden could not be observed", self.read().problems[0])

    def test_a_model_that_two_threads_use_is_not_compiled_by_that(self):
        for own, compiled in (("", False), ("model._compiled_call_impl = model._call_impl\n", True)):
            with self.subTest(compiled=compiled):
                self.fake_transformers()
                before = len(self.read().of("model"))
                self.run_program(MODEL + """
import threading
entered, finished = threading.Event(), threading.Event()
class Slow(Model):
    def forward(self, input_ids):
        if threading.current_thread() is not threading.main_thread():
            entered.set()
            finished.wait()
model = Slow()
""" + own + """
thread = threading.Thread(target=lambda: model.generate(Ids(1, 3)))
thread.start()
entered.wait()
model.generate(Ids(1, 3))
finished.set()
thread.join()
""")
                self.assertEqual([model["compiled"] for model in self.read().of("model")[before:]], [compiled])
                self.assertEqual(self.read().problems, [])

    def test_a_fork_inside_generate(self):
        self.fake_transformers()
        self.run_program(MODEL + """
import os
class Forking(Model):
    def forward(self, input_ids):
        if input_ids.shape[1] > 1 and os.fork() == 0:
            Model().generate(Ids(1, 2), max_new_tokens=2)
            os._exit(0)
Forking().generate(Ids(1, 5))
os.wait()
""")
        self.assertEqual(sorted(r["new_tokens"] for r in self.read().requests), [2, 4])


def is_json(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def lost_lines(lines):
    return 21 - sum(line["kind"] == "request" for line in lines)


if __name__ == "__main__":
    unittest.main()
