#!/usr/bin/env python3
"""Captures of several ranks that others published.

    tests/ranks/public_captures_test.py PROFLINE

PROFLINE_PUBLIC_CAPTURES is a folder with clones of the repositories that hold them, each below OWNER/NAME; no capture is part
of this repository. Exits with 77, which CTest takes for skipped, without it.

- facebookresearch/HolisticTraceAnalysis: tests/data/trace_filter, two of 128 ranks of a recommendation model on NCCL, sampled.
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

PROFLINE = ""
CAPTURES = Path(os.environ.get("PROFLINE_PUBLIC_CAPTURES", ""))


class HolisticTraceAnalysis(unittest.TestCase):
    def test_two_ranks_of_128(self):
        folder = CAPTURES / "facebookresearch/HolisticTraceAnalysis/tests/data/trace_filter"
        files = [folder / f"sampled_rank-{rank}.json.gz" for rank in (0, 1)]
        done = subprocess.run([PROFLINE, "trace", *map(str, files), "--format", "json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        analysis = json.loads(done.stdout)
        self.assertEqual(analysis["schema"], "profline.rank_analysis/1")
        self.assertEqual((analysis["ranks_from"], analysis["world_size"]), ("the captures themselves", 128))
        # Kernels named SendRecv, which the marks around their launches tell apart.
        self.assertEqual({row["name"]: row["instances"] for row in analysis["collectives"]},
                         {"nccl:all_to_all": 4, "nccl:all_reduce": 4, "nccl:_all_gather_base": 2})
        # The ends of their collectives do not relate their clocks, and 126 ranks are missing: nothing is claimed.
        self.assertEqual(analysis["ranks"][1]["clock"]["state"], "not-aligned")
        self.assertIn("the ends of its collectives disagree", analysis["ranks"][1]["clock"]["why_not"])
        self.assertEqual(analysis["classes"], {"transfer": 0, "skew": 0, "mixed": 0, "inconclusive": 10})
        self.assertIsNone(analysis["stragglers"][0]["rank"])
        self.assertIn("2 of 128 ranks were captured: a rank that was not may be later than those shown", analysis["notes"])
        for rank in analysis["ranks"]:
            time = rank["time"]
            self.assertEqual(time["compute_ns"] + time["copy_ns"] + time["exposed_ns"] + time["idle_ns"], time["wall_ns"])


if __name__ == "__main__":
    PROFLINE = sys.argv.pop(1)
    if not os.environ.get("PROFLINE_PUBLIC_CAPTURES"):
        print("skipped: PROFLINE_PUBLIC_CAPTURES names no folder of public captures")
        sys.exit(77)
    unittest.main(verbosity=2)
