#!/usr/bin/env python3
"""A plain PyTorch loop that names its phases, with the oldest torch supported (1.13, Debian 12) and a new one (Debian sid)."""

import json
import sys
import unittest

import support
from fake_transformers import FAKE_UTILS, MODEL
from support import ProgramTest, phases

PYTHONS = {suite: python for suite in ("bookworm", "sid") if (python := support.unpacked_python(suite))}

LOOP = """
import profline, torch
torch.set_num_threads(1); torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32)).eval()
with torch.no_grad():
    for i in range(3):
        with profline.request(prompt_tokens=4, new_tokens=6, batch=1):
            with profline.phase("prefill"):
                x = model(torch.ones(4, 32))[-1:]
            with profline.phase("decode"):
                for _ in range(5):
                    profline.step()
                    x = model(x)
        print(f"{x.sum().item():.6f}")
"""


class TorchLoop:
    def test_phases_and_steps(self):
        plain = self.run_program(LOOP, adapter=False, path=[support.PACKAGE])
        self.assertEqual(self.run_program(LOOP), plain)
        requests = self.read().requests
        self.assertEqual(len(requests), 3)
        for request in requests:
            self.assertEqual([*phases(request)], ["prefill", "decode"])
            self.assertEqual(len(phases(request)["decode"]["steps_ns"]), request["new_tokens"] - 1)
        self.assertEqual(self.read().problems, [])

    def test_a_trace_of_the_second_request(self):
        plan = self.write("steady.json", json.dumps({"first": 1, "count": 1}))
        self.run_program(LOOP, environment={"PROFLINE_GATE": "torch", "PROFLINE_GATE_PLAN": plan, "PROFLINE_TRACE_DIR": self.folder})
        (line,) = self.read().of("gate")
        trace = json.loads((self.folder / line["trace"]).read_text())
        # Without Kineto, torch writes a bare list of events.
        events = trace if isinstance(trace, list) else trace["traceEvents"]
        names = [event["name"] for event in events if event.get("cat", "user_annotation") == "user_annotation"]
        self.assertEqual([names.count(name) for name in ("request", "prefill", "decode", "decode_step")], [1, 1, 1, 5])
        without = ["this torch was built without Kineto, so its trace has operators but no kernels"]
        self.assertEqual(self.read().problems, without if isinstance(trace, list) else [])

    def test_forwards_of_generate(self):
        """torch before 2.1 has no place to observe calls but a hook, which does not see keyword arguments before 2.0."""
        self.write("transformers/__init__.py", "__version__ = '4.40.0'\n")
        self.write("transformers/generation/__init__.py", "")
        self.write("transformers/generation/utils.py", FAKE_UTILS)
        program = MODEL + """
model = Model()
for _ in range(2):
    model.generate(Ids(2, 5), max_new_tokens=4)
print(len(model._forward_pre_hooks), sorted(set(vars(model)) - set(vars(Model()))))
"""
        self.assertEqual(self.run_program(program), "0 []\n")
        requests = self.read().requests
        self.assertEqual([len(phases(request)["decode"]["steps_ns"]) for request in requests], [3, 3])
        self.assertEqual([(request["prompt_tokens"], request["new_tokens"]) for request in requests], [(5, 4)] * 2)
        self.assertEqual(self.read().problems, [])


@unittest.skipUnless("bookworm" in PYTHONS, "scripts/fetch_python bookworm has not run")
class TorchOfBookworm(TorchLoop, ProgramTest):
    python = PYTHONS.get("bookworm")


@unittest.skipUnless("sid" in PYTHONS, "scripts/fetch_python sid has not run")
class TorchOfSid(TorchLoop, ProgramTest):
    python = PYTHONS.get("sid")


if __name__ == "__main__":
    if not PYTHONS:
        support.skip_file_without(None, "bookworm")
    print("with torch of: " + ", ".join(PYTHONS), file=sys.stderr)
    unittest.main()
