#!/usr/bin/env python3
"""Creates the folder in which the commands of every page of documentation start. CONTRIBUTING.md describes it.

make_workbench.py BUILD FOLDER
"""

import shutil
import subprocess
import sys
from pathlib import Path

from check_page import environment

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
SMALL = ["dataset.pages=2", "dataset.page_sizes=[96x64]", "infer.max_new_tokens=8", "pipeline.workload.threads=1"]


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
    shutil.copy(GOLDEN / "pictures/png-rgb/input.png", folder / "scan.png")
    shutil.copytree(ROOT / "docs/examples", folder / "docs/examples")
    for name in ("20261115-100000", "20261115-110000"):
        argv = [build / "bin/profline", "demo", "-q", "pipeline.nsys.enable=false", *SMALL, f"hydra.run.dir=tmp/profile-output/{name}"]
        subprocess.run(argv, cwd=folder, env=environment(build, None, folder), check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
