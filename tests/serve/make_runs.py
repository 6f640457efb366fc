#!/usr/bin/env python3
"""Writes made-up runs for tests of `profline serve`: small, but read like real ones.

    make_runs.py ROOT [--runs N] [--series N] [--step-at N] [--step SHARE] [--noise SHARE] [--requests N]

Each series is an experiment; the first one becomes slower by SHARE at its run number N, whose commit is `planted`.
"""

import argparse
import datetime
import json
import random
from pathlib import Path

MODELS = ["deepseek_ocr", "llama-8b", "qwen3-32b", "mixtral-8x7b"]
DEVICES = ["NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"]
STATES = ["ok"] * 17 + ["failed", "interrupted", "ok"]
BEGIN = datetime.datetime(2025, 1, 6, 3, 0, tzinfo=datetime.timezone.utc)


def text(moment: datetime.datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def request_line(number: int, token_ms: float, prefill_ms: float, tokens: int) -> str:
    token_ns = int(token_ms * 1e6)
    prefill_ns = int(prefill_ms * 1e6)
    decode_ns = token_ns * (tokens - 1)
    return json.dumps({
        "id": number, "source": "builtin", "start_ns": number * 10**9, "ns": prefill_ns + decode_ns, "new_tokens": tokens,
        "phases": [{"path": "prefill", "start_ns": 0, "ns": prefill_ns},
                   {"path": "decode", "start_ns": prefill_ns, "ns": decode_ns, "steps_ns": [token_ns] * (tokens - 1)}],
        "attributes": {"image": f"page-{number}"}})


def write_run(folder: Path, *, experiment: str, model: str, device: str, state: str, moment, commit: str,
              token_ms: float, requests: int, rng: random.Random, noise: float) -> None:
    (folder / "baseline").mkdir(parents=True)
    stages = [{"name": "baseline", "state": "ok" if state == "ok" else "failed", "started": text(moment),
               "ended": text(moment + datetime.timedelta(seconds=40))}]
    record = {"schema": "profline.run/1", "id": folder.name, "experiment": experiment, "state": state,
              "exit_code": 0 if state == "ok" else 1, "started": text(moment),
              "ended": text(moment + datetime.timedelta(seconds=42)), "version": "0.1.0", "commit": commit,
              "device": "cuda:0", "host": "node7", "stages": stages}
    (folder / "config.resolved.json").write_text(json.dumps({"model": {"name": model}, "device": "cuda:0"}))
    (folder / "env.json").write_text(json.dumps({"schema": "profline.env/1", "cpu": {"model": "EPYC 9654"},
                                                 "gpus": [{"index": 0, "name": device}]}))
    if state == "ok":
        # Requests of a run differ less than runs do.
        lines = [request_line(i, token_ms * (1 + rng.gauss(0, noise / 4)), token_ms * 9, 8) for i in range(requests)]
        (folder / "baseline/requests.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "run.json").write_text(json.dumps(record))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--series", type=int, default=1)
    parser.add_argument("--step-at", type=int)
    parser.add_argument("--step", type=float, default=0.03)
    parser.add_argument("--noise", type=float, default=0.003)
    parser.add_argument("--requests", type=int, default=1)
    parser.add_argument("--all-ok", action="store_true", help="every run succeeded")
    given = parser.parse_args()
    rng = random.Random(8)
    for number in range(given.runs):
        series, place = number % given.series, number // given.series
        level = 2.0 + 0.37 * series
        commit = f"{rng.getrandbits(160):040x}"[:12]
        if series == 0 and given.step_at is not None and place >= given.step_at:
            level *= 1 + given.step
            if place == given.step_at:
                commit = "planted"
        moment = BEGIN + datetime.timedelta(minutes=47 * number)
        write_run(given.root / f"{moment:%Y%m%d-%H%M%S}", experiment=f"nightly-{series}" if given.series > 1 else "nightly",
                  model=MODELS[series % len(MODELS)], device=DEVICES[series % len(DEVICES)],
                  state="ok" if given.all_ok else rng.choice(STATES), moment=moment, commit=commit,
                  token_ms=level * (1 + rng.gauss(0, given.noise)), requests=given.requests, rng=rng, noise=given.noise)


if __name__ == "__main__":
    main()
