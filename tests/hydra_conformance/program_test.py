#!/usr/bin/env python3
"""Tests the conformance program itself: its output, its counts and its exit codes.

    program_test.py PROGRAM
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = None

GOOD = {
    "type": "CHANGE",
    "key": "a",
    "package": None,
    "value_type": "ELEMENT",
    "value": 1,
    "value_str": "1",
}


def vector(number, override, expected, **more):
    return {
        "id": f"override_parse/t{number}",
        "kind": "override_parse",
        "input": {"override": override},
        "expected": expected,
        **more,
    }


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_on(self, vectors, *arguments):
        text = "".join(json.dumps(one) + "\n" for one in vectors)
        (self.path / "vectors.jsonl").write_text(text)
        return self.run_program(str(self.path), *arguments)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)

    def test_counts_what_passes(self):
        done = self.run_on([vector(1, "a=1", {"ok": True, **GOOD})])
        self.assertEqual(done.stdout, "quirks: 0 passed, 0 failed\n1 passed, 0 failed\n")
        self.assertEqual(done.returncode, 0)

    def test_shows_expected_and_got(self):
        done = self.run_on([vector(1, "a=1", {"ok": True, **GOOD, "value": 1.0})])
        self.assertEqual(
            done.stdout,
            "override_parse/t1: value\n"
            '  input    {"override":"a=1"}\n'
            '  expected {"ok":true,"type":"CHANGE","key":"a","package":null,"value_type":"ELEMENT","value":1.0,"value_str":"1"}\n'
            '  got      {"ok":true,"type":"CHANGE","key":"a","package":null,"value_type":"ELEMENT","value":1,"value_str":"1"}\n'
            "quirks: 0 passed, 0 failed\n0 passed, 1 failed\n",
        )
        self.assertEqual(done.returncode, 1)

    def test_compares_int_with_float_key_order_missing_fields_and_categories(self):
        def differing(override, expected):
            first = self.run_on([vector(1, override, expected)]).stdout.splitlines()[0]
            return first.removeprefix("override_parse/t1: ")

        mapping = {**GOOD, "value": {"b": 2, "a": 1}, "value_str": "{a:1,b:2}"}
        self.assertEqual(differing("a={a:1,b:2}", {"ok": True, **mapping}), "value")
        self.assertEqual(differing("a=1", {"ok": True, **GOOD, "sweep": []}), "sweep")
        without = {name: value for name, value in GOOD.items() if name != "value_str"}
        self.assertEqual(differing("a=1", {"ok": True, **without}), "value_str")
        self.assertEqual(differing("a=[", {"ok": False, "error": {"category": "lexer"}}), "error.category")
        self.assertEqual(
            differing("a=1", {"ok": False, "error": {"category": "lexer"}}),
            "ok, error, type, key, package, value_type, value, value_str",
        )
        passed = self.run_on([vector(1, "a=[", {"ok": False, "error": {"category": "syntax", "message": "x"}})])
        self.assertEqual(passed.returncode, 0)

    def test_counts_quirks_apart(self):
        wrong = {"ok": True, **GOOD, "value": 2}
        done = self.run_on(
            [
                vector(1, "a=1", wrong, quirk=True),
                vector(2, "a=1", {"ok": True, **GOOD}, quirk=True),
                vector(3, "a=1", {"ok": True, **GOOD}),
            ]
        )
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "override_parse/t1 (quirk): value")
        self.assertEqual(lines[-2:], ["quirks: 1 passed, 1 failed", "1 passed, 0 failed"])
        self.assertEqual(done.returncode, 0)

    def test_a_kind_it_does_not_know_fails(self):
        done = self.run_on([{"id": "x/1", "kind": "x", "input": {}, "expected": {"ok": True}}])
        self.assertEqual(
            done.stdout,
            "x/1: kind 'x' is not supported yet\nquirks: 0 passed, 0 failed\n0 passed, 1 failed\n",
        )
        self.assertEqual(done.returncode, 1)

    def test_runs_only_the_kinds_asked_for(self):
        unknown = {"id": "x/1", "kind": "x", "input": {}, "expected": {"ok": True}}
        done = self.run_on([unknown, vector(1, "a=1", {"ok": True, **GOOD})], "--kind", "override_parse")
        self.assertEqual(done.stdout, "quirks: 0 passed, 0 failed\n1 passed, 0 failed\n")

    def test_writes_its_answers(self):
        answers = self.path / "answers"
        sweep = {
            "id": "sweep/t2",
            "kind": "sweep",
            "input": {"overrides": ["a=1,2"], "max_batch_size": 1},
            "expected": {"ok": True, "batches": []},
        }
        self.run_on([vector(1, "a=inf", {"ok": True}), sweep], "--answers", str(answers))
        lines = [json.loads(line) for line in answers.read_text().splitlines()]
        infinite = {**GOOD, "value": {"$float": "inf"}, "value_str": "inf"}
        self.assertEqual(
            lines,
            [
                {"id": "override_parse/t1", "kind": "override_parse", "expected": {"ok": True, **infinite}},
                {"id": "sweep/t2", "kind": "sweep", "expected": {"ok": True, "batches": [[["a=1"]], [["a=2"]]]}},
            ],
        )

    def test_refuses_what_it_cannot_read(self):
        (self.path / "vectors.jsonl").write_text('{"id": "x"}\n')
        done = self.run_program(str(self.path))
        self.assertEqual(done.stderr, "hydra_conformance: vectors.jsonl:1:1:1: no text 'kind'\n")
        self.assertEqual(done.returncode, 2)
        absent = self.run_program(str(self.path / "absent"))
        self.assertEqual(absent.returncode, 3)
        self.assertIn("cannot list the vectors in ", absent.stderr)
        usage = self.run_program("--what")
        self.assertEqual(usage.returncode, 2)
        self.assertTrue(usage.stderr.startswith("hydra_conformance: unknown argument '--what'\nusage: "))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
