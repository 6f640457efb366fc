"""Whole runs: a load without a profiler, then a window of it under the engine's own profiler and under the real nsys."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support
from support import proofs

sys.path.insert(0, str(support.HERE.parent / "load"))
from tiny_gguf import write_model  # pylint: disable=wrong-import-position

NSYS = support.nsys()


def times_in(capture):
    """When the first and the last event of an export happened, by the system's clock."""
    database = sqlite3.connect(f"file:{capture}?mode=ro", uri=True)
    origin = database.execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").fetchone()[0]
    first, last = database.execute("SELECT min(start), max(end) FROM OSRT_API").fetchone()
    database.close()
    return origin + first, origin + last


class WholeRuns(unittest.TestCase):
    def check_window(self, run, stage):
        server = run.server(stage)
        window, load = server["window"], server["load"]
        self.assertGreaterEqual(window["open_ns"], load["warm_ns"])
        self.assertLessEqual(window["close_ns"], load["end_ns"])
        self.assertGreaterEqual(window["close_ns"] - window["open_ns"], window["asked_s"] * 0.9e9)
        self.assertEqual(proofs(server)["the window lies inside the load and after the warm-up"], "passed")
        self.assertEqual(proofs(server)["no process is left"], "passed")
        self.assertEqual(load["failed"], 0)
        self.assertIsNotNone(server["cost"]["throughput"])
        return server

    def check_edges(self, run, window):
        """The window against the first and the last event of the trace."""
        trace = json.loads((run.folder / "torch_profiler" / "trace.json").read_text())
        ends = [event["ts"] + event["dur"] for event in trace["traceEvents"]]
        first, last = (trace["baseTimeNanoseconds"] + us * 1000 for us in (min(event["ts"] for event in trace["traceEvents"]), max(ends)))
        self.assertEqual(window["edges_from"], "capture")
        self.assertLess(abs(window["open_ns"] + window["unix_minus_monotonic_ns"] - first), 50_000_000)
        self.assertLess(abs(window["close_ns"] + window["unix_minus_monotonic_ns"] - last), 50_000_000)

    def test_the_engines_own_profiler(self):
        run = support.Run([*support.ENGINE, "--port", "PORT"], "server.gate=http", stages=("baseline", "torch_profiler"))
        self.assertEqual(run.code, 0, run.stderr)
        server = self.check_window(run, "torch_profiler")
        names = [transition["name"] for transition in run.stage("torch_profiler")["transitions"]]
        self.assertEqual(names, ["started", "ready", "load began", "warmed up", "steady", "window open", "window closed",
                                 "load ends", "stopping", "stopped"])
        for name in names:
            self.assertIn(f"torch_profiler: ", run.stderr)
            self.assertIn(name, run.stderr)
        steps = server["steps"]
        self.assertEqual(steps["engine"], "vLLM")
        self.assertAlmostEqual(sum(kind["share"] for kind in steps["kinds"]), 1, places=6)
        self.assertEqual({kind["kind"] for kind in steps["kinds"]}, {"decode", "idle"})
        window = server["window"]
        self.check_edges(run, window)
        length = window["close_ns"] - window["open_ns"]
        self.assertAlmostEqual(sum(kind["total_ns"] for kind in steps["kinds"]), length, delta=0.01 * length)
        self.assertTrue((run.folder / "baseline" / "load" / "load.json").exists())
        report = (run.folder / "report.md").read_text()
        self.assertIn("## Server", report)
        self.assertIn("decode", report)
        page = (run.folder / "report.html").read_text()
        self.assertIn('id="server"', page)
        # Where the window was is marked in the load.
        self.assertIn('"windows":[{"name":"torch_profiler"', page)
        self.assertEqual(run.leftovers(), [])

    def test_traces_of_several_workers_are_ranks(self):
        run = support.Run([*support.ENGINE, "--port", "PORT", "--ranks", "2"], "server.gate=http", stages=("torch_profiler",))
        self.assertEqual(run.code, 0, run.stderr)
        self.assertEqual(len(list((run.folder / "torch_profiler" / "engine").iterdir())), 2)
        done = subprocess.run([support.PROFLINE, "ranks", run.folder, "--format", "json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        analysis = json.loads(done.stdout)
        self.assertEqual((analysis["captured_by"], analysis["ranks_from"]), ("torch_profiler", "the captures themselves"))
        self.assertEqual(analysis["skew"]["collectives"], 100)
        self.assertEqual(analysis["stragglers"][0]["rank"], 1)
        self.assertIn("Rank 1 is late", (run.folder / "report.md").read_text())
        self.assertEqual(run.leftovers(), [])

    def test_kineto_on_demand(self):
        run = support.Run([*support.ENGINE, "--port", "PORT"], "server.gate=kineto", stages=("baseline", "torch_profiler"))
        self.assertEqual(run.code, 0, run.stderr)
        server = self.check_window(run, "torch_profiler")
        self.assertEqual(server["window"]["gate"], "kineto")
        self.assertEqual(proofs(server)["the capture is whole"], "passed")
        self.assertEqual({kind["kind"] for kind in server["steps"]["kinds"]}, {"decode", "idle"})
        # libkineto began two seconds after it was asked: the window is where the trace is.
        window = server["window"]
        self.assertGreater(window["open_ns"], window["open_acknowledged_ns"] + 1_000_000_000)
        self.check_edges(run, window)
        self.assertNotIn("window_late", run.codes())
        # What it cost is printed, not only recorded.
        self.assertIn("of the tokens per second that it does without a profiler", run.stderr)
        self.assertEqual(run.leftovers(), [])

    def test_kineto_on_demand_in_a_server_that_is_running(self):
        sockets, traces = (tempfile.mkdtemp(prefix="kineto-", dir="/tmp") for _ in range(2))
        for folder in (sockets, traces):
            self.addCleanup(shutil.rmtree, folder)
        (Path(sockets) / "other").write_text("kept")
        port = support.free_port()
        environment = {**os.environ, "KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": sockets, "KINETO_ONDEMAND_TRACE_DIR": traces}
        engine = subprocess.Popen([*support.ENGINE, "--port", str(port)], stdout=subprocess.PIPE, text=True, env=environment)
        try:
            self.assertIn("ready", engine.stdout.readline())
            before = set(os.listdir(sockets))
            for _ in range(2):  # nothing of the first run is in the way of the second
                run = support.Run([], "server.gate=kineto", port=port, stages=("torch_profiler",))
                self.assertEqual(run.code, 0, run.stderr)
                server = run.server("torch_profiler")
                self.assertTrue(server["attached"])
                self.assertEqual(proofs(server)["the capture is whole"], "passed")
                self.assertEqual(proofs(server)["the window lies inside the load and after the warm-up"], "passed")
                self.check_edges(run, server["window"])
                self.assertTrue((run.folder / "torch_profiler" / "operators.json").exists())
                self.assertEqual(os.listdir(traces), [])
                # What others have there is as it was.
                self.assertLessEqual(before, set(os.listdir(sockets)))
                self.assertNotIn("dynolog", os.listdir(sockets))
            self.assertIsNone(engine.poll(), "the server was stopped")
        finally:
            engine.terminate()
            engine.wait(timeout=20)
            engine.stdout.close()

    def test_another_load_generator(self):
        script = ("import os, time, urllib.request\n"
                  "end = time.monotonic() + 9\n"
                  "while time.monotonic() < end:\n"
                  "    request = urllib.request.Request(os.environ['PROFLINE_SERVER_URL'] + '/v1/completions',"
                  " b'{\"max_tokens\": 3}')\n"
                  "    urllib.request.urlopen(request, timeout=10).read()\n"
                  "open('result.txt', 'w').write('done')\n")
        generator = Path(tempfile.mkdtemp()) / "generator.py"
        generator.write_text(script)
        run = support.Run([*support.ENGINE, "--port", "PORT"], "server.gate=http",
                          f"load.command=[{sys.executable},{generator}]", stages=("baseline", "torch_profiler"))
        self.assertEqual(run.code, 0, run.stderr)
        server = run.server("torch_profiler")
        self.assertIn("generator.py", server["load"]["command"])
        self.assertEqual(proofs(server)["no request failed because of the profiler"], "unknown")
        # When its warm-up ended is not known.
        self.assertEqual(proofs(server)["the window lies inside the load and after the warm-up"], "unknown")
        self.assertIsNone(server["load"]["warm_ns"])
        # It was not stopped, and wrote its result at its end.
        for stage in ("baseline", "torch_profiler"):
            self.assertEqual((run.folder / stage / "load" / "result.txt").read_text(), "done")
        self.assertEqual([code for code in run.codes() if code.startswith("load_")], [])
        self.assertGreater(server["load"]["end_ns"], server["window"]["close_acknowledged_ns"] + 1_000_000_000)

    def test_a_load_generator_that_does_not_end_is_stopped(self):
        generator = Path(tempfile.mkdtemp()) / "generator.py"
        generator.write_text("import time\nwhile True:\n    time.sleep(1)\n")
        run = support.Run([*support.ENGINE, "--port", "PORT"], "server.gate=http", "load.timeout=1",
                          f"load.command=[{sys.executable},{generator}]")
        self.assertEqual(run.code, 0, run.stderr)
        self.assertIn("the other load generator still ran", run.text("load_stopped"))
        self.assertNotIn("load_failed", run.codes())
        self.assertEqual(run.leftovers(), [])

    def test_other_signs_of_a_server_that_is_ready(self):
        port = support.free_port()
        for sign, words in ((f"server.ready.tcp=127.0.0.1:{port}", "accepts connections"), ("server.ready.log='engine: r.ady'", "matches")):
            run = support.Run([*support.ENGINE, "--port", "PORT"], sign, port=port, stages=("baseline",))
            self.assertEqual(run.code, 0, run.stderr)
            notes = {transition["name"]: transition["note"] for transition in run.stage("baseline")["transitions"]}
            self.assertIn(words, notes["started"])
            self.assertIn("ready", notes)

    def test_a_server_that_is_running_already(self):
        port = support.free_port()
        engine = subprocess.Popen([*support.ENGINE, "--port", str(port)], stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "PROFLINE_TRACE_DIR": tempfile.mkdtemp()})
        try:
            self.assertIn("ready", engine.stdout.readline())
            traces = tempfile.mkdtemp()
            run = support.Run([], "server.gate=http", f"server.http.traces={traces}", port=port, stages=("torch_profiler",))
            # The engine writes its traces elsewhere, which is reported.
            self.assertEqual(run.codes("problem"), ["nothing_traced"], run.stderr)
            self.assertIsNone(engine.poll(), "the server was stopped")
            self.assertTrue(run.server("torch_profiler")["attached"])
            refused = support.Run([], port=port, stages=("nsys",))
            self.assertIn("nsys cannot record it", refused.stderr)
            refused = support.Run([], "server.gate=kineto", port=port, stages=("torch_profiler",))
            self.assertIn("it was started without KINETO_USE_DAEMON", refused.stderr)
            absent = support.Run([], "server.gate=http", stages=("baseline",))
            self.assertIn("connection refused", absent.text("server_absent"))
            self.assertEqual(absent.codes("problem"), ["server_absent"])
        finally:
            engine.terminate()
            engine.wait(timeout=20)
            engine.stdout.close()

    @unittest.skipIf(NSYS is None, "no nsys (scripts/fetch_nsight unpacks it)")
    @unittest.skipIf(Path("/dev/nvidia0").exists(), "this GPU can be sampled")
    def test_metrics_that_cannot_be_sampled_stop_nothing(self):
        run = support.Run([*support.ENGINE, "--port", "PORT"], "pipeline.nsys.trace=[nvtx,osrt]",
                          "pipeline.nsys.gpu_metrics=true", stages=("nsys",), arguments=["--nsys", str(NSYS)])
        self.assertEqual(run.code, 0, run.stderr)
        # nsys may have lost its agent as well.
        self.assertTrue(any("cannot sample the GPU's metrics here" in text for text in run.texts("nsys_retry")))
        self.assertNotIn("metrics_missing", run.codes())
        starts = [command["argv"] for command in run.stage("nsys")["commands"] if command["name"].startswith("start")]
        asks = [any(word.startswith("--gpu-metrics-device") for word in argv) for argv in starts]
        self.assertTrue(asks[0])
        self.assertFalse(asks[-1])
        self.assertEqual(proofs(run.server("nsys"))["the capture is whole"], "passed")

    @unittest.skipIf(NSYS is None, "no nsys (scripts/fetch_nsight unpacks it)")
    def test_without_a_gate_nsys_records_the_whole_life_of_the_server(self):
        run = support.Run([*support.ENGINE, "--port", "PORT"], "server.gate=none", "pipeline.nsys.trace=[nvtx,osrt]",
                          stages=("baseline", "nsys"), arguments=["--nsys", str(NSYS)])
        self.assertEqual(run.code, 0, run.stderr)
        first, last = times_in(run.folder / "nsys" / "run.sqlite")
        load = run.server("nsys")["load"]
        self.assertGreater((last - first), load["end_ns"] - load["start_ns"])
        self.assertEqual(proofs(run.server("nsys"))["no process is left"], "passed")
        self.assertEqual(run.leftovers(), [])

    @unittest.skipIf(NSYS is None, "no nsys (scripts/fetch_nsight unpacks it)")
    def test_the_grace_to_stop_is_the_servers_and_nsys_writes_its_report(self):
        for fault, grace in (("", 0.05), ("ignores_sigterm", 1)):
            with self.subTest(fault=fault):
                run = support.Run([*support.ENGINE, "--port", "PORT", *(["--fault", fault] if fault else [])], "server.gate=none",
                                  f"server.stop.grace={grace}", "pipeline.nsys.trace=[nvtx,osrt]", stages=("nsys",),
                                  arguments=["--nsys", str(NSYS)])
                self.assertEqual(run.code, 0, run.stderr)
                self.assertTrue((run.folder / "nsys" / "run.nsys-rep").exists(), run.stderr)
                server = run.server("nsys")
                self.assertEqual(proofs(server)["the capture is whole"], "passed")
                self.assertEqual(proofs(server)["no process is left"], "passed")
                self.assertEqual(len(server["processes"]), 4)
                # Only with the load of a baseline is anything known of the first token.
                self.assertIsNone(server["first_token"])
                if fault:
                    self.assertIn("stop_ignored", run.codes("warning"))
                    self.assertIn("engine: SIGTERM ignored", (run.folder / "nsys" / "log").read_text())
                self.assertEqual(run.leftovers(), [])

    @unittest.skipIf(NSYS is None, "no nsys (scripts/fetch_nsight unpacks it)")
    def test_nsys_around_llama_server(self):
        program = support.TOOLS / "llama" / "bin" / "llama-server"
        if not program.exists():
            self.skipTest("no llama-server (scripts/fetch_llama unpacks it)")
        model = Path(tempfile.mkdtemp()) / "tiny.gguf"
        write_model(model)
        run = support.Run([program, "-m", model, "--port", "PORT", "-t", "1", "-c", "8192", "-np", "4", "--no-webui"],
                          "pipeline.torch_profiler.enable=auto", "load.prompts.input_tokens=64", "load.prompts.output_tokens=16", "window.seconds=1",
                          "pipeline.nsys.trace=[nvtx,osrt]", preset="llama_server", stages=("baseline", "nsys"),
                          arguments=["--nsys", str(NSYS)])
        self.assertEqual(run.code, 0, run.stderr)
        self.assertLess(run.seconds, 60)
        server = self.check_window(run, "nsys")
        self.assertEqual(proofs(server)["the capture is whole"], "passed")
        self.assertEqual(proofs(server)["every GPU process of the server is in the capture, with kernels"], "unknown")
        window = server["window"]
        self.assertEqual(window["edges_from"], "capture")
        first, last = times_in(run.folder / "nsys" / "run.sqlite")
        to_unix = window["unix_minus_monotonic_ns"]
        self.assertLess(abs(window["open_ns"] + to_unix - first), 50_000_000)
        self.assertLess(abs(window["close_ns"] + to_unix - last), 50_000_000)
        self.assertEqual([process["traced"] for process in server["processes"]], [True])
        self.assertIn("no ranges", server["steps"]["why_none"])
        self.assertEqual(run.stage("torch_profiler")["state"], "skipped")
        self.assertIn("no process of the server loaded libtorch", run.text("no_libtorch"))
        first_token = run.server("baseline")["first_token"]
        self.assertGreater(first_token["prefill_ns"], 0)
        self.assertAlmostEqual(first_token["client_ns"], first_token["prefill_ns"] + first_token["residual_ns"], delta=1)
        summary = json.loads((run.folder / "summary.json").read_text())
        self.assertEqual([server["stage"] for server in summary["server"]], ["baseline", "nsys"])
        self.assertEqual(run.leftovers(), [])


if __name__ == "__main__":
    unittest.main()
