#!/usr/bin/env python3
"""Tests deepseek_ocr_parity itself: its findings, its output and its exit codes.

    program_test.py PROGRAM FIXTURE
"""

import json
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = None
FIXTURE = None
CASE = "g512"  # the smallest


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    return header, bytearray(data[8 + length :])


def write_safetensors(path, header, body):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "model"
        shutil.copytree(FIXTURE, self.folder)

    def run_program(self, *arguments, case=CASE):
        command = [PROGRAM, self.folder, "--threads", "1", *(["--case", case] if case else []), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def expect_error(self, result, code, message):
        self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
        self.assertEqual(result.stderr, f"deepseek_ocr_parity: {message}\n")

    def edit_json(self, name, edit):
        tree = json.loads((self.folder / name).read_text())
        edit(tree)
        (self.folder / name).write_text(json.dumps(tree))

    def edit_tensor(self, file, name, edit):
        """`edit` changes the tensor's bytes in place."""
        header, body = read_safetensors(self.folder / file)
        begin, end = header[name]["data_offsets"]
        part = body[begin:end]
        edit(part)
        body[begin:end] = part
        write_safetensors(self.folder / file, header, body)

    def test_the_fixture_is_within_the_limits(self):
        result = self.run_program()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], CASE)
        self.assertEqual([line.split()[0] for line in lines[1:7]],
                         ["sam", "clip", "proj", "image_tokens", "prefill_logits", "decode_logits"])
        self.assertIn("24 of 24 equal", lines[7])
        self.assertIn("24 of 24 equal", lines[8])
        self.assertEqual(lines[9], "all within the limits")

    def test_out_has_every_tensor_and_id(self):
        out = self.folder / "out.safetensors"
        self.assertEqual(self.run_program("--out", out).returncode, 0)
        computed, body = read_safetensors(out)
        expected, _ = read_safetensors(self.folder / "expected.safetensors")
        for name, tensor in expected.items():
            if name.startswith(CASE + "."):
                self.assertEqual(computed[name]["shape"], tensor["shape"], name)
        cases = json.loads((self.folder / "cases.json").read_text())["cases"]
        ids = next(case["greedy_ids"] for case in cases if case["case"] == CASE)
        begin, end = computed[f"{CASE}.greedy_ids"]["data_offsets"]
        self.assertEqual(list(struct.unpack(f"<{len(ids)}q", body[begin:end])), ids)
        self.assertEqual(computed[f"{CASE}.forced_ids"]["shape"], [len(ids) + 1])

    def test_a_wrong_number_fails(self):
        def off_by_little(part):
            (value,) = struct.unpack("<f", part[40:44])
            part[40:44] = struct.pack("<f", value + 0.002)

        for name in ("prefill_logits", "image_tokens"):
            with self.subTest(name):
                self.edit_tensor("expected.safetensors", f"{CASE}.{name}", off_by_little)
                result = self.run_program()
                self.assertEqual(result.returncode, 1, result.stdout)
                line = next(line for line in result.stdout.splitlines() if line.split()[0] == name)
                self.assertTrue(line.endswith("FAILED"), line)
                self.assertRegex(line, r"abs (1\.9|2\.0).e-03")

    def test_a_number_that_is_none_fails(self):
        self.edit_tensor("expected.safetensors", f"{CASE}.decode_logits",
                         lambda part: part.__setitem__(slice(0, 4), struct.pack("<f", float("nan"))))
        result = self.run_program()
        self.assertEqual(result.returncode, 1)
        self.assertIn("abs inf", result.stdout)

    def test_a_wrong_id_fails(self):
        def change(tree):
            case = next(case for case in tree["cases"] if case["case"] == CASE)
            case["greedy_ids"][-1] ^= 1

        self.edit_json("cases.json", change)
        result = self.run_program()
        self.assertEqual(result.returncode, 1)
        self.assertIn("23 of 24 equal   FAILED\n    id 23: 83, the reference 82 (margin ", result.stdout)

    def test_other_weights_fail(self):
        self.edit_tensor("model.safetensors", "model.image_newline",
                         lambda part: part.__setitem__(slice(0, 4), struct.pack("<f", 5.0)))
        self.assertEqual(self.run_program().returncode, 1)

    def test_what_is_missing_is_named(self):
        self.expect_error(self.run_program(case="g99"), 3, "cases.json has no case 'g99'")
        (self.folder / "expected.safetensors").unlink()
        self.expect_error(self.run_program(), 3,
                          f"cannot read {self.folder}/expected.safetensors: no such file")
        (self.folder / "cases.json").unlink()
        self.expect_error(self.run_program(), 3, f"cannot read {self.folder}/cases.json: no such file")

    def test_what_is_malformed_is_named(self):
        self.edit_json("cases.json", lambda tree: tree["cases"][2].update(seq_len=84))
        self.expect_error(self.run_program(), 2,
                          "case g512: seq_len is 84, but ids and image slots are 83")
        self.edit_json("cases.json", lambda tree: tree["cases"][2].update(seq_len=83, ids_after=[5, 512]))
        self.edit_json("cases.json", lambda tree: tree["cases"][2].update(seq_len=76))
        self.expect_error(self.run_program(), 2, "case g512: id 512 is outside of the vocabulary of 512")
        self.edit_json("cases.json", lambda tree: tree["cases"][2].update(grid_wh=[2]))
        self.expect_error(self.run_program(), 2,
                          f"{self.folder}/cases.json: case 'g512': grid_wh must be two numbers")

    def test_a_weight_of_another_shape_is_named(self):
        self.edit_json("config.json", lambda tree: (tree.update(moe_intermediate_size=16),
                                                    tree["language_config"].update(moe_intermediate_size=16)))
        result = self.run_program()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("model.layers.1.mlp.experts.0.down_proj.weight", result.stderr)

    def test_a_device_that_is_not_there_is_exit_3(self):
        result = self.run_program("--device", "cuda:77")
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("cannot use device cuda:77", result.stderr)
        self.expect_error(self.run_program("--device", "tpu"), 2,
                          "there is no device named 'tpu' (cpu, cuda, cuda:N)")


if __name__ == "__main__":
    PROGRAM, FIXTURE = sys.argv[1], Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
