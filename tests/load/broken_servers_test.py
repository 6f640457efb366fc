"""Servers that misbehave: each is named in load.json, none hangs the client, and the rest of the load goes on."""

import subprocess
import unittest

import servers

# What the server does, and the kind of error that requests to it have.
KINDS = {
    "reset_at_once": "reset",
    "close_at_once": "reset",
    "close_in_headers": "truncated",
    "not_http": "protocol",
    "silence": "timeout",
    "stuck_in_headers": "timeout",
    "endless_headers": "headers_too_large",
    "endless_header_line": "headers_too_large",
    "endless_continue": "headers_too_large",
    "status_204": "http_204",
    "status_400": "http_400",
    "status_401": "http_401",
    "status_404": "http_404",
    "status_429": "http_429",
    "status_500": "http_500",
    "status_503_endless": "http_503",
    "redirect": "redirect",
    "redirect_loop": "redirect",
    "gzip": "compressed",
    "gzip_transfer": "compressed",
    "html": "malformed",
    "json": "malformed",
    "not_json": "malformed",
    "no_choices": "malformed",
    "nul_bytes": "malformed",
    "invalid_utf8": "malformed",
    "deep_json": "malformed",
    "cut_in_event": "truncated",
    "no_finish": "truncated",
    "empty_stream": "truncated",
    "no_output": "empty",
    "length_too_long": "truncated",
    "length_too_short": "truncated",
    "bad_chunk_size": "protocol",
    "reset_in_stream": "reset",
    "stall_in_stream": "timeout",
    "endless_stream": "too_large",
    "endless_line": "too_large",
    "endless_comments": "too_large",
    "error_in_stream": "server_error",
    "error_event": "server_error",
}
# Unusual, but complete: these requests succeed.
COMPLETE = ["done_without_end", "no_done"]

SMALL = ("warmup.requests=0", "measure.requests=10", "arrival.concurrency=4", "prompts.input_tokens=8",
         "prompts.output_tokens=4", "timeout=2")


class BrokenServers(unittest.TestCase):
    def test_every_kind_of_the_server_is_listed_here(self):
        process = subprocess.run([servers.SCRIPTED, "--broken", "?"], capture_output=True, text=True)
        self.assertEqual(set(process.stdout.split()), {*KINDS, *COMPLETE})
        self.assertGreaterEqual(len(KINDS), 30)

    def test_each_is_named_and_the_rest_goes_on(self):
        for kind, expected in KINDS.items():
            with self.subTest(kind), servers.Scripted("--broken", kind) as server:
                result = servers.load(server.url, *SMALL, limit=60)
                counts = result.load["counts"]
                self.assertEqual(set(result.errors()), {expected}, result.load["errors"])
                self.assertEqual(counts["succeeded"] + counts["failed"], 10)
                self.assertGreaterEqual(counts["succeeded"], 4, result.load["errors"])
                self.assertEqual(len(result.requests), counts["succeeded"])
                self.assertEqual(result.code, 0, result.stderr)
                self.assertTrue(all(error["example"] for error in result.load["errors"]))

    def test_unusual_ends_are_not_errors(self):
        for kind in COMPLETE:
            with self.subTest(kind), servers.Scripted("--broken", kind) as server:
                result = servers.load(server.url, *SMALL, limit=60)
                self.assertEqual(result.load["counts"]["succeeded"], 10, result.load["errors"])
        self.assertGreater(result.load["counts"]["without_done"], 0)
        self.assertGreater(result.load["counts"]["tokens_estimated"], 0)

    def test_nothing_listens(self):
        with servers.Scripted() as server:
            url = server.url
        result = servers.load(url, *SMALL)
        self.assertEqual(result.code, 1)
        self.assertEqual(result.errors(), {"refused": 1})
        self.assertIn("no request succeeded", result.stderr)


if __name__ == "__main__":
    unittest.main()
