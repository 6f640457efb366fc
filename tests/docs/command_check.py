"""Checks a command line without running it: its options and keys exist, and their values are valid."""

import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

COMPOSING = {"run", "demo", "infer", "plan", "config", "explain"}
OF_TWO_WORDS = {"kernels"}
BEFORE_A_PROGRAM = {"sudo", "time", "do", "then", "else", "env", "!", "if", "while"}
ASSIGNMENT = re.compile(r"^\w+=")
OVERRIDE = re.compile(r"^[+~]|^[\w./@-]+=")
LEFT_OPEN = re.compile(r"…|\.\.\.|^\[.*\]$")  # placeholders in running text


def simple_commands(text):
    """The programs of a command line, each as a list of words, without shell syntax."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = "#"
    commands, words, skip = [], [], False
    for word in lexer:
        if set(word) <= set("();<>|&"):
            skip = "<" in word or ">" in word  # what follows is a file
            if not skip:
                commands.append(words)
                words = []
        elif skip:
            skip = False
        elif words or not (word in BEFORE_A_PROGRAM or ASSIGNMENT.match(word)):
            words.append(word)
    return [words for words in commands + [words] if words]


def is_profline(words):
    return words[0] == "profline" or words[0].endswith("/profline")


class CommandCheck:
    def __init__(self, profline, environment, folder):
        self.profline, self.environment, self.folder = profline, environment, folder

    def problem(self, text):
        """None, or why this command line is invalid."""
        syntax = subprocess.run(["bash", "-n", "-c", text], capture_output=True, text=True, check=False)
        if syntax.returncode != 0:
            return syntax.stderr.strip()
        for words in simple_commands(text):
            found = self.of_words(words[1:]) if is_profline(words) else self.of_tree(words)
            if found:
                return found
        return None

    def span_problem(self, text):
        """The same for a command in running text, which may be incomplete."""
        if " | " in text or not text.startswith("profline "):
            return None
        try:
            words = shlex.split(text)[1:]
        except ValueError as error:
            return str(error)
        found = self.of_words([word for word in words if not LEFT_OPEN.search(word)])
        # An option may be named without its value.
        return None if found and found.startswith(f"profline: {words[-1]} needs a value") else found

    @staticmethod
    def of_tree(words):
        """Programs of the source tree: a make target, a script."""
        if words[0] == "make":
            targets = words[3:] if words[1:2] == ["-C"] else words[1:]
            done = subprocess.run(["make", "-n", "-C", ROOT, *targets], capture_output=True, text=True, check=False)
            return done.stderr.strip() if done.returncode != 0 else None
        if words[0].startswith("scripts/") and not (ROOT / words[0]).is_file():
            return f"there is no {words[0]}"
        return None

    def of_words(self, words):
        if not words:
            return None
        verb = [] if OVERRIDE.match(words[0]) else words[: 2 if words[0] in OF_TWO_WORDS else 1]
        # Help in JSON lists no options.
        is_json = ["--format", "json"]
        kept = [word for i, word in enumerate(words) if is_json not in (words[i : i + 2], words[i - 1 : i + 1])]
        problem, help_text = self.run(verb + ["--help"] + kept[len(verb) :])
        if problem:
            return problem
        own = words[: words.index("--")] if "--" in words else words
        for option in (word.partition("=")[0] for word in own if word.startswith("--")):
            if verb and not re.search(rf"{re.escape(option)}\b(?!-)", help_text):
                return f"the command '{' '.join(verb)}' takes no option '{option}'"
        if (verb or ["run"])[0] not in COMPOSING or not any(OVERRIDE.match(word) for word in own):
            return None
        return self.composition_problem((verb or ["run"])[0], own[len(verb) :], has_program="--" in words)

    def composition_problem(self, verb, words, has_program=False):
        argv = ["plan", "--config-name", "demo"] if verb == "demo" else ["plan"]
        words = iter(words)
        for word in words:
            if OVERRIDE.match(word) or word in ("-m", "--multirun"):
                argv.append(word)
            elif word in ("--config-name", "-cn", "--config-dir", "-cd", "--config-path", "-cp"):
                argv += [word, next(words)]
        return self.run(argv + (["--", "true"] if has_program else []))[0]

    def run(self, argv):
        """The problem, or None; and the output."""
        done = subprocess.run(
            [self.profline, *argv], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        return (done.stderr.strip() if done.returncode not in (0, 3) else None), done.stdout
