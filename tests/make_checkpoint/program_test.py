"""Runs profline-make-checkpoint like a user does; its output is read without our own code."""

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


class MakeCheckpoint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def read_shard(self, folder):
        index = json.loads((folder / "model.safetensors.index.json").read_text())
        (name,) = set(index["weight_map"].values())
        data = (folder / name).read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        self.assertEqual(header.pop("__metadata__"), {"format": "pt"})
        self.assertEqual(set(header), set(index["weight_map"]))
        self.assertEqual(index["metadata"]["total_size"], len(data) - 8 - length)
        return header, data[8 + length :]

    def test_writes_the_tiny_model(self):
        out = self.folder / "tiny"
        result = run("--variant", "tiny", "--dtype", "f32", str(out))
        self.assertEqual((result.returncode, result.stdout), (0, f"{out}\n"), result.stderr)
        self.assertEqual(
            sorted(path.name for path in out.iterdir()),
            [
                "config.json",
                "model-00001-of-000001.safetensors",
                "model.safetensors.index.json",
                "tokenizer.json",
                "tokenizer_config.json",
            ],
        )
        header, data = self.read_shard(out)
        self.assertEqual(len(header), 180)
        begin, _ = header["lm_head.weight"]["data_offsets"]
        self.assertEqual(
            struct.unpack("<3f", data[begin : begin + 12]), (0.427734375, 0.419921875, -0.396484375)
        )
        config = json.loads((out / "config.json").read_text())
        self.assertEqual(config["torch_dtype"], "float32")
        self.assertEqual(config["language_config"]["hidden_size"], 64)
        tokenizer = json.loads((out / "tokenizer.json").read_text())
        self.assertEqual(len(tokenizer["model"]["merges"]), 61)
        self.assertEqual(tokenizer["added_tokens"][3]["content"], "<image>")

    def test_writes_halves_unless_told_otherwise(self):
        out = self.folder / "tiny"
        self.assertEqual(run(str(out)).returncode, 0)
        header, data = self.read_shard(out)
        self.assertEqual({tensor["dtype"] for tensor in header.values()}, {"BF16"})
        self.assertEqual(len(data), 2 * 466464)

    def test_does_not_overwrite(self):
        self.assertEqual(run(str(self.folder)).returncode, 0)
        result = run(str(self.folder))
        self.assertEqual(result.returncode, 2)
        self.assertIn("already holds a checkpoint (model.safetensors.index.json)", result.stderr)

    def test_says_what_it_takes(self):
        result = run("--variant", "huge", str(self.folder))
        self.assertEqual(result.returncode, 2)
        self.assertIn("--variant: huge not in {tiny,full}", result.stderr)
        self.assertEqual(run().returncode, 2)
        self.assertIn("OUT", run("--help").stdout)


if __name__ == "__main__":
    unittest.main()
