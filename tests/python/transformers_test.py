#!/usr/bin/env python3
"""The real transformers and torch of Debian sid, unmodified: requests, steps and results.

PROFLINE_TEST_LONG=1 adds torch.compile. PROFLINE_TEST_PYTHON names another Python with torch and transformers, such as that of a
virtual environment with an older release; what that release does not know is left out.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support
from support import PACKAGE, ROOT, STARTUP, ProgramTest, Recorded, phases

PYTHON = os.environ.get("PROFLINE_TEST_PYTHON") or support.unpacked_python("sid")
PROGRAM = Path(__file__).with_name("transformers_program.py")
IS_LONG = os.environ.get("PROFLINE_TEST_LONG") == "1"

# What each way of generating must have recorded: prompt, new tokens, sequences, steps, mode. In the order of the program.
EXPECTED = {
    "greedy": (10, 8, 2, 7, "greedy_search"),
    "one token": (10, 1, 2, None, "greedy_search"),
    "sample": (10, 8, 6, 7, "sample"),
    "configuration": (10, 5, 2, 4, "sample"),
    "beams": (10, 8, 6, 7, "beam_search"),
    "assisted": (10, 8, 1, ..., "assisted_generation"),
    "early exit": (10, 8, 1, ..., "assisted_generation"),
    "chunks": (10, 8, 2, 7, "greedy_search"),
    "static cache": (10, 8, 2, 7, "greedy_search"),
    "no cache": (10, 8, 2, 7, "greedy_search"),
    "dictionary": (10, 8, 2, 7, "greedy_search"),
    "embeddings": (10, 8, 2, 7, "greedy_search"),
    "from nothing": (1, 8, 1, 7, "greedy_search"),
    "guidance": (10, 8, 1, 7, "greedy_search"),
    "stopped": (10, 3, 2, 2, "greedy_search"),
    "(finds the third token)": (10, 3, 2, 2, "greedy_search"),
    "ends early": (10, ..., 2, ..., "greedy_search"),
    "(fills a cache)": (10, 8, 2, 7, "greedy_search"),
    "continued": (21, 8, 2, 7, "greedy_search"),
    "wrong argument": (10, None, None, None, "greedy_search"),
    "interrupted": (10, None, 2, 2, "greedy_search"),
    "thread 1": (10, 8, 2, 7, "greedy_search"),
    "thread 2": (10, 8, 2, 7, "greedy_search"),
    "thread 3": (10, 8, 2, 7, "greedy_search"),
    "streamed": (10, 8, 1, 7, "greedy_search"),
    "pipeline": (3, 8, 1, 7, ...),
    "encoder and decoder": (10, 8, 2, 7, "greedy_search"),
    "qwen3": (10, 8, 2, 7, "greedy_search"),
    **{f"long {i}": (10, 64, 2, 63, "greedy_search") for i in range(3)},
}
FAILING = {"wrong argument", "interrupted"}
COMPILED = {name: (10, 8, 2, 7, "greedy_search")
            for name in ("compiled forward", "compiled model", "compiled by generate", "compiled before")}


def run(folder, adapter, **more):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PROFLINE_", "PYTHON", "NVTX_"))}
    env.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", **more)
    if adapter:
        env.update(PROFLINE_RECORD_DIR=str(folder), PROFLINE_PYTHON=str(PACKAGE), PYTHONPATH=str(STARTUP))
    command = [PYTHON, str(PROGRAM)] + (["--compile"] if IS_LONG else [])
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr[-4000:]
    return {line["name"]: line for line in map(json.loads, filter(lambda l: l.startswith('{"name"'), done.stdout.splitlines()))}


class Generation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="profline-python-")
        cls.folder = Path(cls.temporary.name)
        cls.plain = run(cls.folder, False)
        cls.shown = run(cls.folder, True)
        recorded = Recorded(cls.folder)
        cls.recorded = recorded
        main = max({r["pid"] for r in recorded.requests}, key=lambda pid: sum(r["pid"] == pid for r in recorded.requests))
        cls.forked = [r for r in recorded.requests if r["pid"] != main]
        unknown = {name for name, line in cls.plain.items() if line.get("unknown")}
        # What this release cannot do with this torch, with or without profline.
        cls.broken = {name for name, line in cls.plain.items() if line.get("failed")} - FAILING
        cls.expected = {name: row for name, row in {**EXPECTED, **(COMPILED if IS_LONG else {})}.items() if name not in unknown}
        ordered = sorted((r for r in recorded.requests if r["pid"] == main), key=lambda r: r["start_ns"])
        cls.count = len(ordered)
        cls.requests = dict(zip(cls.expected, ordered))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_results_are_the_same_with_and_without_profline(self):
        def results(shown):
            return {name: (line.get("ids"), line.get("failed")) for name, line in shown.items()}

        self.assertEqual(results(self.shown), results(self.plain))
        self.assertEqual({name for name, line in self.shown.items() if line.get("failed")}, FAILING | self.broken)
        if self.broken:
            print("this transformers fails, with and without profline: " + ", ".join(sorted(self.broken)), file=sys.stderr)

    def test_each_generate_is_one_request(self):
        self.assertEqual(self.count, len(self.expected))
        self.assertEqual(len(self.forked), 1)
        self.assertEqual(self.recorded.problems, [])

    def test_tokens_sequences_and_steps(self):
        for name, (prompt, new, batch, steps, mode) in self.expected.items():
            with self.subTest(name):
                if name in self.broken:
                    continue
                request = self.requests[name]
                decode = phases(request).get("decode")
                found = (request.get("prompt_tokens"), request.get("new_tokens"), request.get("batch"),
                         len(decode["steps_ns"]) if decode else None, request["attributes"]["mode"])
                wanted = tuple(f if w is ... else w for w, f in zip((prompt, new, batch, steps, mode), found))
                self.assertEqual(found, wanted)

    def test_steps_are_new_tokens_less_one_wherever_a_step_makes_one_token(self):
        for name, request in self.requests.items():
            if request["attributes"]["mode"] in ("greedy_search", "sample") and request.get("new_tokens", 0) > 1:
                with self.subTest(name):
                    self.assertEqual(len(phases(request)["decode"]["steps_ns"]), request["new_tokens"] - 1)

    def test_phases_add_up_to_the_wall_time_of_generate(self):
        for name, request in self.requests.items():
            if name != "wrong argument" and name not in self.broken:
                self.assertEqual(sum(phase["ns"] for phase in request["phases"]), request["ns"], name)
        # Calls of a few milliseconds may lose the processor between the program's clock and ours, so the best of some.
        shares = [self.requests[f"long {i}"]["ns"] / self.shown[f"long {i}"]["wall_ns"] for i in range(3)]
        print(f"phases cover {100 * max(shares):.2f} % of the wall time of generate()", file=sys.stderr)
        self.assertLessEqual(max(shares), 1)
        self.assertGreater(max(shares), 0.99)

    def test_what_else_is_recorded(self):
        attributes = {name: request["attributes"] for name, request in self.requests.items()}
        greedy = {"mode": "greedy_search", "beams": 1, "max_new_tokens": 8, "finish": "length"}
        self.assertEqual({name: attributes["greedy"][name] for name in greedy}, greedy)
        self.assertLessEqual({*attributes["greedy"]} - {*greedy}, {"cache", "num_return_sequences"})
        self.assertIn(attributes["greedy"]["cache"], ("DynamicCache", "tuple"))
        # Releases of 4.40 keep a static cache in the model, where later calls use it too.
        if not self.recorded.of("process")[0]["transformers"].startswith("4.40"):
            self.assertEqual(attributes["static cache"]["cache"], "StaticCache")
            self.assertEqual(attributes["continued"]["cached_tokens"], 17)
        self.assertEqual((attributes["beams"]["beams"], attributes["assisted"]["assistant"]), (3, "LlamaForCausalLM"))
        self.assertEqual(attributes["stopped"]["finish"], "eos")
        self.assertEqual(attributes["ends early"]["prompt_tokens_each"], [10, 6])
        self.assertEqual(len(attributes["ends early"]["new_tokens_each"]), 2)
        self.assertEqual(attributes["interrupted"]["failed"], "KeyboardInterrupt")
        self.assertEqual(attributes["streamed"]["streamer"], "TextIteratorStreamer")
        self.assertEqual(len({self.requests[f"thread {i}"]["thread"] for i in (1, 2, 3)}), 3)

    def test_models_are_counted_exactly(self):
        models = {model["class"]: model for model in self.recorded.of("model") if model["id"] > 0 or model["class"] == "LlamaForCausalLM"}
        self.assertEqual(models["LlamaForCausalLM"]["parameters"], {"count": 115008, "bytes": 460032, "by_dtype": {"float32": 115008}, "tied": 0})
        if "qwen3" not in self.expected:
            return
        qwen = models["Qwen3ForCausalLM"]
        self.assertEqual((qwen["dtype"], qwen["parameters"]["by_dtype"], qwen["parameters"]["tied"]), ("bfloat16", {"bfloat16": qwen["parameters"]["count"]}, 320 * 64))
        self.assertEqual(qwen["config"]["model_type"], "qwen3")
        self.assertEqual((qwen["device"], qwen["attention"], qwen["quantization"], qwen["compiled"]), ("cpu", "sdpa", None, False))

    def test_versions(self):
        process = self.recorded.of("process")[0]
        print("transformers " + process["transformers"] + ", torch " + process["torch"], file=sys.stderr)
        self.assertRegex(process["transformers"], r"^[45]\.")
        self.assertEqual(process["argv"], ["transformers_program.py"])

    @unittest.skipUnless(IS_LONG, "only in `make test-long`")
    def test_compilation_is_marked(self):
        self.assertIn("compile", {mark["name"] for mark in self.recorded.of("mark")})
        self.assertTrue(any(model["compiled"] for model in self.recorded.of("model")))


class Captures(ProgramTest):
    python = PYTHON
    SMALL = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM
torch.set_num_threads(1); torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, eos_token_id=None)).eval()
for _ in range(3):
    print(model.generate(torch.ones(1, 6, dtype=torch.long), max_new_tokens=6 CHUNK).tolist())
"""

    def capture(self, plan, chunk=None, program=SMALL):
        path = self.write("steady.json", json.dumps(plan))
        program = program.replace("CHUNK", f", prefill_chunk_size={chunk}" if chunk else "")
        plain = self.run_program(program, adapter=False, path=[support.PACKAGE], check=False)
        if self.last.returncode != 0:
            self.skipTest("this transformers cannot do it: " + self.last.stderr.decode().splitlines()[-1])
        captured = self.run_program(program, environment={"PROFLINE_GATE": "torch", "PROFLINE_GATE_PLAN": path, "PROFLINE_TRACE_DIR": self.folder})
        self.assertEqual(captured, plain)
        names = []
        for line in self.read().of("gate"):
            events = json.loads((self.folder / line["trace"]).read_text())["traceEvents"]
            scopes = [event["name"] for event in events if event.get("cat") == "user_annotation"]
            operators = sum(event.get("cat") == "cpu_op" for event in events)
            self.assertGreater(operators, 100)
            names.append({name: scopes.count(name) for name in sorted(set(scopes))})
        return names

    def test_a_trace_of_planned_requests_has_their_phases(self):
        self.assertEqual(self.capture({"first": 1, "count": 2}), [{"decode": 2, "decode_step": 10, "prefill": 2, "request": 2, "setup": 2}])
        self.assertEqual(self.read().problems, [])

    def test_a_trace_of_few_steps_and_prefill_in_chunks(self):
        self.assertEqual(self.capture({"first": 1, "count": 1, "steps": 2}, chunk=2), [{"decode": 1, "decode_step": 2, "prefill": 1, "request": 1, "setup": 1}])

    STREAMED = """
import profline, threading, torch
from transformers import LlamaConfig, LlamaForCausalLM, TextIteratorStreamer
torch.set_num_threads(1); torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, eos_token_id=None)).eval()
class Words:
    def decode(self, ids, **options): return " ".join(f"w{i}" for i in ids) + " "
for number in range(3):
    with profline.request(number=number):
        streamer = TextIteratorStreamer(Words())
        thread = threading.Thread(target=model.generate, kwargs={"inputs": torch.ones(1, 6, dtype=torch.long), "max_new_tokens": 6, "streamer": streamer})
        thread.start()
        print("".join(streamer))
"""

    def test_a_streamed_request_is_one_request(self):
        out = self.run_program(self.STREAMED)
        self.assertEqual(self.run_program(self.STREAMED, adapter=False, path=[support.PACKAGE]), out)
        requests = self.read().requests
        self.assertEqual([request["attributes"]["number"] for request in requests], [0, 1, 2])
        for request in requests:
            self.assertEqual([*phases(request)], ["setup", "prefill", "decode"])
            self.assertEqual((len(phases(request)["decode"]["steps_ns"]), request["prompt_tokens"], request["new_tokens"]), (5, 6, 6))
            end = max(phase["start_ns"] + phase["ns"] for phase in request["phases"])
            self.assertLessEqual(end, request["ns"])
        self.assertEqual(self.read().problems, [])

    def test_a_streamed_request_is_captured_in_the_thread_that_computes_it(self):
        for steps, expected in ((None, 5), (2, 2)):
            with self.subTest(steps):
                for file in self.recorded.glob("*.jsonl"):
                    file.unlink()
                (names,) = self.capture({"first": 1, "count": 1, "steps": steps}, program=self.STREAMED)
                self.assertEqual(names, {"decode": 1, "decode_step": expected, "prefill": 1, "setup": 1})
                self.assertEqual(self.read().problems, [])

    def test_the_first_streamed_request_is_captured_without_its_operators(self):
        path = self.write("steady.json", json.dumps({"first": 0, "count": 1, "steps": 2}))
        self.run_program(self.STREAMED, environment={"PROFLINE_GATE": "torch", "PROFLINE_GATE_PLAN": path, "PROFLINE_TRACE_DIR": self.folder})
        self.assertEqual(self.read().problems, ["generate() ran in another thread than the one that opened torch.profiler, so its operators are not in the trace"])
        self.assertEqual([line["requests"] for line in self.read().of("gate")], [[0]])

    def test_a_request_of_the_program_around_generate(self):
        text = self.SMALL.replace("CHUNK", "").replace("    print", "    with profline.request(), profline.phase('write'): print").replace("import torch", "import profline, torch", 1)
        self.run_program(text)
        requests = self.read().requests
        self.assertEqual(len(requests), 3)
        self.assertEqual([*phases(requests[0])], ["write", "write/setup", "write/prefill", "write/decode"])
        self.assertEqual((requests[0]["new_tokens"], requests[0]["model"]), (6, 0))

    def test_quantised_weights_count_with_their_real_shape(self):
        """As bitsandbytes packs them, and as fp8 checkpoints hold them."""
        text = self.SMALL.split("for _")[0] + """
import copy, json, types
from profline_adapter.model import described
print(json.dumps(sum(p.numel() for p in model.parameters())))
eight = copy.deepcopy(model)
eight.lm_head.weight.data = eight.lm_head.weight.data.to(torch.float8_e4m3fn)
four = copy.deepcopy(model)
elements = four.lm_head.weight.numel()
packed = torch.nn.Parameter(torch.zeros(elements // 2, 1, dtype=torch.uint8), requires_grad=False)
packed.quant_state = types.SimpleNamespace(shape=four.lm_head.weight.shape, quant_type="nf4", absmax=torch.zeros(elements // 64))
four.lm_head.weight = packed
for one in (eight, four):
    line = described(one)
    print(json.dumps([line["parameters"], line["quantization"]]))
"""
        count, eight, four = map(json.loads, self.run_program(text).splitlines())
        head = 64 * 32
        self.assertEqual(eight, [{"count": count, "bytes": 4 * (count - head) + head, "by_dtype": {"float32": count - head, "float8_e4m3fn": head}, "tied": 0},
                                 {"weights": ["float8_e4m3fn"]}])
        self.assertEqual(four, [{"count": count, "bytes": 4 * (count - head) + head // 2 + 4 * head // 64,
                                 "by_dtype": {"float32": count - head, "nf4": head}, "tied": 0}, {"weights": ["nf4"]}])

    def test_continuous_batching_is_reported(self):
        text = self.SMALL.split("for _")[0] + """
try:
    model.init_continuous_batching()
except Exception as error:
    print(type(error).__name__)
print(hasattr(model, "init_continuous_batching"))
"""
        if not self.run_program(text).endswith("True\n"):
            self.skipTest("this transformers has no continuous batching")
        self.assertIn("continuous batching", self.read().problems[0])


class Configurations(unittest.TestCase):
    def test_the_recorded_configurations_are_what_this_transformers_builds(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PYTHON, ROOT / "tests/python/make_transformers_configs", folder], check=True, capture_output=True, timeout=600)
            for file in sorted((ROOT / "tests/fixtures/transformers-configs").glob("*.json")):
                with self.subTest(file.stem):
                    old, new = json.loads(file.read_text()), json.loads((Path(folder) / file.name).read_text())
                    self.assertEqual(old["parameters"], new["parameters"])


if __name__ == "__main__":
    support.skip_file_without(PYTHON, "sid")
    unittest.main()
