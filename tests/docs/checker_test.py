#!/usr/bin/env python3
"""check_page.py finds each kind of mistake in a page, and nothing in a correct page.

checker_test.py BUILD
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from compare import difference, without_retries
from markdown import parse

SCRIPT = Path(__file__).resolve().parent / "check_page.py"
BUILD = Path(sys.argv.pop())


class CheckPage(unittest.TestCase):
    def problems(self, text):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text("# A page\n\n" + text)
            command = [sys.executable, SCRIPT, "--build", BUILD, page]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 77:
                self.skipTest(done.stdout)
            self.assertEqual(done.returncode, 1 if "page.md:" in done.stdout.replace("page.md: ", "") else 0, done.stderr)
            found = [line.split("page.md:", 1)[1] for line in done.stdout.splitlines() if "page.md:" in line]
            return [line for line in found if not line.startswith(" ")]

    def test_a_page_without_mistakes(self):
        page = """See [it](#a-page) and `profline run --resume RUN`, `profline plan device=cpu`.
```yaml file=conf/mine.yaml
defaults: [demo, _self_]
experiment: mine
```
```console
$ profline explain experiment --config-name mine
experiment = mine
  string: …
…
  > conf/mine.yaml:2:13…mine
$ profline config --config-name mine \\
    --package infer >/dev/null
```
```console gpu
$ CUDA_VISIBLE_DEVICES=0 profline run device=cuda:0 | tee log && echo done
$ for i in 1 2; do profline demo -q hydra.run.dir=runs/$i; done
```
```console exit=2
$ profline docter
```
"""
        self.assertEqual(self.problems(page), [])

    def one(self, text, expected):
        found = self.problems(text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_output_that_is_another(self):
        page = "```console\n$ profline explain experiment --config-name demo | head -n 1\nexperiment = demi\n```\n"
        self.one(page, "4: 'profline explain experiment --config-name demo | head -n 1': the page says 'experiment = demi'")

    def test_a_command_that_fails(self):
        self.one("```console\n$ profline docter\n```\n", "4: 'profline docter' ended with 2, not 0")

    def test_a_command_that_should_fail(self):
        self.one("```console exit=1\n$ profline --version\n```\n", "4: 'profline --version' ended with 0, not 1")

    def test_an_option_that_is_not_there_in_a_command_that_is_not_run(self):
        self.one("```console gpu\n$ profline compare A B --treshold 3%\n```\n", "unknown option '--treshold'")

    def test_an_option_of_another_command(self):
        self.one("```console gpu\n$ profline doctor --resolve\n```\n", "the command 'doctor' takes no option '--resolve'")

    def test_a_key_that_is_not_there_in_a_command_that_is_not_run(self):
        self.one("```console gpu\n$ sudo profline run pipeline.nsys.timout=3\n```\n", "there is no key 'pipeline.nsys.timout'")

    def test_a_value_that_does_not_fit_in_a_command_that_is_not_run(self):
        page = "```console long\n$ profline demo -m infer.max_new_tokens=8,many\n```\n"
        self.one(page, "must be an integer from 1 to 1048576, not the string 'many'")

    def test_a_syntax_error_in_a_command_that_is_not_run(self):
        self.one("```console root\n$ echo 'options nvidia\n```\n", "4: 'echo 'options nvidia' is not understood")

    def test_targets_and_scripts_that_are_not_there(self):
        self.one("```console long\n$ make help\n$ make tea\n```\n", "5: 'make tea' is not understood")
        self.one("```console long\n$ scripts/gone now\n```\n", "there is no scripts/gone")

    def test_a_stale_command_in_running_text(self):
        self.one("`profline trace --tpo 3 FILE`\n", "3: `profline trace --tpo 3 FILE`")

    def test_a_command_that_would_not_be_run(self):
        self.one("```\n$ profline demo\n```\n", "4: a command outside a console fence is not run")
        self.one("```sh\nprofline demo\n```\n", "4: a command outside a console fence is not run")

    def test_a_stale_command_in_a_file(self):
        self.one("```yaml\n- run: bin/profline compare A B --fail slower\n```\n", "unknown option '--fail'")

    def test_a_word_that_means_nothing(self):
        self.one("```console cuda\n$ true\n```\n", "3: a console fence knows no 'cuda'")

    def test_links_to_nowhere(self):
        self.one("[a](gone.md)\n", "3: there is no gone.md")
        self.one("[a](#gone)\n", "3: #gone: no such heading")


class CommandsPage(unittest.TestCase):
    def test_has_every_command(self):
        shown = subprocess.run([BUILD / "bin/profline", "--help"], capture_output=True, text=True, check=True).stdout
        listed = shown.split("\ncommands\n")[1].split("\n\n")[0].splitlines()
        verbs = {line.split()[0] for line in listed if not line.startswith("   ")}
        page = parse((SCRIPT.parents[2] / "docs/commands.md").read_text())
        self.assertEqual({text[3:] for _, text in page.prose if text.startswith("## ")}, verbs)


class Difference(unittest.TestCase):
    def test_lines_are_compared_whole(self):
        self.assertIsNone(difference(["a  1"], ["a  1"]))
        self.assertEqual(difference(["a  1"], ["a  2"]), "the page says 'a  1', printed was 'a  2'")
        self.assertEqual(difference(["a"], []), "not printed: 'a'")
        self.assertEqual(difference(["a"], ["a", "b"]), "printed 'b' where the page ends")

    def test_an_ellipsis_stands_for_text_or_lines(self):
        self.assertIsNone(difference(["a … c", "…", "z"], ["a b c", "x", "y", "z"]))
        self.assertIsNone(difference(["…", "z"], ["z"]))
        self.assertEqual(difference(["a", "…", "z"], ["a", "y"]), "not printed: 'z', or not what follows it")

    def test_numbers_and_columns_need_only_be_alike(self):
        self.assertIsNone(difference(["sam   315 ms  75.8 %"], ["sam  1.2 s    9 %"], like=True))
        self.assertIsNone(difference(["verdict  sam takes 9 %"], ["verdict  decode is host-bound"], like=True))
        self.assertIsNotNone(difference(["sam  315 ms"], ["clip 315 ms"], like=True))
        self.assertIsNotNone(difference(["sam  315 ms"], ["sam  -"], like=True))

    def test_another_try_of_nsys_is_left_out(self):
        printed = "warning: nsys: nsys left no report; trying again\nnsys  ok  6.4 s  1 warning\nstate  ok\n"
        self.assertEqual(without_retries(printed), "nsys  ok  6.4 s\nstate  ok\n")
        other = "warning: nsys: nsys is old\nnsys  ok  6.4 s  1 warning\n"
        self.assertEqual(without_retries(other), other)


if __name__ == "__main__":
    unittest.main()
