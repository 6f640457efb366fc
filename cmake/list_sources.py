"""Replaces each file that a unity build generates by the sources it includes, in a compile_commands.json.

    python3 list_sources.py build/compile_commands.json

CMake lists only what it compiles; clangd and our checks look for the sources themselves. Running this again changes nothing.
"""

import json
import os
import re
import sys
from pathlib import Path


def sources_of(unity: str) -> list[str]:
    return re.findall(r'^#include "(.+)"$', Path(unity).read_text(), re.MULTILINE)


def main() -> None:
    database = Path(sys.argv[1])
    entries = []
    for entry in json.loads(database.read_text()):
        unity = entry["file"]
        if os.path.basename(os.path.dirname(unity)) != "Unity":
            entries.append(entry)
            continue
        for source in sources_of(unity):
            entries.append({**entry, "file": source, "command": entry["command"].replace(f"-c {unity}", f"-c {source}")})
    unfinished = database.with_suffix(".new")
    unfinished.write_text(json.dumps(entries, indent=1) + "\n")
    unfinished.replace(database)


main()
