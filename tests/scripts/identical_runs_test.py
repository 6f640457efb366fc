#!/usr/bin/env python3
"""What scripts/identical_runs makes longer in the runs whose slowness `profline compare` should find."""

import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # beside a script there would be a folder __pycache__
SCRIPT = Path(__file__).resolve().parents[2] / "scripts/identical_runs"


def load(script):
    loader = importlib.machinery.SourceFileLoader(script.name, str(script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(script.name, loader))
    loader.exec_module(module)
    return module


class PlantedSlowness(unittest.TestCase):
    def test_is_in_every_time_and_nothing_else(self):
        request = {
            "id": 10,
            "start_ns": 1000,
            "ns": 500,
            "ttft_ns": 100,
            "prompt_tokens": 60,
            "new_tokens": 64,
            "batch": 10,
            "phases": [
                {"path": "prefill", "start_ns": 0, "ns": 100},
                {"path": "decode", "start_ns": 100, "ns": 400, "steps_ns": [200, 210]},
            ],
            "attributes": {"image": "page-0001", "index": 20},
        }
        self.assertEqual(
            load(SCRIPT).lengthened(request),
            {
                **request,
                "start_ns": 1100,
                "ns": 550,
                "ttft_ns": 110,
                "phases": [
                    {"path": "prefill", "start_ns": 0, "ns": 110},
                    {"path": "decode", "start_ns": 110, "ns": 440, "steps_ns": [220, 231]},
                ],
            },
        )


if __name__ == "__main__":
    unittest.main()
