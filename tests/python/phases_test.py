#!/usr/bin/env python3
"""The package `profline`: requests, phases and steps that a program names."""

import unittest

from support import ProgramTest, phases

LOOP = """
import profline, time
with profline.request(prompt_tokens=7, image="page-1") as request:
    with profline.phase("prefill"):
        time.sleep(0.002)
        with profline.phase("vision"):
            time.sleep(0.001)
    with profline.phase("decode"):
        for _ in range(3):
            profline.step()
            time.sleep(0.001)
    request.set(new_tokens=4)
print("done")
"""


class Phases(ProgramTest):
    def test_a_request_has_its_phases_steps_and_attributes(self):
        self.run_program(LOOP)
        (request,) = self.read().requests
        found = phases(request)
        self.assertEqual([*found], ["prefill", "prefill/vision", "decode"])
        self.assertEqual(len(found["decode"]["steps_ns"]), 3)
        self.assertNotIn("steps_ns", found["prefill"])
        self.assertEqual((request["prompt_tokens"], request["new_tokens"]), (7, 4))
        self.assertEqual((request["source"], request["attributes"]), ("python", {"image": "page-1"}))
        self.assertLessEqual(found["prefill/vision"]["ns"], found["prefill"]["ns"])
        self.assertLessEqual(sum(found["decode"]["steps_ns"]), found["decode"]["ns"])
        self.assertLessEqual(found["prefill"]["ns"] + found["decode"]["ns"], request["ns"])
        self.assertEqual(self.read().problems, [])

    def test_without_profline_the_calls_do_nothing(self):
        out = self.run_program(LOOP, adapter=False, path=[self.package()])
        self.assertEqual((out, self.last.stderr, self.read().files), ("done\n", b"", []))

    def package(self):
        from support import PACKAGE

        return PACKAGE

    def test_a_step_as_a_block_ends_with_it(self):
        self.run_program("""
import profline, time
with profline.request(), profline.phase("decode"):
    for _ in range(2):
        with profline.step():
            pass
        time.sleep(0.01)
""")
        steps = phases(self.read().requests[0])["decode"]["steps_ns"]
        self.assertEqual(len(steps), 2)
        self.assertLess(max(steps), 10_000_000)

    def test_a_phase_named_after_its_parent_is_a_step_of_it(self):
        self.run_program("""
import profline
with profline.request(), profline.phase("decode"):
    for _ in range(5):
        with profline.phase("decode_step"):
            pass
""")
        found = phases(self.read().requests[0])
        self.assertEqual([*found], ["decode"])
        self.assertEqual(len(found["decode"]["steps_ns"]), 5)

    def test_repeated_phases_add_up(self):
        self.run_program("""
import profline
with profline.request():
    for _ in range(3):
        with profline.phase("a"):
            profline.step()
""")
        (phase,) = self.read().requests[0]["phases"]
        self.assertEqual((phase["path"], len(phase["steps_ns"])), ("a", 3))

    def test_phases_outside_requests_are_ranges(self):
        self.run_program("""
import profline
with profline.phase("load"):
    with profline.phase("weights"):
        pass
""")
        self.assertEqual([line["path"] for line in self.read().of("range")], ["load/weights", "load"])
        self.assertEqual(self.read().requests, [])

    def test_phases_in_a_hot_loop_do_not_fill_the_disk(self):
        self.run_program("""
import profline
for _ in range(21000):
    with profline.phase("x"):
        pass
""")
        self.assertEqual(len(self.read().of("range")), 20000)
        self.assertEqual(self.read().problems, ["there are more than 20000 phases outside requests; the others are not recorded"])

    def test_a_request_inside_a_request_is_part_of_it(self):
        self.run_program("""
import profline
with profline.request(a=1):
    with profline.request(b=2):
        with profline.phase("x"):
            pass
""")
        (request,) = self.read().requests
        self.assertEqual((request["attributes"], [*phases(request)]), ({"a": 1, "b": 2}, ["x"]))

    def test_requests_of_threads_and_tasks_do_not_mix(self):
        self.run_program("""
import asyncio, profline, threading
def work(name):
    with profline.request(name=name):
        with profline.phase(name):
            gate.wait()
gate = threading.Barrier(4)
threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
async def task(name):
    with profline.request(name=name):
        await asyncio.sleep(0.01)
        with profline.phase(name):
            await asyncio.sleep(0.01)
async def main():
    await asyncio.gather(*[task(f"a{i}") for i in range(4)])
asyncio.run(main())
""")
        requests = self.read().requests
        self.assertEqual(sorted(r["attributes"]["name"] for r in requests), ["a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3"])
        for request in requests:
            self.assertEqual([*phases(request)], [request["attributes"]["name"]])
        self.assertEqual(len({r["thread"] for r in requests}), 5)

    def test_an_exception_passes_through_and_is_named(self):
        self.run_program("""
import profline
try:
    with profline.request():
        with profline.phase("x"):
            raise ZeroDivisionError
except ZeroDivisionError:
    print("seen")
""")
        (request,) = self.read().requests
        self.assertEqual((request["attributes"]["failed"], [*phases(request)]), ("ZeroDivisionError", ["x"]))

    def test_odd_values_are_recorded_as_json(self):
        self.run_program(r"""
import profline
with profline.request(nan=float("nan"), big=2**70, text="\udcff\u00e9", key=object, new_tokens=-1, hf_token="x", url="https://u:p@h/"):
    with profline.phase(3):
        pass
    with profline.phase("\udcff"):
        pass
""")
        (request,) = self.read().requests
        attributes = request["attributes"]
        self.assertEqual((attributes["nan"], attributes["big"], attributes["text"]), ("nan", str(2**70), "?\u00e9"))
        self.assertEqual((attributes["hf_token"], attributes["url"], attributes["new_tokens"]), ("<redacted>", "<redacted>", -1))
        self.assertNotIn("\udcff", [*phases(request)][1])

    def test_a_step_outside_a_phase_is_a_problem_not_an_error(self):
        self.run_program("import profline\nprofline.step()\nwith profline.step():\n    pass\n")
        self.assertEqual(self.read().problems, ["profline.step() was called outside a phase; that step is not recorded"])

    def test_long_garbage_collections_are_marks(self):
        self.run_program("""
import gc, profline
gc.disable()
with profline.request():
    keep = [[i] for i in range(300000)]
    gc.collect()
""")
        marks = self.read().of("mark")
        self.assertEqual({mark["name"] for mark in marks}, {"gc"})
        self.assertGreaterEqual(min(mark["ns"] for mark in marks), 1_000_000)


if __name__ == "__main__":
    unittest.main()
