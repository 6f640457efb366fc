#!/usr/bin/env python3
"""Runs the command lines of the Python system: the kernel scripts, the runners and the make targets.

    old_command_lines_test.py PROFLINE FAKE_TOOLS_FOLDER
"""

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ROOT / "scripts/ncu/release"
SH, PY = str(RELEASE / "ncu-profile-kernels.sh"), str(RELEASE / "ncu-profile-kernels.py")
PROFLINE, FAKES = sys.argv[1], sys.argv[2]
TABLE = ROOT / "tests/golden/ncu/2025.3-raw-kernels/input.csv"
GEMM = "void a::gemm<(int)5>(float *)"


class OldCommandLines(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)
        recorder = self.folder / "recorder"
        recorder.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        recorder.chmod(0o755)
        self.recorder = str(recorder)

    def run_it(self, argv, env):
        return subprocess.run(
            argv, cwd=self.folder, env=dict(os.environ, **env), capture_output=True, text=True, timeout=100, check=False
        )

    def recorded(self, argv):
        done = self.run_it(argv, {"PROFLINE": self.recorder})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines(), done.stderr

    def captured(self, argv, **env):
        """Run with the built profline and a stand-in for ncu."""
        path = str(ROOT / "tests/fake_tools") + os.pathsep + os.environ["PATH"]
        return self.run_it(
            argv,
            dict(
                {
                    "PROFLINE": PROFLINE,
                    "PATH": path,
                    "LD_LIBRARY_PATH": FAKES,
                    "FAKE_NCU_TABLE": str(TABLE),
                    "FAKE_NCU_KERNELS": "\n".join([GEMM] * 12),
                },
                **env,
            ),
        )

    def test_defaults_are_the_fourth_seeds(self):
        for script, skip in ((SH, "1"), (PY, "200")):
            words, _ = self.recorded([script, "--kernel-regex", r"a\(b", "--", "./bench", "--size", "2048"])
            text = " ".join(words).replace("=", " ")
            self.assertTrue(text.startswith("kernels profile --no-roofline "), text)
            self.assertIn(f"--num-kernel-call-skip {skip}", text)
            self.assertIn(r"--kernel-regex a\(b", text)
            self.assertIn("/tmp/ncu-profile/", text)
            self.assertNotIn("--ncu-config", text)
            self.assertEqual(words[-4:], ["--", "./bench", "--size", "2048"])

    def test_flags_reach_profline(self):
        flags = ["--kernel-config", "k.yaml", "--topk", "3", "--extra-sections", "A", "B", "--force-overwrite"]
        flags += ["--num-kernel-call-skip", "7", "--num-kernel-call-profile", "2", "--ncu-config", "p.yaml"]
        flags += ["--output-dir", "out dir"]
        expected = ["--topk 3", "--num-kernel-call-skip 7", "--num-kernel-call-profile 2", "--ncu-config p.yaml"]
        expected += ["--output-dir out dir", "--force-overwrite", "--kernel-config k.yaml", "--extra-sections A B"]
        for script in (SH, PY):
            words, _ = self.recorded([script, *flags, "--", "./x"])
            text = " ".join(words).replace("=", " ").replace("A,B", "A B")
            for part in expected:
                self.assertIn(part, text)

    def test_wrong_use_is_exit_2(self):
        for argv in ([PY], [PY, "--kernel-regex", "a"], [PY, "--kernel-regex", "a", "--topk", "3", "--", "x"], [SH]):
            self.assertEqual(self.run_it(argv, {"PROFLINE": PROFLINE}).returncode, 2, argv)
        for argv in ([SH, "--kernel-regex", "a"], [SH, "--kernel-regex", "a", "--topk", "3", "--", "x"]):
            done = self.captured(argv)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_captures_with_the_sections_of_the_preset_and_no_counters(self):
        for script, folder in ((SH, "sh"), (PY, "py")):
            regex = r"gemm<\(int\)\d>"
            done = self.captured([script, "--kernel-regex", regex, "--output-dir", folder, "--", "/bin/app", "it's"])
            self.assertEqual(done.returncode, 0, done.stderr)
            (kernel,) = (self.folder / folder).glob("kernel_0001_*")
            self.assertEqual(kernel.name, "kernel_0001_" + hashlib.md5(b"user_provided").hexdigest())
            record = json.loads((kernel / "capture.json").read_text())
            self.assertEqual(record["state"], "ok")
            argv = record["argv"]
            self.assertNotIn("--metrics", argv)
            self.assertNotIn("--set", argv)
            sections = [argv[i + 1] for i, word in enumerate(argv) if word == "--section"]
            self.assertEqual(sections, ["SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "SchedulerStats"])
            self.assertEqual(argv[argv.index("--kernel-name") + 1], "regex:" + regex)
            self.assertTrue((kernel / "ncu.section_Occupancy.csv").exists())
            self.assertIn("it's", (self.folder / folder / "command.yaml").read_text())

    def test_a_kernel_that_never_runs_is_a_failure(self):
        done = self.captured([PY, "--kernel-regex", "^absent$", "--output-dir", "o", "--", "/bin/app"])
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("no kernel matched '^absent$'", done.stdout)

    def test_profile_says_what_is_wrong(self):
        profile = [PROFLINE, "kernels", "profile"]
        one = ["--kernel-regex", "a"]
        for arguments, message in (
            ([], "'kernels profile' needs --kernel-config FILE or --kernel-regex RE"),
            (one, "'kernels profile' needs a program after '--', as in '-- python infer.py'"),
            (one + ["--kernel-config", "k"], "--kernel-config and --kernel-regex exclude each other"),
            (one + ["--topk", "3"], "--topk needs --kernel-config: a regex is one kernel"),
            (one + ["--num-kernel-call-skip", "-1"], "--num-kernel-call-skip must be an integer from 0 to 1000000000, not '-1'"),
            (one + ["--sample-launches", "2", "--num-kernel-call-skip", "3"],
             "--sample-launches chooses launches itself: leave out --num-kernel-call-*"),
            (one + ["--sample-launches", "2", "--count", "none"],
             "--sample-launches needs the number of launches, which --count none leaves unknown"),
            (one + ["--clock-control", "fast"], "--clock-control: fast not in {base,boost,none,reset}; see 'profline --help'"),
        ):
            program = [] if arguments == one else ["--", "/bin/app"]
            done = self.captured(profile + arguments + program)
            self.assertEqual(done.stderr, f"profline: {message}\n")
            self.assertEqual(done.returncode, 2)
        done = self.captured(profile + one + ["--ncu", "/no/ncu", "--", "/bin/app"])
        self.assertEqual(done.returncode, 3)
        self.assertIn("'kernels profile' needs ncu, and ", done.stderr)

    def test_profile_prints_json(self):
        argv = [PROFLINE, "kernels", "profile", "--format", "json", "--kernel-regex", "gemm", "--count", "none", "--output-dir", "o"]
        done = self.captured(argv + ["--", "/bin/app"])
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        (capture,) = (self.folder / "o").glob("kernel_0001_*/capture.json")
        self.assertEqual(document, {
            "schema": "profline.kernel_captures/1", "folder": document["folder"], "complete": True,
            "kernels": [{key: value for key, value in json.loads(capture.read_text()).items() if key != "schema"}],
        })
        self.assertEqual((self.folder / document["folder"]).resolve(), (self.folder / "o").resolve())

    def test_finished_kernels_are_kept(self):
        (self.folder / "k.yaml").write_text("kernels:\n- {name: g, regex: gemm}\n- {name: x, regex: absent}\n")
        argv = [PROFLINE, "kernels", "profile", "--kernel-config", "k.yaml", "--count", "none", "--output-dir", "o"]
        first = self.captured(argv + ["--", "/bin/app"])
        self.assertEqual(first.returncode, 1, first.stderr)
        self.assertIn("kernel_0002  failed    no kernel matched 'absent'", first.stdout)
        again = self.captured(argv + ["--", "/bin/app"], FAKE_NCU_KERNELS="absent")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn("1 of 2 kernels is already complete and kept", again.stderr)
        other = self.captured(argv + ["--", "/bin/app", "--else"])
        self.assertEqual(other.returncode, 2)
        self.assertIn("holds captures of another command (+ launch_command.1: --else)", other.stderr)

    def test_runners_set_their_toggles_and_say_what_to_type(self):
        for script, toggle in (
            ("llm_profile_runner", "pipeline.nsys.enable=false"),
            ("deep_profile_runner", "pipeline.torch_profiler.enable=false"),
            ("direct_inference_runner", "pipeline.direct_inference.enable=true"),
        ):
            words, said = self.recorded([str(ROOT / "scripts" / script), "device=cpu", "a.b=[x, y]"])
            self.assertEqual(words[:3], ["run", "device=cpu", "a.b=[x, y]"])
            self.assertIn(toggle, words)
            self.assertEqual(len(said.splitlines()), 1)
            self.assertTrue(said.startswith(f"{script} is now: profline run "), said)
            typed = said.split(": ", 1)[1].rsplit(" (", 1)[0]
            self.assertEqual(shlex.split(typed)[1:], words)

    def test_profline_takes_what_the_runners_pass(self):
        for script, stage in (
            ("llm_profile_runner", "torch_profiler"),
            ("direct_inference_runner", "direct_inference"),
        ):
            argv = [str(ROOT / "scripts" / script), "--config-name", "demo", "--dry-run", "--format", "json"]
            done = self.run_it(argv, {"PROFLINE": PROFLINE})
            self.assertIn(f'"{stage}"', done.stdout, done.stderr)
            self.assertNotIn("unknown", done.stderr)

    def test_make_targets(self):
        for target, last in (
            ("stage1-run", "pipeline.direct_inference.enable=false"),
            ("stage2-profile", "pipeline.direct_inference.enable=false"),
            ("stage-all-run", "pipeline.direct_inference.enable=false"),
        ):
            words, _ = self.recorded(["make", "-s", "-C", str(ROOT), target, "OVERRIDES='x=a b'"])
            self.assertIn("dataset.sampling.num_samples_per_epoch=3", words)
            self.assertIn("x=a b", words)
            self.assertEqual(words[-1], last)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
