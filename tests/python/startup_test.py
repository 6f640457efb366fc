#!/usr/bin/env python3
"""How the adapter starts: it reaches every Python of the program, and none of them notices."""

import ast
import os
import subprocess
import sys
import unittest
import zipapp
from pathlib import Path

from support import PACKAGE, STARTUP, ProgramTest

# The folder of the package is at the end of the path, where it hides nothing.
STATE = f"import sys; print([p for p in sys.path if p != {str(PACKAGE)!r}], 'sitecustomize' in sys.modules)"
PHASE = "import profline\nwith profline.request(): pass\n"


class Startup(ProgramTest):
    def same_as_without(self, text, **options):
        """Output, errors and exit code with the adapter equal those without it. Returns the output."""
        plain = self.run_program(text, adapter=False, check=False, **options)
        expected = (plain, self.last.stderr, self.last.returncode)
        self.assertEqual((self.run_program(text, check=False, **options), self.last.stderr, self.last.returncode), expected)
        return plain

    def test_the_program_sees_its_own_path(self):
        self.same_as_without(STATE)

    def test_a_program_that_does_nothing_leaves_the_sign_that_the_adapter_started(self):
        self.run_program("print(1)")
        self.assertEqual([(file.name, file.stat().st_size) for file in self.recorded.iterdir()], [("python-started", 0)])

    def test_the_programs_own_sitecustomize_runs(self):
        self.write("own/sitecustomize.py", "import sys\nsys.own = (__name__, __file__)\nanswer = 42\n")
        out = self.same_as_without("import sys, sitecustomize; print(sys.own, sitecustomize.answer)", path=[self.folder / "own"])
        self.assertIn("42", out)

    def test_its_usercustomize_runs(self):
        self.write("own/usercustomize.py", "print('user')\n")
        out = self.same_as_without("pass", path=[self.folder / "own"], environment={"HOME": self.folder})
        # Python leaves it out for root in some builds; equal to a run without the adapter is what counts.
        self.assertIn(out, ("user\n", ""))

    def test_a_sitecustomize_that_fails_does_so_as_without_the_adapter(self):
        for name, text in {
            "raises": "raise ValueError('broken')",
            "imports what is missing": "import no_such_module",
            "is not Python": "this is not python",
            "imports itself": "import sitecustomize",
        }.items():
            with self.subTest(name):
                self.write("own/sitecustomize.py", text + "\n")
                self.same_as_without("print('program')", path=[self.folder / "own"])

    def test_a_sitecustomize_that_exits_ends_python_as_without_the_adapter(self):
        self.write("own/sitecustomize.py", "raise SystemExit(4)\n")
        codes = []
        for adapter in (False, True):
            self.run_program("print('program')", adapter=adapter, check=False, path=[self.folder / "own"])
            codes.append((self.last.returncode, self.last.stdout))
        self.assertEqual(codes[0], codes[1])

    def test_the_folder_of_the_adapter_twice_in_the_path(self):
        link = self.folder / "link"
        link.symlink_to(STARTUP)
        self.write("own/sitecustomize.py", "print('own')\n")
        out = self.run_program(PHASE, path=[link, str(STARTUP) + "/", self.folder / "own"])
        self.assertEqual((out, len(self.read().requests)), ("own\n", 1))

    def test_options_that_switch_it_off(self):
        for option in ("-S", "-I", "-E"):
            with self.subTest(option):
                self.assertEqual(self.run_program("print(1)", options=[option]), "1\n")
        self.assertEqual(list(self.recorded.iterdir()), [])

    def test_options_that_make_python_strict(self):
        for options in (["-W", "error"], ["-X", "dev"], ["-OO"], ["-bb"], ["-s"]):
            with self.subTest(options):
                self.run_program(PHASE, options=options)
                self.assertEqual(self.last.stderr, b"")
        self.assertEqual(len(self.read().requests), 5)

    def test_without_a_record_folder_nothing_happens(self):
        out = self.run_program("import sys; print('profline_adapter.start' in sys.modules)", environment={"PROFLINE_RECORD_DIR": ""})
        self.assertEqual(out, "False\n")

    def test_a_program_with_its_own_package_of_that_name(self):
        self.write("profline/__init__.py", "mine = 1\n")
        self.assertEqual(self.run_program("import profline; print(profline.mine)"), "1\n")

    def test_only_small_modules_are_imported_at_the_start(self):
        names = "import sys; print(sorted(sys.modules))"
        plain = set(ast.literal_eval(self.run_program(names, adapter=False)))
        more = set(ast.literal_eval(self.run_program(names))) - plain
        self.assertEqual(more, {"profline_adapter", "profline_adapter.start"})

    def test_a_virtual_environment(self):
        python = self.make_environment()
        packages = next((self.folder / "venv" / "lib").glob("python3*/site-packages"))
        (packages / "sitecustomize.py").write_text("print('of the environment')\n")
        # Debian's own sitecustomize is ahead of the environment's.
        self.same_as_without(STATE, python=python)
        self.run_program(PHASE, python=python)
        self.assertEqual(len(self.read().requests), 1)

    def test_a_prefix_as_conda_makes_it(self):
        """An interpreter with its library in a folder of its own, started without being activated."""
        prefix = self.folder / "conda"
        library = Path(os.__file__).parent
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib").mkdir()
        (prefix / "conda-meta").mkdir()
        (prefix / "lib" / library.name).symlink_to(library)
        python = prefix / "bin" / "python3"
        python.write_text(f'#!/bin/sh\nPYTHONHOME={prefix} exec -a "$0" {Path(sys.executable).resolve()} "$@"\n'.replace("sh", "bash", 1))
        python.chmod(0o755)
        out = self.run_program("import sys; print(sys.prefix)\n" + PHASE, python=str(python))
        self.assertEqual((out, len(self.read().requests)), (f"{prefix}\n", 1))

    def test_a_zipapp(self):
        self.write("app/__main__.py", PHASE + "print('zip')\n")
        zipapp.create_archive(self.folder / "app", self.folder / "app.pyz")
        done = subprocess.run([sys.executable, self.folder / "app.pyz"], env=self.environment(), capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, len(self.read().requests)), ("zip\n", 1))

    def test_a_module_is_named_as_it_was_started(self):
        self.write("pack/__init__.py", "")
        self.write("pack/tool.py", PHASE)
        subprocess.run([sys.executable, "-m", "pack.tool", "--token", "secret"], env=self.environment(), cwd=self.folder, check=True)
        (line,) = self.read().of("process")
        self.assertEqual(line["argv"], ["-m", "pack.tool"])

    def test_two_pythons_in_one_program(self):
        others = [p for p in ("/usr/bin/python3", "/usr/local/bin/python3") if os.path.exists(p) and not os.path.samefile(p, sys.executable)]
        for number, other in enumerate([*others, self.make_environment()], start=1):
            with self.subTest(other):
                self.run_program(PHASE + f"import subprocess; subprocess.run([{other!r}, '-c', {PHASE!r}], check=True)")
                self.assertEqual([len(self.read().files), len(self.read().requests)], [2 * number, 2 * number])

    def make_environment(self):
        """The Python of a new virtual environment."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "venv"], check=True)
        return str(self.folder / "venv/bin/python")

    def test_a_subinterpreter(self):
        text = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
one = interpreters.create()
interpreters.run_string(one, "import profline\\nwith profline.request(): pass\\nprint('inner', flush=True)")
interpreters.destroy(one)
print("outer")
"""
        self.assertEqual(self.run_program(text), "inner\nouter\n")

    def test_the_adapter_is_written_for_python_3_9(self):
        for file in sorted(PACKAGE.rglob("*.py")):
            with self.subTest(file.name):
                oldest = (3, 4) if file.parent == STARTUP else (3, 9)
                ast.parse(file.read_text(), feature_version=oldest)


if __name__ == "__main__":
    unittest.main()
