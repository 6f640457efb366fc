"""The parts of a page of documentation that can be checked: fences, commands with their output, code spans, links."""

import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^(\s*)(`{3,})(.*)$")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@dataclass
class Command:
    """One `$ command` of a console fence and the lines below it."""

    text: str
    line: int  # of the `$`, from 1
    output: list = field(default_factory=list)
    output_line: int = 0  # of the first line of output


@dataclass
class Fence:
    language: str
    words: list
    line: int  # of the opening backticks, from 1
    lines: list = field(default_factory=list)

    def setting(self, name):
        return next((word[len(name) + 1 :] for word in self.words if word.startswith(name + "=")), None)

    def commands(self):
        found, number = [], self.line
        lines = iter(self.lines)
        for text in lines:
            number += 1
            if text.startswith("$ "):
                command = Command(text[2:], number)
                while command.text.endswith("\\"):
                    command.text = command.text[:-1].rstrip() + " " + next(lines).strip()
                    number += 1
                command.output_line = number + 1
                found.append(command)
            elif found:
                found[-1].output.append(text)
        for command in found:
            while command.output and not command.output[-1].strip():
                command.output.pop()
        return found


@dataclass
class Page:
    fences: list
    prose: list  # (line, text) of all lines outside fences

    def spans(self):
        for line, text in self.prose:
            for match in SPAN.finditer(text):
                yield line, match.group(1).replace("\\|", "|")

    def links(self):
        for line, text in self.prose:
            for match in LINK.finditer(SPAN.sub("", text)):
                yield line, match.group(1)

    def anchors(self):
        return {anchor(text.lstrip("#").strip()) for _, text in self.prose if text.startswith("#")}


def anchor(heading):
    """As GitHub generates it."""
    kept = re.sub(r"[^\w\- ]", "", SPAN.sub(r"\1", heading).lower())
    return kept.replace(" ", "-")


def parse(text):
    page, fence, closing = Page([], []), None, ""
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None and match:
            words = match.group(3).split()
            fence, closing = Fence(words[0] if words else "", words[1:], number), match.group(2)
            page.fences.append(fence)
        elif fence is not None and line.strip() == closing:
            fence = None
        elif fence is not None:
            fence.lines.append(line)
        else:
            page.prose.append((number, line))
    return page
