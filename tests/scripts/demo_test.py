#!/usr/bin/env python3
"""Runs scripts/demo, with and without the workload: it ends in a verdict, the page and what to do next.

    demo_test.py PROGRAMS_FOLDER
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.argv[1]).resolve()
PAGE = re.compile(r"docs/\S+\.md")


class Demo(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = Path(scratch.name).resolve()
        (self.tree / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/demo", self.tree / "scripts/demo")
        (self.tree / "build/bin").mkdir(parents=True)

    def output_with(self, *programs):
        for name in programs:
            (self.tree / "build/bin" / name).symlink_to(PROGRAMS / name)
        done = subprocess.run([self.tree / "scripts/demo"], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for page in PAGE.findall(done.stdout):
            self.assertTrue((ROOT / page).is_file(), page)
        self.assertIn("\nNext:\n", done.stdout)
        return done.stdout

    def test_ends_in_a_verdict_and_what_to_do_next(self):
        if not (PROGRAMS / "profline-workload").is_file():
            self.skipTest("profline-workload was not built")
        text = self.output_with("profline", "profline-workload")
        verdict = re.search(r"^verdict +(.+)$", text, re.M)
        self.assertIsNotNone(verdict, text)
        # What limits the phase depends on the machine; that the run is long enough to say so does not.
        self.assertRegex(verdict.group(1), r"\bis (host|launch|memory|compute)-bound|dominated by one limit")
        self.assertNotIn("No verdict", verdict.group(1))
        self.assertNotIn("Too short to tell", verdict.group(1))
        page = re.search(r"open in a browser +(.+)$", text, re.M)
        self.assertIsNotNone(page, text)
        self.assertTrue(Path(page.group(1)).is_file(), page.group(1))
        self.assertTrue(page.group(1).startswith(str(self.tree)), page.group(1))

    def test_without_libtorch_it_shows_how_fast_a_model_could_be(self):
        text = self.output_with("profline")
        self.assertNotIn("verdict", text)
        self.assertRegex(text, r"\nwhole request: .* floor [0-9.]+ ms")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
