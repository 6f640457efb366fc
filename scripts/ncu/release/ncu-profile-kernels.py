#!/usr/bin/env python3
"""One ncu capture per kernel: the old command line, implemented with `profline kernels profile`.

    ncu-profile-kernels.py (--kernel-config FILE | --kernel-regex RE) [OPTIONS] -- PROGRAM [ARGUMENTS]

Defaults mirror the preset ncu.default: its four sections and no counters; no preset is read unless --ncu-config
names one. Exit codes: 0 done; 1 a kernel failed; 2 usage error; 3 a tool is missing. Needs only the standard library.
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LAUNCH_SKIP = 200
LAUNCH_COUNT = 1


def at_least(least):
    def number(text):
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is not a whole number >= {least}")
        return value

    return number


def arguments_of(argv):
    """The options, and the program after `--`."""
    split = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(
        prog="ncu-profile-kernels.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--kernel-config", metavar="FILE", help="YAML list of kernels with name and regex")
    which.add_argument("--kernel-regex", metavar="RE", help="kernels whose demangled name matches")
    parser.add_argument("--output-dir", metavar="DIR", help="folder for the captures [tmp/ncu-profile/TIME]")
    parser.add_argument("--topk", type=at_least(1), metavar="K", help="only the first K kernels of --kernel-config")
    parser.add_argument("--extra-sections", nargs="+", default=[], metavar="SECTION", help="ncu sections to add")
    parser.add_argument("--num-kernel-call-skip", type=at_least(0), default=LAUNCH_SKIP, metavar="N", help="[200]")
    parser.add_argument("--num-kernel-call-profile", type=at_least(1), default=LAUNCH_COUNT, metavar="M", help="[1]")
    parser.add_argument("--force-overwrite", action="store_true", help="capture finished kernels again")
    parser.add_argument("--ncu-config", metavar="FILE", help="preset with ncu's options")
    options = parser.parse_args(argv[:split])
    program = argv[split + 1 :]
    if not program:
        parser.error("a program is needed after '--'")
    if options.topk and not options.kernel_config:
        parser.error("--topk needs --kernel-config")
    return options, program


def command_of(options, program, profline):
    folder = options.output_dir or str(ROOT / "tmp/ncu-profile" / time.strftime("%Y%m%d-%H%M%S"))
    command = [profline, "kernels", "profile", "--no-roofline", "--output-dir", folder]
    # `--option=value`, so that a value may start with a dash.
    for name in ("kernel_config", "kernel_regex", "topk", "num_kernel_call_skip", "num_kernel_call_profile", "ncu_config"):
        value = getattr(options, name)
        if value is not None:
            command.append(f"--{name.replace('_', '-')}={value}")
    if options.extra_sections:
        command.append("--extra-sections=" + ",".join(options.extra_sections))
    if options.force_overwrite:
        command.append("--force-overwrite")
    return command + ["--"] + program


def find_profline():
    for candidate in (os.environ.get("PROFLINE"), str(ROOT / "build/bin/profline"), shutil.which("profline")):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    print(
        "[ncu-profile] no profline: build it (make build), put it on PATH, or name it in PROFLINE", file=sys.stderr
    )
    sys.exit(3)


def main():
    options, program = arguments_of(sys.argv[1:])
    command = command_of(options, program, find_profline())
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
