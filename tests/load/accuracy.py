#!/usr/bin/env python3
"""Measures how accurate the load generator is, against a server that logs when it really sent each event.

    tests/load/accuracy.py [STREAMS [TOKENS_PER_SECOND [ROUNDS]]]      default: 64 100 3

Prints the errors of time to first token and of inter-token latency, and what the client itself states. Needs a build.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("PROFLINE", str(ROOT / "build/bin/profline"))
os.environ.setdefault("SCRIPTED_SERVER", str(ROOT / "build/tests/scripted_server"))

import servers  # noqa: E402
from known_schedule_test import sent_times  # noqa: E402


def quantiles(values):
    values = sorted(values)
    at = lambda q: values[min(len(values) - 1, int(q * len(values)))]
    return f"p50 {at(0.5):.3f}  p99 {at(0.99):.3f}  max {values[-1]:.3f} ms  ({len(values)} values)"


def measure(streams, per_second):
    log = Path(tempfile.mkdtemp()) / "log"
    with servers.Scripted("--ttft", 50, "--gap", 1000 / per_second, "--log", log) as server:
        result = servers.load(server.url, f"arrival.concurrency={streams}", f"warmup.requests={streams}",
                              f"measure.requests={4 * streams}", "prompts.input_tokens=16",
                              f"prompts.output_tokens={per_second}", "save_responses=true", limit=300)
    times = sent_times(log)
    texts = {}
    for line in (result.folder / "responses.jsonl").read_text().splitlines():
        row = json.loads(line)
        texts[row["id"]] = row["text"]
    ttft, itl = [], []
    for request in result.requests:
        sent = [(before + after) / 2 for before, after in times[int(texts[request["id"]].split()[0][1:])]]
        first = request["start_ns"] + request["ttft_ns"]
        ttft.append(abs(first - sent[0]) / 1e6)
        steps = next(p["steps_ns"] for p in request["phases"] if p["path"] == "decode")
        itl += [abs(step - (b - a)) / 1e6 for step, a, b in zip(steps, sent, sent[1:])]
    client = result.load["client"]
    print(f"TTFT error         {quantiles(ttft)}")
    print(f"ITL error          {quantiles(itl)}")
    for name in ("send_lateness", "event_delay", "event_error"):
        print("stated {:<12}p50 {p50_ms:.3f}  p99 {p99_ms:.3f}  max {max_ms:.3f} ms".format(name, **client[name]))
    marked = {name: metric["marked"] for name, metric in result.load["metrics"].items() if metric and metric.get("marked")}
    print(f"marked {marked or 'nothing'}; busy {client['busy_share']:.0%}; limit {result.load['limit']}; "
          f"load average {os.getloadavg()[0]:.1f}\n", flush=True)


def main():
    streams, per_second, rounds = (list(map(int, sys.argv[1:])) + [64, 100, 3][len(sys.argv) - 1:])[:3]
    for _ in range(rounds):
        measure(streams, per_second)


if __name__ == "__main__":
    main()
