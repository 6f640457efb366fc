#!/usr/bin/env python3
"""Checks that docs/agents.md lists the JSON document of every command, with an example, and that docs/formats describes it.

check_json_documents.py PROFLINE
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# One speaks a protocol of its own, the other prints what another program prints.
WITHOUT = {"mcp", "rank-exec"}
# Tests print these instead, with what they need: tests/scripts/old_command_lines_test.py, tests/load, tests/e2e/sweep_test.cpp.
ELSEWHERE = {"profline.kernel_captures/1", "profline.load_result/1", "profline.sweep_comparison/1"}


def commands_of(help_text: str) -> list[str]:
    """`run`, `kernels top`, …: the commands in the list of --help."""
    listed = help_text.split("\ncommands\n")[1].split("\n\n")[0]
    found = re.findall(r"^  ([a-z-]+(?: [a-z]+)*)", listed, re.M)
    assert "run" in found and "kernels top" in found, found
    return [command for command in found if command not in WITHOUT]


def table_of(page: str) -> list[tuple[list[str], list[str]]]:
    """The commands of each row and the schemas of their documents."""
    rows = []
    for cells in re.findall(r"^\| (`profline .*?) \| (.*?) \|$", page, re.M):
        names = re.findall(r"`([^`]+)`", cells[0])
        first = names[0].removeprefix("profline ")
        group = first.split()[0] + " " if " " in first else ""
        commands = [first] + [other if other.startswith("runs ") else group + other for other in names[1:]]
        rows.append((commands, re.findall(r"profline\.[a-z_]+/\d+", cells[1])))
    return rows


def main() -> int:
    page = (ROOT / "docs/agents.md").read_text()
    formats = (ROOT / "docs/formats/README.md").read_text()
    table = table_of(page)
    help_text = subprocess.run([sys.argv[1], "--help"], check=True, capture_output=True, text=True).stdout
    problems = []
    listed = {command for commands, schemas in table if schemas for command in commands}
    problems += [f"docs/agents.md: no document for 'profline {command}'" for command in commands_of(help_text) if command not in listed]
    examples = [line for line in re.findall(r"^\$ (?:.*\| )?profline (.*)$", page, re.M) if "--format json" in line]
    for commands, schemas in table:
        problems += [f"docs/formats/README.md: no {schema}" for schema in schemas if schema not in formats]
        # One of the commands with the same document stands for the others.
        if not any(example.startswith(command + " ") for example in examples for command in commands):
            problems.append(f"docs/agents.md: no example of 'profline {commands[0]} --format json'")
        problems += [f"docs/agents.md: no example prints {schema}" for schema in schemas
                     if schema not in ELSEWHERE and not re.search(rf'^ *{{?"schema": ?"{schema}"', page, re.M)]
    print("\n".join(problems) or f"{len(listed)} commands checked")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
