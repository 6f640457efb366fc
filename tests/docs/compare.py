"""Compares the output of a command with what the page shows."""

import re

ANY = "…"
NUMBER = re.compile(r"\d+(?:[ .,]\d+)*(?: ?(?:ns|us|ms|s|min|h|k|M|G|T|B|kB|MB|GB|KiB|MiB|GiB|x|%)(?![\w]))?")


def blur(line):
    """The line without what differs between runs: numbers, their units, the width of columns, the words of a verdict."""
    line = re.sub(r"^(verdict +).*", r"\1(its words)", line)
    return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip()


def without_retries(printed):
    """The output as if nsys had not needed another try, which it does now and then on a busy machine."""
    text, retries = re.subn(r"^warning: nsys: .*; trying again\n", "", printed, flags=re.MULTILINE)
    return re.sub(rf"^(nsys .*)  {retries} warnings?$", r"\1", text, flags=re.MULTILINE) if retries else printed


def line_matches(shown, printed, like):
    if like:
        shown, printed = blur(shown), blur(printed)
    pattern = ".*".join(re.escape(part) for part in shown.rstrip().split(ANY))
    return re.fullmatch(pattern, printed.rstrip()) is not None


def difference(shown, printed, like=False):
    """None, or the first line of `shown` that is missing. A line with only `…` stands for zero or more lines."""
    if not shown:
        return None if not printed else f"printed '{printed[0]}' where the page ends"
    if shown[0].strip() == ANY:
        rest = shown[1:]
        if not rest:
            return None
        for at in range(len(printed) + 1):
            if difference(rest, printed[at:], like) is None:
                return None
        return f"not printed: '{next((s for s in rest if s.strip() != ANY), '')}', or not what follows it"
    if not printed:
        return f"not printed: '{shown[0]}'"
    if not line_matches(shown[0], printed[0], like):
        return f"the page says '{shown[0]}', printed was '{printed[0]}'"
    return difference(shown[1:], printed[1:], like)
