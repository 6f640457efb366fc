#!/usr/bin/env python3
"""Checks docs/troubleshooting.md against the sources.

Each line of a ```message fence is a message of the program: the text between one `…` and the next must be part of a
string literal in the sources (adjacent literals are joined). Each code that a finding can have must be on the page.
"""

import re
import sys
from pathlib import Path

from markdown import parse

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["docs/troubleshooting.md", "docs/how-to/ncu-without-root.md"]
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
JOINED = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s+"(?:[^"\\\n]|\\.)*")*')
CODE = r'(?:\w[^,;"]*\? *"([a-z_]+)" *: *)?"([a-z_]+)"'
# How findings get their code: Finding{Severity::X, "code", ...} and the functions that make one.
MADE_BY = [
    re.compile(r"Severity::\w+,\s*" + CODE),
    re.compile(r"\b(?:problem|absent|wrong|refused)\(\s*" + CODE),
    re.compile(r"\badd_proof\((?:[^;]*[})\]],|[^;{]*,)\s*" + CODE + r","),
    re.compile(r"\breport_gate\([^;]*, " + CODE + r"\)"),
    re.compile(r'\breturn "(server_died_\w+)"'),
    re.compile(r"\bcode = " + CODE),
    re.compile(r"\breport_error\([^;]*, " + CODE + r"\)"),
]
SHORTEST = 8  # of a meaningful piece of a message


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            if not path.name.endswith("_test.cpp") and "testing" not in str(path):
                yield path.read_text()


def literals():
    """Every string literal of the sources, as printed, with gaps where a format inserts values."""
    found = []
    for text in sources("src", "apps"):
        for match in JOINED.finditer(text):
            joined = "".join(LITERAL.findall(match.group(0)))
            found.append(joined.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\"))
    return "\0".join(found)


def codes():
    found = set()
    for text in sources("src/load", "src/run", "src/pipeline", "src/stages", "src/session", "src/tools/nsys", "src/workloads", "apps/profline"):
        for pattern in MADE_BY:
            for match in pattern.finditer(text):
                found.update(code for code in match.groups() if code)
    return found


def message_problems(page, known):
    for fence in parse((ROOT / page).read_text()).fences:
        if fence.language != "message":
            continue
        for number, line in enumerate(fence.lines, fence.line + 1):
            for piece in (part.strip() for part in line.split("…")):
                if len(piece) >= SHORTEST and piece not in known:
                    yield f"{page}:{number}: no program says '{piece}'"


def main():
    known = literals()
    problems = [problem for page in PAGES for problem in message_problems(page, known)]
    page = (ROOT / PAGES[0]).read_text()
    problems += [f"{PAGES[0]}: the code `{code}` of a finding is missing" for code in sorted(codes()) if f"`{code}`" not in page]
    for unknown in sorted(set(re.findall(r"^\| `([a-z_]+)` \|", page, re.M)) - codes()):
        problems.append(f"{PAGES[0]}: no finding has the code `{unknown}`")
    print("\n".join(problems) or f"{len(codes())} codes of findings, all explained")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
