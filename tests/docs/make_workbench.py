#!/usr/bin/env python3
"""Creates the folder in which the commands of every page of documentation start. CONTRIBUTING.md describes it.

make_workbench.py BUILD FOLDER
"""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

from check_page import environment

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
SMALL = ["dataset.pages=2", "dataset.page_sizes=[96x64]", "infer.max_new_tokens=8", "pipeline.workload.threads=1"]


def rank_traces():
    """Traces of four ranks as Kineto writes them. Rank 2 computes 180 us longer in `backward`; clocks are 1.6 ms apart."""
    ranks = range(4)
    events = [[] for _ in ranks]

    def event(rank, category, name, begin, duration, lane, args):
        begin += 1600 * rank
        events[rank].append({"ph": "X", "cat": category, "name": name, "pid": lane, "tid": lane, "ts": begin, "dur": duration, "args": args})

    now = [1000.0] * len(ranks)
    correlation = 0
    for step in range(12):
        for phase in ("forward", "backward"):
            arrivals = [now[r] + 900 + (7 * r + 13 * step) % 19 + (180 if r == 2 and phase == "backward" else 0) for r in ranks]
            end = max(arrivals) + 120
            about = {"Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576, "dtype": "BFloat16",
                     "Group size": 4, "Process Group Name": "0", "Process Group Description": "default_pg",
                     "Process Group Ranks": "[0, 1, 2, 3]"}
            for r in ranks:
                lane = 100 + r
                event(r, "user_annotation", phase, now[r] - 20, end - now[r], lane, {})
                for name, begin, until, args in (("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT", now[r], arrivals[r], {"stream": 7}),
                                                 ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                                                  arrivals[r], end + (r + step) % 3, {"stream": 20, **about})):
                    correlation += 1
                    event(r, "cuda_runtime", "cudaLaunchKernelExC", begin - 10, 5, lane, {"correlation": correlation})
                    event(r, "kernel", name, begin, until - begin, 0, {"device": 0, "correlation": correlation, **args})
                now[r] = end + 10
    return [{"baseTimeNanoseconds": 1790857026000000000, "distributedInfo": {"backend": "nccl", "rank": r, "world_size": 4},
             "traceEvents": events[r]} for r in ranks]


def main():
    build, folder = (Path(word).resolve() for word in sys.argv[1:3])
    if not (build / "bin/profline-workload").exists():
        print("skipped: no profline-workload")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "captures").mkdir(parents=True)
    shutil.copy(GOLDEN / "trace/kineto-torch-2.11-h200.json.gz", folder / "captures/decode.json.gz")
    shutil.copy(GOLDEN / "nsys/2025.3-decode/input.sqlite", folder / "captures/decode.sqlite")
    shutil.copy(GOLDEN / "ncu/2025.3-raw-known-work/input.csv", folder / "captures/ncu-raw.csv")
    for rank, trace in enumerate(rank_traces()):
        capture = folder / f"captures/rank{rank}.json.gz"
        with gzip.GzipFile(capture, "wb", mtime=0) as file:
            file.write(json.dumps(trace).encode())
        of_run = folder / f"runs/four-ranks/torch_profiler/ranks/{rank}"
        of_run.mkdir(parents=True)
        shutil.copy(capture, of_run / "trace.json.gz")
    (folder / "runs/four-ranks/run.json").write_text('{"schema": "profline.run/1", "id": "four-ranks", "state": "ok"}')
    compared = subprocess.run([build / "bin/profline", "ranks", "runs/four-ranks", "--format", "json"], cwd=folder,
                              env=environment(build, None, folder), check=True, capture_output=True)
    (folder / "runs/four-ranks/rank_analysis.json").write_bytes(compared.stdout)
    shutil.copy(GOLDEN / "pictures/png-rgb/input.png", folder / "scan.png")
    shutil.copytree(ROOT / "docs/examples", folder / "docs/examples")
    for name in ("20261115-100000", "20261115-110000"):
        argv = [build / "bin/profline", "demo", "-q", "pipeline.nsys.enable=false", *SMALL, f"hydra.run.dir=tmp/profile-output/{name}"]
        subprocess.run(argv, cwd=folder, env=environment(build, None, folder), check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
