"""The presets: which command each starts with, without a profiler and under nsys."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

PROFLINE = os.environ["PROFLINE"]
GOLDEN = Path(__file__).resolve().parent / "presets.json"

COMMANDS = {
    "generic": ["my-server", "--port", "8000"],
    "vllm": ["vllm", "serve", "Qwen/Qwen3-0.6B"],
    "sglang": ["python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen3-0.6B"],
    "trtllm": ["trtllm-serve", "Qwen/Qwen3-0.6B"],
    "llama_server": ["llama-server", "-m", "model.gguf"],
    "transformers_serve": ["transformers", "serve"],
}


# Other gates of the generic preset.
GATES = ("cuda", "none")


def planned(preset, command, *overrides):
    """Each stage's server: argv and the variables that the preset sets; folders and programs without their places."""
    folder = tempfile.mkdtemp(prefix="profline-preset-")
    for word in (command[0], "nsys"):
        program = Path(folder) / word
        program.write_text("#!/bin/sh\necho 'NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0'\n")
        program.chmod(0o755)
    process = subprocess.run(
        [PROFLINE, "plan", "--format", "json", f"workload/server={preset}", "device=cpu", f"hydra.run.dir={folder}/run",
         "pipeline.nsys.enable=true", "pipeline.torch_profiler.enable=true", *overrides, "--", *command],
        capture_output=True, text=True, cwd=folder, check=False,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    assert process.returncode in (0, 1, 3), process.stderr
    text = process.stdout.replace(folder, "FOLDER")
    result = {}
    for stage in json.loads(text)["jobs"][0]["stages"]:
        for planned_command in stage.get("commands", []):
            if planned_command["name"] not in ("server", "start", "stop"):
                continue
            variables = {name: value for name, value in sorted(planned_command.get("env", {}).items())
                         if not name.startswith(("PROFLINE_", "KINETO_"))}
            argv = [os.path.basename(word) if i == 0 else word for i, word in enumerate(planned_command["argv"])]
            argv = ["--session=SESSION" if word.startswith("--session=") else
                    "--session-new=SESSION" if word.startswith("--session-new=") else word for word in argv]
            result.setdefault(stage["name"], {})[planned_command["name"]] = {"argv": argv, "env": variables}
    return result


class Presets(unittest.TestCase):
    maxDiff = None

    def test_the_commands_are_as_recorded(self):
        found = {preset: planned(preset, command) for preset, command in COMMANDS.items()}
        for gate in GATES:
            found[f"generic, gate={gate}"] = {"nsys": planned("generic", COMMANDS["generic"], "pipeline.torch_profiler.enable=false",
                                                              f"pipeline.workload.server.gate={gate}")["nsys"]}
        if os.environ.get("PROFLINE_UPDATE_GOLDEN") == "1":
            GOLDEN.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        self.assertEqual(json.loads(GOLDEN.read_text()), found)

    def test_every_preset_is_listed(self):
        folder = Path(__file__).resolve().parents[2] / "conf" / "workload" / "server"
        self.assertEqual({file.stem for file in folder.glob("*.yaml")}, set(COMMANDS))
        page = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "profile-a-server.md").read_text()
        for preset in COMMANDS:
            self.assertIn(f"`{preset}`", page)


if __name__ == "__main__":
    unittest.main()
