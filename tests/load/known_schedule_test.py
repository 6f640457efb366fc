"""Against a server that logs when it really sent each event: the error that the client states covers its real error.

There is no bar on the error itself here: that depends on the machine (accuracy.py measures it).
"""

import json
import tempfile
import unittest
from pathlib import Path

import servers


def sent_times(log):
    """Of each request of the server: before and after each of its events was sent."""
    times = {}
    for line in Path(log).read_text().splitlines():
        request, _, before, after = map(int, line.split())
        times.setdefault(request, []).append((before, after))
    return times


def event_errors(result, times):
    """How far the client's time of each event is from the interval in which it was sent, in ms."""
    texts = {}
    for line in (result.folder / "responses.jsonl").read_text().splitlines():
        row = json.loads(line)
        texts[row["id"]] = row["text"]
    errors = []
    for request in result.requests:
        number = int(texts[request["id"]].split()[0][1:])
        at = request["start_ns"] + request["ttft_ns"]
        steps = next((p["steps_ns"] for p in request["phases"] if p["path"] == "decode"), [])
        for (before, after), step in zip(times[number], [0, *steps]):
            at += step
            errors.append(max(0, before - at, at - after) / 1e6)
    return sorted(errors)


class KnownSchedule(unittest.TestCase):
    def test_the_stated_error_covers_the_real_one(self):
        log = Path(tempfile.mkdtemp()) / "log"
        with servers.Scripted("--ttft", 30, "--gap", 10, "--log", log) as server:
            result = servers.load(server.url, "arrival.concurrency=16", "warmup.requests=16", "measure.requests=64",
                                  "prompts.input_tokens=16", "prompts.output_tokens=30", "save_responses=true")
        self.assertEqual(result.load["counts"]["succeeded"], 64, result.load["errors"])
        errors = event_errors(result, sent_times(log))
        self.assertEqual(len(errors), 64 * 30)
        client = result.load["client"]
        # Loopback and the server's own call take a little, which the client cannot know.
        self.assertLessEqual(errors[int(len(errors) * 0.99)],
                             client["event_delay"]["p99_ms"] + client["event_error"]["p99_ms"] + 0.5)
        for request in result.requests:
            self.assertIn("lateness_ns", request["attributes"])
            self.assertIn("event_delay_ns", request["attributes"])
            self.assertEqual(request["new_tokens"], 30)
            self.assertGreaterEqual(request["ttft_ns"], 30_000_000)

    def test_a_stall_shows_in_the_tail_of_an_open_loop(self):
        with servers.Scripted("--ttft", 5, "--gap", 1, "--stall", 75, 2) as server:
            result = servers.load(server.url, "arrival.rate=50", "arrival.process=constant", "warmup.requests=10",
                                  "measure.requests=300", "prompts.input_tokens=16", "prompts.output_tokens=4")
        ttft = result.load["metrics"]["ttft"]
        self.assertEqual(ttft["n"], 300, result.load["errors"])
        self.assertGreater(ttft["p99"]["value"], 1500, "requests that were due in the stall waited for its end")
        self.assertGreater(ttft["max_ms"], 1900)
        self.assertGreater(sum(r["ttft_ns"] > 1e9 for r in result.requests), 30, "all that were due in it, not one")

    def test_usage_counts_and_its_absence_is_stated(self):
        with servers.Scripted("--no-usage") as server:
            result = servers.load(server.url, "warmup.requests=0", "measure.requests=8", "prompts.output_tokens=5")
        self.assertEqual(result.load["counts"]["tokens_estimated"], 8)
        self.assertEqual(result.load["counts"]["output_tokens"], 40)
        self.assertIn("tokens_estimated", [finding["code"] for finding in result.load["findings"]])


if __name__ == "__main__":
    unittest.main()
