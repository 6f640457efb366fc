"""The search for the highest rate that meets the SLOs, against a server with a planted capacity."""

import os
import unittest

import servers


class Search(unittest.TestCase):
    def test_the_planted_capacity_is_found(self):
        capacity = 120
        with servers.Scripted("--ttft", 5, "--gap", 1, "--capacity", capacity) as server:
            result = servers.load(server.url, "search=true", "slo.ttft_ms=50", "arrival.process=constant",
                                  "measure.requests=300", "warmup.requests=8", "prompts.input_tokens=16",
                                  "prompts.output_tokens=4", limit=300)
        search = result.load["search"]
        self.assertIsNotNone(search["rate"], result.stderr)
        self.assertLessEqual(search["rate"] / capacity, 1.05, search)
        if os.environ.get("PROFLINE_TEST_LONG"):
            # On a busy machine the scripted server itself does not reach its capacity.
            self.assertGreaterEqual(search["rate"] / capacity, 0.95, search)
        # All runs at one rate count together, so one of them may have missed the SLOs by itself on a busy machine.
        self.assertGreaterEqual(search["confirmations"], 1)
        self.assertGreaterEqual([trial["rate"] for trial in search["trials"]].count(search["rate"]), 2)
        self.assertGreater(search["missed_rate"], search["rate"])
        self.assertGreater(len(search["trials"]), 3)
        self.assertIn("of the requests were good at this rate", search["confidence"])
        self.assertEqual(result.load["rate"], search["rate"], "the metrics are those of the result")
        self.assertEqual(len(result.requests), 300)

    def test_slos_that_no_rate_meets(self):
        with servers.Scripted("--ttft", 60, "--gap", 1) as server:
            result = servers.load(server.url, "search=true", "slo.ttft_ms=10", "arrival.rate=0.02",
                                  "arrival.process=constant", "measure.requests=1", "warmup.requests=0",
                                  "prompts.output_tokens=4", limit=300)
        self.assertIsNone(result.load["search"]["rate"])
        self.assertIn("no rate that was tried met the SLOs", result.load["search"]["confidence"])
        self.assertEqual(result.code, 0, "something was measured")


if __name__ == "__main__":
    unittest.main()
