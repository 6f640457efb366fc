"""The real llama-server of Debian: our counts of tokens equal its own."""

import json
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import servers
from tiny_gguf import write_model

PROGRAM = servers.llama_server()
PROMPT, OUTPUT = 64, 24


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class LlamaServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        write_model(cls.folder / "tiny.gguf")
        port = free_port()
        cls.url = f"http://127.0.0.1:{port}"
        cls.log = open(cls.folder / "log", "w")
        cls.process = subprocess.Popen(
            [PROGRAM, "-m", cls.folder / "tiny.gguf", "--host", "127.0.0.1", "--port", str(port), "-t", "1",
             "-c", "8192", "-np", "4", "--metrics", "--no-webui"], stdout=cls.log, stderr=subprocess.STDOUT)
        print("version:", Path(PROGRAM).read_text().splitlines()[1])
        for _ in range(200):
            try:
                servers.get(cls.url + "/health")
                return
            except OSError:
                time.sleep(0.1)
        raise unittest.SkipTest("llama-server does not become ready: " + (cls.folder / "log").read_text()[-500:])

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        cls.process.wait(timeout=30)
        cls.log.close()

    def tokens(self):
        text = servers.get(self.url + "/metrics")
        return servers.metric(text, "prompt_tokens_total"), servers.metric(text, "tokens_predicted_total")

    def check(self, endpoint, arrival="concurrency=4"):
        before = self.tokens()
        result = servers.load(self.url, f"endpoint={endpoint}", "+pipeline.workload.load.extra_body.cache_prompt=false",
                              f"arrival.{arrival}", "warmup.requests=4", "measure.requests=24",
                              f"prompts.input_tokens={PROMPT}", f"prompts.output_tokens={OUTPUT}")
        self.assertEqual(result.code, 0, result.stderr)
        counts = result.load["counts"]
        self.assertEqual(counts["succeeded"], 24, result.load["errors"])
        self.assertEqual(counts["output_tokens"], 24 * OUTPUT)
        self.assertEqual(counts["tokens_estimated"], 0)
        after = self.tokens()
        self.assertEqual(counts["all_prompt_tokens"], after[0] - before[0])
        self.assertEqual(counts["all_output_tokens"], after[1] - before[1])
        return result

    def test_completions(self):
        result = self.check("/v1/completions")
        self.assertEqual(result.load["prompts"]["length"], "exact")
        self.assertEqual(result.load["prompts"]["mean_prompt_tokens"], PROMPT)
        self.assertTrue(all(request["prompt_tokens"] == PROMPT for request in result.requests))
        self.assertIn("tiny", result.load["model"])

    def test_chat(self):
        result = self.check("/v1/chat/completions")
        self.assertGreater(result.load["metrics"]["ttft"]["p50"]["value"], 0)

    def test_an_open_loop(self):
        result = self.check("/v1/completions", "rate=40")
        self.assertEqual(result.load["loop"], "poisson")
        self.assertEqual(json.loads((result.folder / "run.json").read_text())["state"], "ok")


if __name__ == "__main__":
    unittest.main()
