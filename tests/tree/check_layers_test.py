"""scripts/check_layers finds each kind of violation, and nothing in a correct tree."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_layers"


class CheckLayers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "apps").mkdir()
        self.write("src/base/CMakeLists.txt", "profline_module(base SOURCES a.cpp)")
        self.write("src/base/a.h", "")
        self.write("src/base/internal/secret.h", "")
        self.write("src/formats/CMakeLists.txt", "profline_module(formats SOURCES f.cpp DEPS base)")
        self.write("src/formats/f.cpp", '#include "base/a.h"\n#include <yaml.h>\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def findings(self):
        command = [sys.executable, SCRIPT, "--root", self.root]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1 if result.stdout else 0, result.stderr)
        return result.stdout.splitlines()

    def test_a_tree_without_violations_is_silent(self):
        self.assertEqual(self.findings(), [])

    def test_an_include_needs_a_declared_dependency(self):
        self.write("src/schema/CMakeLists.txt", "profline_module(schema SOURCES s.cpp)")
        self.write("src/schema/s.cpp", '#include "base/a.h"\n')
        self.assertEqual(
            self.findings(), ["src/schema/s.cpp:1: 'schema' includes 'base' without naming it in DEPS"]
        )

    def test_headers_and_what_nvcc_compiles_are_checked_like_all_others(self):
        self.write("src/schema/CMakeLists.txt", "profline_module(schema SOURCES s.cu)")
        for name in ("s.cu", "s.cuh", "s.h"):
            self.write(f"src/schema/{name}", '#include "base/a.h"\n#include <cuda_runtime.h>\n')
        self.assertEqual(
            self.findings(),
            [
                finding
                for name in ("s.cu", "s.cuh", "s.h")
                for finding in (
                    f"src/schema/{name}:1: 'schema' includes 'base' without naming it in DEPS",
                    f"src/schema/{name}:2: <cuda_runtime.h> is seen by workload only",
                )
            ],
        )

    def test_profline_prints_where_a_lost_result_is_noticed(self):
        self.write("apps/profline/CMakeLists.txt", "profline_program(profline SOURCES main.cpp)")
        self.write("apps/profline/main.cpp", '// to stdout\nprint_result(text);\n  fmt::print("{}", text);\n')
        self.write("apps/workload/CMakeLists.txt", "profline_program(workload SOURCES main.cpp)")
        self.write("apps/workload/main.cpp", 'fmt::print("{}", text);\n')
        self.assertEqual(
            self.findings(),
            [
                "apps/profline/main.cpp:3: print through print_result() and print_remark() of standard_streams.h",
            ],
        )

    def test_a_dependency_points_down(self):
        self.write("src/formats/f.h", "")
        self.write("src/base/CMakeLists.txt", "profline_module(base SOURCES a.cpp DEPS formats)")
        self.write("src/base/a.cpp", '#include "formats/f.h"\n')
        self.assertEqual(
            self.findings(), ["base/CMakeLists.txt: 'base' may not depend on 'formats': it is not below"]
        )

    def test_folders_of_one_row_do_not_see_each_other(self):
        self.write("src/schema/CMakeLists.txt", "profline_module(schema SOURCES s.cpp DEPS process)")
        self.write("src/schema/s.cpp", '#include "process/p.h"\n')
        self.write("src/process/CMakeLists.txt", "profline_module(process SOURCES p.cpp)")
        self.write("src/process/p.h", "")
        self.assertEqual(
            self.findings(), ["schema/CMakeLists.txt: 'schema' may not depend on 'process': it is not below"]
        )

    def test_folders_below_one_folder_see_each_other_in_one_direction(self):
        self.write("src/inputs/a/CMakeLists.txt", "profline_module(inputs_a SOURCES a.cpp DEPS inputs_b)")
        self.write("src/inputs/a/a.cpp", '#include "inputs/b/b.h"\n')
        self.write("src/inputs/a/a.h", "")
        self.write("src/inputs/b/CMakeLists.txt", "profline_module(inputs_b SOURCES b.cpp)")
        self.write("src/inputs/b/b.h", "")
        self.assertEqual(self.findings(), [])
        self.write("src/inputs/b/CMakeLists.txt", "profline_module(inputs_b SOURCES b.cpp DEPS inputs_a)")
        self.write("src/inputs/b/b.cpp", '#include "inputs/a/a.h"\n')
        self.assertEqual(
            self.findings(),
            [
                "inputs/a/CMakeLists.txt: 'inputs_a' and 'inputs_b' depend on each other",
                "inputs/b/CMakeLists.txt: 'inputs_b' and 'inputs_a' depend on each other",
            ],
        )

    def test_the_workload_sees_what_it_shares_with_profline_only(self):
        self.write("src/workload/model/CMakeLists.txt", "profline_module(workload_model SOURCES m.cpp DEPS process)")
        self.write("src/workload/model/m.cpp", '#include "process/p.h"\n')
        self.write("src/process/CMakeLists.txt", "profline_module(process SOURCES p.cpp)")
        self.write("src/process/p.h", "")
        self.assertEqual(
            self.findings(), ["workload/model/CMakeLists.txt: 'workload_model' may not depend on 'process'"]
        )

    def test_a_declared_dependency_is_used(self):
        self.write("src/formats/f.cpp", "")
        self.assertEqual(
            self.findings(), ["formats/CMakeLists.txt: declares 'base' and includes nothing of it"]
        )

    def test_internal_headers_stay_inside(self):
        self.write("src/formats/f.cpp", '#include "base/internal/secret.h"\n')
        self.assertEqual(self.findings(), ["src/formats/f.cpp:1: \"base/internal/secret.h\" is internal to 'base'"])

    def test_a_library_is_seen_by_its_adapter_only(self):
        self.write("src/base/a.cpp", "#include <sqlite3.h>\n")
        self.assertEqual(self.findings(), ["src/base/a.cpp:1: <sqlite3.h> is seen by formats only"])

    def test_folders_below_an_adapter_belong_to_it(self):
        self.write("src/workload/model/CMakeLists.txt", "profline_module(workload_model SOURCES m.cpp)")
        self.write("src/workload/model/m.cpp", "#include <ATen/ATen.h>\n")
        self.assertEqual(self.findings(), [])

    def test_test_dependencies_are_for_tests(self):
        self.write("src/testing/CMakeLists.txt", "profline_module(testing SOURCES t.cpp)")
        self.write("src/testing/t.h", "")
        self.write("src/base/CMakeLists.txt", "profline_module(base SOURCES a.cpp TEST_DEPS testing)")
        self.write("src/base/a_test.cpp", '#include "testing/t.h"\n')
        self.assertEqual(self.findings(), [])
        self.write("src/base/a.cpp", '#include "testing/t.h"\n')
        self.assertEqual(
            self.findings(), ["src/base/a.cpp:1: 'base' includes 'testing' without naming it in DEPS"]
        )


if __name__ == "__main__":
    unittest.main()
