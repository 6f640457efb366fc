#!/usr/bin/env python3
"""Checks a page of documentation against the built programs: runs its commands and compares their output.

    check_page.py --build FOLDER [--nsight FOLDER] [--workbench FOLDER] PAGE

CONTRIBUTING.md describes the fences. PROFLINE_UPDATE_GOLDEN=1 writes the real output into the page, where the page
shows complete output. Exit code 77: skipped, with the reason.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from command_check import CommandCheck
from compare import ANY, difference, without_retries
from markdown import parse

ROOT = Path(__file__).resolve().parents[2]
NOT_RUN = {"gpu", "root", "network", "long", "slurm"}
MODES = NOT_RUN | {"nsys", "like", "sample"}
SETTINGS = {"exit"}
CALLED = "/home/me/ocr"  # what pages call the folder that commands are run in
LIMIT_S = 240
COMMAND_INSIDE = re.compile(r"(?:^|\s)((?:\S*/)?profline [a-z]+(?: .*)?)$")


def environment(build, nsight, home):
    path = [str(build / "bin")] + ([str(nsight / "bin")] if nsight else []) + [os.environ["PATH"]]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PROFLINE_", "HYDRA_"))}
    # Threads that spin while waiting would take cores from other tests.
    fixed = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_WAIT_POLICY": "passive"}
    return dict(kept, PATH=os.pathsep.join(path), HOME=str(home), **fixed)


class PageCheck:
    def __init__(self, page, build, nsight, folder):
        self.page, self.build, self.nsight, self.folder = page, build, nsight, folder
        self.lines = page.read_text().splitlines()
        self.parsed = parse(page.read_text())
        self.environment = environment(build, nsight, folder)
        self.check = CommandCheck(str(build / "bin/profline"), self.environment, folder)
        self.update = os.environ.get("PROFLINE_UPDATE_GOLDEN") == "1"
        self.problems, self.edits, self.ran, self.checked = [], [], 0, 0

    def tell(self, line, text):
        self.problems.append(f"{self.page}:{line}: {text}")

    def run(self):
        for fence in self.parsed.fences:
            if fence.language == "console":
                self.console(fence)
            else:
                self.other_fence(fence)
        for line, span in self.parsed.spans():
            problem = self.check.span_problem(span)
            if problem:
                self.tell(line, f"`{span}` is not understood: {problem}")
        for line, target in self.parsed.links():
            self.link(line, target)
        if self.edits:
            self.write_edits()

    def other_fence(self, fence):
        name = fence.setting("file")
        if name:
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("\n".join(fence.lines) + "\n")
        if fence.language in ("markdown", "message"):  # how pages are written; check_messages.py's
            return
        for number, text in enumerate(fence.lines, fence.line + 1):
            if text.startswith(("$ ", "profline ", "make ", "scripts/", "sudo ")):
                self.tell(number, "a command outside a console fence is not run: write ```console and '$ ' before it")
                continue
            inside = COMMAND_INSIDE.search(text)  # in a script or a workflow
            problem = self.check.problem(inside.group(1)) if inside else None
            if problem:
                self.tell(number, f"'{inside.group(1)}' is not understood: {problem}")

    def console(self, fence):
        unknown = [w for w in fence.words if w not in MODES and w.partition("=")[0] not in SETTINGS]
        if unknown:
            self.tell(fence.line, f"a console fence knows no '{unknown[0]}'; it knows {', '.join(sorted(MODES))}, exit=N")
            return
        if not fence.commands():
            self.tell(fence.line, "a console fence without a command: '$ ' begins one")
        only_checked = NOT_RUN & set(fence.words) or ("nsys" in fence.words and not self.nsight)
        for command in fence.commands():
            if only_checked:
                self.checked += 1
                problem = self.check.problem(command.text)
                if problem:
                    self.tell(command.line, f"'{command.text}' is not understood: {problem}")
            else:
                self.run_command(fence, command)

    def execute(self, command):
        return subprocess.run(
            ["bash", "-c", command.text],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    def run_command(self, fence, command):
        self.ran += 1
        try:
            done = self.execute(command)
            # A real nsys ends without a report now and then.
            if "nsys" in fence.words and "nsys left no report" in done.stdout:
                done = self.execute(command)
        except subprocess.TimeoutExpired:
            self.tell(command.line, f"'{command.text}' did not end within {LIMIT_S} s")
            return
        printed = done.stdout.replace(str(self.folder), CALLED).replace(str(self.build / "bin"), "/usr/local/bin")
        if self.nsight:
            printed = printed.replace(str(self.nsight), "/opt/nsight")
        if "nsys" in fence.words:
            printed = without_retries(printed)
        expected = fence.setting("exit") or "0"
        code = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as a shell has it
        if str(code) not in expected.split(","):
            self.tell(command.line, f"'{command.text}' ended with {code}, not {expected}:\n{printed}")
            return
        if not command.output or "sample" in fence.words:
            return
        problem = difference(command.output, printed.rstrip().splitlines(), "like" in fence.words)
        if problem and self.update and not any(ANY in line for line in command.output):
            self.edits.append((command, printed.rstrip().splitlines()))
        elif problem:
            self.tell(command.line, f"'{command.text}': {problem}; all of it:\n{printed}")

    def link(self, line, target):
        if "://" in target or target.startswith("mailto:"):
            return
        name, _, wanted = target.partition("#")
        path = (self.page.parent / name).resolve() if name else self.page
        if (ROOT / "docs/examples") in path.parents and not (ROOT / "docs/examples").exists():
            return  # recorded on a GPU; a tree may be without
        if not path.exists():
            self.tell(line, f"there is no {target}")
        elif wanted and path.suffix == ".md" and wanted not in parse(path.read_text()).anchors():
            self.tell(line, f"{target}: no such heading")

    def write_edits(self):
        for command, printed in sorted(self.edits, key=lambda edit: -edit[0].output_line):
            at = command.output_line - 1
            self.lines[at : at + len(command.output)] = printed
        self.page.write_text("\n".join(self.lines) + "\n")
        print(f"{self.page}: wrote the output of {len(self.edits)} commands")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--build", type=Path, required=True)
    arguments.add_argument("--nsight", type=Path)
    arguments.add_argument("--workbench", type=Path)
    arguments.add_argument("page", type=Path)
    given = arguments.parse_args()
    if not (given.build / "bin/profline-workload").exists():
        print("skipped: no profline-workload, which most commands of these pages need")
        return 77
    nsight = given.nsight.resolve() if given.nsight and (given.nsight / "bin/nsys").exists() else None
    if os.environ.get("NSIGHT") == "0":
        nsight = None
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "work"
        if given.workbench:
            shutil.copytree(given.workbench, folder, symlinks=True)
        else:
            folder.mkdir()
        check = PageCheck(given.page, given.build.resolve(), nsight, folder)
        check.run()
    for problem in check.problems:
        print(problem)
    print(f"{given.page}: {check.ran} commands run, {check.checked} only checked, {len(check.problems)} problems")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
