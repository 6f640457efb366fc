"""Servers and profilers that misbehave: each is named with its cause, nothing is left, and reports are kept.

    faults_test.py                 one of each kind
    faults_test.py --runs 200      so many, in an order that --seed decides
"""

import concurrent.futures
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import support

# Much longer than an answer takes on a busy machine; faults that wait for it set a shorter one.
HTTP = ["server.gate=http", "server.http.timeout=60"]
NSYS = support.nsys()


def engine(fault=""):
    return [*support.ENGINE, "--port", "PORT", *(["--fault", fault] if fault else [])]


def by_http(fault, code, words, *overrides, severity="problem", stages=("torch_profiler",)):
    """The engine's own profiler, which needs no tool."""
    def play(test):
        run = support.Run(engine(fault), *HTTP, *overrides, stages=stages)
        check(test, run, code, words, severity)
        return run
    return play


def check(test, run, code, words, severity="problem"):
    test.assertIn(code, run.codes(severity), run.stderr)
    test.assertIn(words, run.text(code))
    test.assertEqual(run.code, 1 if severity == "problem" else 0, run.stderr)
    test.assertEqual(run.leftovers(), [], "processes were left")
    windows_lie_in_the_load(test, run)


def windows_lie_in_the_load(test, run):
    for stage in run.record["stages"]:
        if not (run.folder / stage["name"] / "server.json").exists():
            continue
        server = run.server(stage["name"])
        window, load = server.get("window"), server["load"]
        if not window:
            continue
        test.assertGreaterEqual(window["open_ns"], load["start_ns"])
        test.assertGreaterEqual(window["open_ns"], load["warm_ns"])
        # A server that dies in its window ends the load there.
        if "server_died_in_window" not in run.codes():
            test.assertLessEqual(window["close_ns"], load["end_ns"])


def dies_in_warmup(test):
    """With and without a profiler. Its requests fail before it is seen to be gone, which is not the cause."""
    stages = ("baseline", "torch_profiler")
    run = support.Run(engine("dies_in_warmup"), *HTTP, stages=stages)
    check(test, run, "server_died_in_warmup", "out of memory")
    for stage in stages:
        codes = [finding["code"] for finding in run.stage(stage)["findings"]]
        test.assertIn("server_died_in_warmup", codes, run.stderr)
        test.assertNotIn("load_failed", codes)


def dies_in_window(test):
    """Its profiler cannot be stopped any more and left no trace, which have no other cause."""
    run = support.Run(engine("dies_in_window"), *HTTP, "window.seconds=3")
    check(test, run, "server_died_in_window", "illegal memory access")
    test.assertEqual(run.codes("problem"), ["server_died_in_window"], run.stderr)


def port_taken(test):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        run = support.Run(engine(), *HTTP, port=other.getsockname()[1])
        check(test, run, "port_taken", f"pid {os.getpid()}")
    test.assertEqual(run.stage("torch_profiler")["commands"], [])


def leaves_orphan(test):
    run = support.Run(engine("leaves_orphan"), *HTTP)
    test.assertEqual(run.code, 0, run.stderr)
    test.assertIn("sleep", run.text("leftovers"))
    windows_lie_in_the_load(test, run)
    test.assertEqual(run.leftovers(), [])


def wrapped_nsys(folder, at_stop):
    """The real nsys, but something happens first when a capture is stopped."""
    program = Path(folder) / "nsys"
    program.write_text(f'#!/bin/bash\nif [ "$1" = stop ]; then\n{at_stop}\nfi\nexec {NSYS} "$@"\n')
    program.chmod(0o755)
    return program


def by_nsys(test, fault, *overrides, nsys=None, **options):
    if NSYS is None:
        test.skipTest("no nsys (scripts/fetch_nsight unpacks it)")
    return support.Run(engine(fault), "pipeline.nsys.trace=[nvtx,osrt]", *overrides, stages=("nsys",),
                       arguments=["--nsys", str(nsys or NSYS)], **options)


def double_fork(test):
    """A worker that is nobody's child belongs to the server all the same."""
    run = support.Run(engine("double_fork"), *HTTP)
    test.assertEqual(run.code, 0, run.stderr)
    test.assertEqual(len(run.server("torch_profiler")["processes"]), 4)
    windows_lie_in_the_load(test, run)
    test.assertEqual(run.leftovers(), [])


