#!/usr/bin/env python3
"""Checks that docs/agents.md lists the JSON document of every command, with an example, and that docs/formats describes it.

check_json_documents.py PROFLINE
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# These print text for people or shells, or speak a protocol of their own.
WITHOUT = {"help", "mcp", "rank-exec", "serve"}


def commands_of(help_text: str) -> list[str]:
    """`run`, `kernels top`, …: the commands in the list of --help."""
    listed = help_text.split("\ncommands\n")[1].split("\n\n")[0]
    found = re.findall(r"^  ([a-z-]+(?: [a-z]+)*)", listed, re.M)
    assert "run" in found and "kernels top" in found, found
    return [command for command in found if command not in WITHOUT]


def table_of(page: str) -> dict[str, list[str]]:
    """Command: the schemas of its documents."""
    rows = {}
    for cells in re.findall(r"^\| (`profline .*?) \| (.*?) \|$", page, re.M):
        names = re.findall(r"`([^`]+)`", cells[0])
        first = names[0].removeprefix("profline ")
        group = first.split()[0] + " " if " " in first else ""
        for name in [first] + [group + other for other in names[1:]]:
            rows[name] = re.findall(r"profline\.[a-z_]+/\d+", cells[1])
    return rows


def main() -> int:
    page = (ROOT / "docs/agents.md").read_text()
    formats = (ROOT / "docs/formats/README.md").read_text()
    table = table_of(page)
    help_text = subprocess.run([sys.argv[1], "--help"], check=True, capture_output=True, text=True).stdout
    problems = []
    for command in commands_of(help_text):
        if not table.get(command):
            problems.append(f"docs/agents.md: no document for 'profline {command}'")
    examples = re.findall(r"^\$ (?:.*\| )?profline (.*)$", page, re.M)
    for command, schemas in table.items():
        problems += [f"docs/formats/README.md: no {schema}" for schema in schemas if schema not in formats]
        group = command.split()[0]  # one command of `sweep` stands for those with the same document
        has_example = any(example.startswith(command + " ") or (group == "sweep" and example.startswith("sweep "))
                          for example in examples if "--format json" in example)
        if not has_example:
            problems.append(f"docs/agents.md: no example of 'profline {command} --format json'")
    print("\n".join(problems) or f"{len(table)} commands checked")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
