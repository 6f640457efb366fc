#!/usr/bin/env python3
"""check_artifact_names finds each kind of spelled name in a small tree made for it, and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent / "check_artifact_names"
NAMES = '''
inline constexpr const char* kLog = "log";
inline constexpr const char* kRecord = "run.json";
inline constexpr const char* kRanges = "ranges.json";
// unchecked: a model has one too
inline constexpr const char* kHandedConfig = "config.json";
'''


class CheckArtifactNames(unittest.TestCase):
    def check(self, text, where="src/web/page.cpp"):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, content in {"src/run/names/artifact_names.h": NAMES, where: text}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            (root / "apps").mkdir(exist_ok=True)
            result = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
            self.assertEqual(result.stderr, "")
            self.assertEqual(result.returncode != 0, bool(result.stdout.strip()))
            return result.stdout.strip()

    def test_finds_a_name(self):
        self.assertEqual(
            self.check('\n  return folder / "run.json";\n'),
            'src/web/page.cpp:2: "run.json" has a constant in src/run/names/artifact_names.h',
        )

    def test_finds_a_path_that_ends_in_a_name(self):
        self.assertIn('"nsys/ranges.json"', self.check('read("nsys/ranges.json");'))

    def test_finds_a_name_in_two_parts(self):
        self.assertEqual(
            self.check('return folder / ("ranges" + suffix + ".json");'),
            'src/web/page.cpp:1: "ranges….json" has a constant in src/run/names/artifact_names.h',
        )

    def test_finds_a_name_after_a_comment_of_several_lines(self):
        self.assertIn("page.cpp:3:", self.check('/* one\n two */\nread("run.json");  // "ranges.json"\n'))

    def test_looks_into_apps_headers_and_cuda(self):
        for where in ("apps/profline/main.cpp", "src/web/page.h", "src/workload/kernels.cu"):
            self.assertIn(where, self.check('f("run.json");', where))

    def test_leaves_text_for_people_alone(self):
        for text in ('// see "run.json"\n', '/* "run.json" */', 'say("writes run.json and more");'):
            self.assertEqual(self.check(text), "")

    def test_leaves_other_names_alone(self):
        for text in ('f("my_run.json");', 'f("log");', 'f("config.json");', '#include "web/run.json"'):
            self.assertEqual(self.check(text), "")

    def test_leaves_tests_and_src_run_alone(self):
        for where in ("src/web/page_test.cpp", "src/testing/runs/run.cpp", "src/run/journal.cpp"):
            self.assertEqual(self.check('f("run.json");', where), "")


if __name__ == "__main__":
    unittest.main()