def untraced_worker(test):
    run = by_nsys(test, "untraced_worker")
    check(test, run, "worker_untraced", "is not in the capture", "warning")
    processes = run.server("nsys")["processes"]
    test.assertEqual(len(processes), 4)
    test.assertEqual([process["traced"] for process in processes].count(False), 1)


def dies_in_window_of_nsys(test):
    run = by_nsys(test, "dies_in_window", "window.seconds=3")
    check(test, run, "server_died_in_window", "illegal memory access")
    test.assertNotIn("nsys_stop_failed", run.codes())
    test.assertTrue((run.folder / "nsys" / "run.nsys-rep").exists(), "the report was not kept")


def dies_in_window_of_kineto(test):
    """It was asked for a trace that it will never write; nothing waits for that."""
    run = support.Run(engine("dies_in_window"), "server.gate=kineto", "window.seconds=3")
    check(test, run, "server_died_in_window", "illegal memory access")
    test.assertIn("ended before the trace was written", run.text("trace_not_written"))


def late_stop(test):
    with tempfile.TemporaryDirectory() as folder:
        run = by_nsys(test, "", nsys=wrapped_nsys(folder, "sleep 1.5"))
    check(test, run, "window_late", "instead of", "warning")
    test.assertGreater(run.server("nsys")["window"]["close_ns"] - run.server("nsys")["window"]["open_ns"], 1_900_000_000)


def with_agent_lost(test, command, code):
    """The real nsys, after it has failed once, as it now and then does on a busy machine."""
    if NSYS is None:
        test.skipTest("no nsys (scripts/fetch_nsight unpacks it)")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "nsys"
        program.write_text(f'#!/bin/sh\nif [ "$1" = {command} ] && mkdir {folder}/first 2>/dev/null; then\n'
                           f'  echo "Connection to Agent lost. This is most likely a bug."\n  exit {code}\nfi\nexec {NSYS} "$@"\n')
        program.chmod(0o755)
        return by_nsys(test, "", nsys=program)


def agent_lost_at_start(test):
    run = with_agent_lost(test, "start", 1)
    test.assertEqual(run.code, 0, run.stderr)
    test.assertTrue(any("when the capture was started; trying again" in text for text in run.texts("nsys_retry")), run.stderr)
    test.assertTrue((run.folder / "nsys" / "run.nsys-rep").exists(), "no report")
    windows_lie_in_the_load(test, run)
    test.assertEqual(run.leftovers(), [])


def agent_lost(test):
    run = with_agent_lost(test, "launch", 0)
    check(test, run, "nsys_retry", "nsys lost the connection to its agent before the server was ready; trying again", "warning")
    test.assertTrue((run.folder / "nsys" / "run.nsys-rep").exists(), "no report")
    names = {command["name"] for command in run.stage("nsys")["commands"]}
    # A real loss adds attempts of its own.
    test.assertGreaterEqual(names, {"server again", "start again", "stop again"})


def fill_until(folder, marks, is_over):
    """Once nsys is about to stop, whatever it frees on that disk is used up again until the run has ended."""
    while not (Path(marks) / "stops").exists():
        if is_over.wait(0.01):
            return
    with open(Path(folder) / "full", "wb", buffering=0) as file:
        while not is_over.is_set():
            try:
                file.write(b"0" * 4096)
            except OSError:
                (Path(marks) / "full").touch()
                is_over.wait(0.01)


