#!/usr/bin/env python3
"""One ncu capture a kernel: the old command line over `profline kernels profile`.

    ncu-profile-kernels.py (--kernel-config FILE | --kernel-regex RE) [OPTIONS] -- PROGRAM [ARGUMENTS]

Defaults mirror the preset ncu.default: its four sections and no counters; no preset is read unless --ncu-config
names one. Exit code: 0; 1 some kernel failed; 2 wrong use; 3 a tool is missing. Needs the standard library only.
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
    """The options, and the program behind `--`."""
    split = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(
        prog="ncu-profile-kernels.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--kernel-config", metavar="FILE", help="YAML of kernels by name and regex")
    which.add_argument("--kernel-regex", metavar="RE", help="one kernel, by its demangled name")
    parser.add_argument("--output-dir", metavar="DIR", help="where captures go [tmp/ncu-profile/TIME]")
    parser.add_argument("--topk", type=at_least(1), metavar="K", help="only the first K of --kernel-config")
    parser.add_argument("--extra-sections", nargs="+", default=[], metavar="SECTION", help="sections to add")
    parser.add_argument("--num-kernel-call-skip", type=at_least(0), default=LAUNCH_SKIP, metavar="N", help="[200]")
    parser.add_argument("--num-kernel-call-profile", type=at_least(1), default=LAUNCH_COUNT, metavar="M", help="[1]")
    parser.add_argument("--force-overwrite", action="store_true", help="do finished kernels again")
    parser.add_argument("--ncu-config", metavar="FILE", help="what ncu is told")
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
    # `--option=value`, so that a value may begin with a dash.
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
