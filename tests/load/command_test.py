"""`profline load` as people use it: options, files, privacy, exit codes."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest
from pathlib import Path

import servers

SMALL = ("warmup.requests=2", "measure.requests=6", "prompts.input_tokens=8", "prompts.output_tokens=4")
KEY = "sk-loadtest-0123456789abcdef"


def all_files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Command(unittest.TestCase):
    def test_the_result_as_json(self):
        with servers.Scripted() as server:
            result = servers.load(server.url, *SMALL, arguments=["--format", "json"])
        document = json.loads(result.stdout)
        self.assertEqual(document["schema"], "profline.load_result/1")
        self.assertEqual(document["run_dir"], str(result.folder))
        self.assertEqual(document["load"]["counts"]["succeeded"], 6)
        self.assertEqual(result.load["schema"], "profline.load/1")
        self.assertEqual(len(result.requests), 6)
        self.assertTrue(all(r["source"] == "client" and r["ttft_ns"] > 0 for r in result.requests))

    def test_the_result_fits_80_columns(self):
        with servers.Scripted() as server:
            result = servers.load(server.url, *SMALL, "slo.ttft_ms=100")
        for word in ("TTFT", "ITL", "goodput", "client error", "limit"):
            self.assertIn(word, result.stdout)
        # Text is wrapped on a terminal only; a table must fit anywhere.
        table = [line for line in result.stdout.splitlines() if line.startswith("  ") and "events read" not in line]
        self.assertLessEqual(max(map(len, table)), 80)

    def test_progress_fits_a_terminal_of_80_columns(self):
        folder = Path(tempfile.mkdtemp())
        with servers.Scripted("--ttft", 30, "--gap", 10) as server:
            words = [servers.PROFLINE, "load", server.url, f"hydra.run.dir={folder / 'run'}",
                     servers.LOAD + "measure.requests=100", servers.LOAD + "prompts.output_tokens=20"]
            main, terminal = pty.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=terminal, cwd=folder)
            os.close(terminal)
            shown = b""
            try:
                while part := os.read(main, 65536):
                    shown += part
            except OSError:  # the program has closed its side
                pass
            self.assertEqual(process.wait(timeout=120), 0)
            os.close(main)
        self.assertRegex(shown.decode(), r"\d+/100  [\d.]+/s  \d+ open  0 err  TTFT [\d.]+/[\d.]+ ms[\r\n\x1b]")

    def test_prompts_answers_and_keys_are_not_stored(self):
        prompts = Path(tempfile.mkdtemp()) / "prompts.jsonl"
        prompts.write_text('{"prompt": "a very secret question"}\n')
        with servers.Scripted() as server:
            result = servers.load(server.url, *SMALL[:2], f"prompts.file={prompts}", "prompts.output_tokens=3",
                                  "api_key_env=LOAD_TEST_KEY", "+pipeline.workload.load.headers={X-Api-Key: " + KEY + "2}",
                                  env={"LOAD_TEST_KEY": KEY})
        self.assertEqual(result.code, 0, result.stderr)
        self.assertEqual(result.load["counts"]["output_tokens"], 18)
        for path, content in all_files(result.folder).items():
            self.assertNotIn(b"secret question", content, path)
            self.assertNotIn(KEY.encode(), content, path)
        self.assertFalse((result.folder / "responses.jsonl").exists())

    def test_a_key_that_is_not_set_stops_the_load(self):
        with servers.Scripted() as server:
            result = servers.load(server.url, *SMALL, "api_key_env=LOAD_TEST_NO_KEY")
        self.assertEqual(result.code, 3)
        self.assertIn("LOAD_TEST_NO_KEY", result.stderr)
        self.assertFalse(result.folder.exists())

    def test_responses_are_stored_if_asked_for(self):
        with servers.Scripted() as server:
            result = servers.load(server.url, *SMALL, "save_responses=true")
        lines = (result.folder / "responses.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 8)
        self.assertIn("prompt", json.loads(lines[0]))
        self.assertEqual((result.folder / "responses.jsonl").stat().st_mode & 0o077, 0)

    def test_a_trace_gives_the_times(self):
        trace = Path(tempfile.mkdtemp()) / "trace.jsonl"
        trace.write_text("".join(f'{{"at_s": {i / 20}, "output_tokens": {2 + i % 2}}}\n' for i in range(12)))
        with servers.Scripted() as server:
            result = servers.load(server.url, "warmup.requests=2", f"arrival.trace={trace}", "prompts.input_tokens=8")
        self.assertEqual(result.load["loop"], "trace")
        self.assertEqual(result.load["counts"]["succeeded"], 10)
        self.assertEqual(result.load["counts"]["output_tokens"], 25)
        starts = [request["start_ns"] for request in result.requests]
        self.assertEqual({round((b - a) / 1e6) for a, b in zip(starts, starts[1:])}, {50})

    def test_a_time_is_measured(self):
        with servers.Scripted() as server:
            result = servers.load(server.url, "warmup.requests=2", "measure.seconds=1", "arrival.rate=40",
                                  "prompts.input_tokens=8", "prompts.output_tokens=2")
        starts = [request["start_ns"] for request in result.requests]
        self.assertLess(starts[-1] - starts[0], 1e9)
        self.assertGreater(len(starts), 15)

    def test_alternatives_that_contradict_each_other_are_refused(self):
        result = servers.load("http://127.0.0.1:1", "arrival.rate=4", "arrival.concurrency=2")
        self.assertEqual(result.code, 2)
        self.assertIn("only one of concurrency, rate and trace may be set", result.stderr)

    def test_a_server_that_only_has_completions(self):
        with servers.Scripted() as server:
            result = servers.load(server.url + "/proxy", *SMALL)
        self.assertEqual(result.code, 0, result.stderr)
        self.assertEqual(result.load["prompts"]["length"], "exact")
        plain = subprocess.run([servers.PROFLINE, "load"], capture_output=True, text=True)
        self.assertEqual(plain.returncode, 2)
        self.assertIn("name the server to load", plain.stderr)

    def test_an_interrupt_keeps_what_was_measured(self):
        folder = Path(tempfile.mkdtemp()) / "run"
        with servers.Scripted("--gap", 5) as server:
            process = subprocess.Popen(
                [servers.PROFLINE, "load", server.url, f"hydra.run.dir={folder}", servers.LOAD + "measure.seconds=60",
                 servers.LOAD + "prompts.output_tokens=4"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(3)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        load = json.loads((folder / "load.json").read_text())
        self.assertTrue(load["interrupted"])
        self.assertGreater(load["counts"]["succeeded"], 0)
        self.assertEqual(json.loads((folder / "run.json").read_text())["state"], "interrupted")


if __name__ == "__main__":
    unittest.main()