def disk_full(test):
    if NSYS is None or os.geteuid() != 0:
        test.skipTest("needs nsys, and root for a small disk")
    folder = tempfile.mkdtemp(prefix="profline-small-disk-")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True, check=False)
    if mounted.returncode != 0:
        test.skipTest("no disk can be mounted here")
    try:
        # nsys keeps what it records below TMPDIR; the run's own folder has space.
        marks = tempfile.mkdtemp(prefix="profline-marks-")
        program = wrapped_nsys(marks, f"touch {marks}/stops\nwhile [ ! -e {marks}/full ]; do sleep 0.01; done")
        is_over = threading.Event()
        filler = threading.Thread(target=fill_until, args=(folder, marks, is_over))
        filler.start()
        try:
            run = by_nsys(test, "", nsys=program, env={"TMPDIR": folder})
        finally:
            is_over.set()
            filler.join()
        # In time or not, nsys may have written its report by then.
        test.assertIn("disk_full", run.codes(), run.stderr)
        test.assertEqual(run.code, 1 if run.codes("problem") else 0, run.stderr)
        if (run.folder / "nsys" / "run.nsys-rep").exists():
            test.assertEqual(support.proofs(run.server("nsys"))["the capture is whole"], "passed", run.stderr)
        else:
            test.assertIn("disk_full", run.codes("problem"), run.stderr)
        windows_lie_in_the_load(test, run)
        test.assertEqual(run.leftovers(), [])
    finally:
        subprocess.run(["umount", "-l", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


FAULTS = {
    "dies loading": by_http("dies_loading", "server_died_loading", "out of memory while loading weights"),
    "dies in warm-up": dies_in_warmup,
    "dies in the window": dies_in_window,
    "never ready": by_http("never_ready", "server_not_ready", "GET /health", "server.ready.timeout=1"),
    "start 404": by_http("start_404", "gate_missing", "POST /start_profile answers 404 (Not Found)"),
    "start 409": by_http("start_409", "gate_in_use", "answers 409 (already profiling)"),
    "start hangs": by_http("start_hangs", "gate_start_hangs", "no answer within 1000 ms", "server.http.timeout=1"),
    "stop hangs": by_http("stop_hangs", "gate_stop_hangs", "no answer within 15000 ms", "server.http.timeout=15"),  # also for the start
    "SIGTERM ignored": by_http("ignores_sigterm", "stop_ignored", "did not end within", "server.stop.grace=0.5",
                               severity="warning"),
    "requests fail": by_http("fails_in_window", "requests_failed", "since the window was opened",
                             stages=("baseline", "torch_profiler")),
    "port taken": port_taken,
    "orphan": leaves_orphan,
    "double fork": double_fork,
    "worker untraced": untraced_worker,
    "dies in the window of nsys": dies_in_window_of_nsys,
    "dies in the window of Kineto": dies_in_window_of_kineto,
    "agent lost": agent_lost,
    "agent lost at the start of the capture": agent_lost_at_start,
    "late stop": late_stop,
    "disk full": disk_full,
}


class Faults(unittest.TestCase):
    @unittest.skipIf(os.environ.get("PROFLINE_TEST_LONG") != "1", "PROFLINE_TEST_LONG=1 plays 200")
    def test_two_hundred_are_named(self):
        self.assertEqual(campaign(200, random.randrange(1 << 30)), 0)

    def test_each_is_named(self):
        # They mostly wait, so several go on at the same time.
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            played = {name: pool.submit(play, self) for name, play in FAULTS.items()}
        for name, result in played.items():
            with self.subTest(name):
                try:
                    result.result()
                except unittest.SkipTest as reason:
                    print(f"skipped: {name}: {reason}")


def campaign(runs, seed):
    """Plays faults in random order, a few at a time; exits with 1 if one was not named."""
    order = [list(FAULTS)[i % len(FAULTS)] for i in range(runs)]
    random.Random(seed).shuffle(order)
    failures = 0
    counts = {}
    test = unittest.TestCase()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for name, result in [(name, pool.submit(FAULTS[name], test)) for name in order]:
            try:
                result.result()
                counts[name] = counts.get(name, 0) + 1
            except unittest.SkipTest:
                counts["skipped"] = counts.get("skipped", 0) + 1
            except Exception as error:
                failures += 1
                print(f"FAILED: {name}: {error}")
    for name, count in sorted(counts.items()):
        print(f"{count:4} {name}")
    print(f"{runs} runs, {failures} failed, seed {seed}")
    return 1 if failures else 0


if __name__ == "__main__":
    if "--runs" in sys.argv:
        seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else random.randrange(1 << 30)
        sys.exit(campaign(int(sys.argv[sys.argv.index("--runs") + 1]), seed))
    unittest.main()
