#!/usr/bin/env python3
"""What strangers, other sites and broken clients get from `profline serve`: an answer or a closed connection, never a file
that is not theirs, and never a server that is down.

    security_test.py PROFLINE
"""

import os
import socket
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from served import Served, make_runs, parse, read_all

PROFLINE = sys.argv.pop(1)
SECRET = b"nobody may read this"


class ServeTest(unittest.TestCase):
    slow = []

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        base = Path(cls.folder.name)
        (base / "secret").write_bytes(SECRET)
        cls.root = base / "runs"
        make_runs(cls.root, "--runs", "30", "--all-ok")
        cls.one, cls.plain = sorted(each.name for each in cls.root.iterdir())[:2]
        (cls.root / "beside").write_bytes(SECRET)
        (cls.root / cls.one / "big.bin").write_bytes(b"x" * 5_000_000)
        (cls.root / cls.one / "empty.txt").touch()
        cls.served = Served(PROFLINE, "serve", str(cls.root), "--port", "0")
        cls.served.list_page()
        os.symlink(base / "secret", cls.root / cls.one / "outside")  # of a run that is listed already

    @classmethod
    def tearDownClass(cls):
        # Slow clients are given up, however slowly they go on.
        for connection in cls.slow:
            assert parse(read_all(connection))[0] in (0, 400, 403), "a request that never ends is not answered"
            connection.close()
        cls.served.__exit__()
        cls.folder.cleanup()

    def tearDown(self):
        self.assertTrue(self.served.is_alive())
        status, _, _ = self.served.get("/")
        self.assertEqual(status, 200, "it still serves")

    # Who gets in.

    def test_the_token_is_needed_for_everything(self):
        for target in ["/", f"/runs/{self.one}/", f"/runs/{self.one}/files/run.json", "/assets/serve.css", "/trends", "/none",
                       "/?token=", "/?token=" + "0" * 32, "/?token=" + self.served.token[:-1]]:
            status, headers, body = self.served.get(target, token=False)
            self.assertEqual(status, 401, target)
            self.assertNotIn(b"nightly", body)
            self.assertNotIn("set-cookie", headers)

    def test_the_address_that_is_printed_gives_a_cookie_that_works(self):
        status, headers, body = self.served.get(f"/?token={self.served.token}", token=False)
        self.assertEqual(status, 200)
        self.assertNotIn(self.served.token.encode(), body)
        cookie, *attributes = headers["set-cookie"].split("; ")
        self.assertEqual(set(attributes), {"Path=/", "HttpOnly", "SameSite=Strict"})
        status, _, _ = self.served.get("/", token=False, extra=f"Cookie: {cookie}\r\n")
        self.assertEqual(status, 200)

    def test_a_foreign_host_is_refused_whatever_else_is_right(self):
        for host in ["evil.example", f"evil.example:{self.served.port}", "127.0.0.1.evil.example", "10.1.2.3", "a@127.0.0.1", "[", " "]:
            status, _, body = self.served.get("/", host=host)
            self.assertEqual(status, 403, host)
            self.assertNotIn(b"nightly", body)
        for host in ["localhost", "localhost:1", "127.0.0.1", f"[::1]:{self.served.port}"]:
            self.assertEqual(self.served.get("/", host=host)[0], 200, host)

    def test_a_host_that_is_missing_or_given_twice_is_refused(self):
        token = f"Authorization: Bearer {self.served.token}\r\nConnection: close\r\n\r\n"
        for head in ["", "Host: 127.0.0.1\r\nHost: evil.example\r\n", "Host: evil.example\r\nHost: 127.0.0.1\r\n"]:
            status, _, body = self.served.send(f"GET / HTTP/1.1\r\n{head}{token}".encode())
            self.assertEqual(status, 403, head)
            self.assertNotIn(b"nightly", body)

    def test_another_site_is_refused(self):
        for extra in ["Origin: https://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
                      "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n"]:
            self.assertEqual(self.served.get("/", extra=extra)[0], 403, extra)

    def test_nothing_can_be_changed(self):
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]:
            status, headers, _ = self.served.get("/", method=method, extra="Content-Length: 0\r\n")
            self.assertEqual(status, 405, method)
            self.assertEqual(headers["allow"], "GET, HEAD")

    def test_every_answer_forbids_scripts_of_others(self):
        for target in ["/", "/none", f"/runs/{self.one}/", f"/runs/{self.one}/files/run.json", "/assets/serve.js", "/%"]:
            _, headers, _ = self.served.get(target)
            policy = headers["content-security-policy"]
            self.assertTrue(policy.startswith("default-src 'none'"), target)
            self.assertNotIn("script-src 'unsafe-inline'", policy)
            self.assertNotIn("unsafe-eval", policy)
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            self.assertEqual(headers["cross-origin-resource-policy"], "same-origin")
            self.assertNotIn("access-control-allow-origin", headers)

    # What can be read.

    def test_no_path_leads_out(self):
        below = f"/runs/{self.one}/files/"
        for path in ["../../secret", "..%2f..%2fsecret", "%2e%2e/%2e%2e/secret", "..\\..\\secret", "%5c..%5c..%5csecret",
                     "....//....//secret", "/etc/passwd", "%2fetc%2fpasswd", "outside", "./outside", "baseline/../outside",
                     "%c0%ae%c0%ae/secret", "..%00/secret", "run.json%00.txt", "..;/secret", "~/secret", "../beside"]:
            status, _, body = self.served.get(below + path)
            self.assertIn(status, (400, 404), path)
            self.assertNotIn(SECRET, body, path)
            self.assertNotIn(b"root:", body, path)
        for target in ["/runs/..%2fsecret/files/x", "/runs/%2e%2e/", "/../secret", "//etc/passwd", "/runs/beside/", "/assets/../secret",
                       "/assets/..%2f..%2fsecret", "/sweeps/..%2f../", "/api/runs/..%2f/tiles", "http://127.0.0.1/../secret", "*"]:
            status, _, body = self.served.get(target)
            self.assertIn(status, (400, 404), target)
            self.assertNotIn(SECRET, body, target)

    def test_a_file_arrives_whole_and_in_ranges(self):
        target = f"/runs/{self.one}/files/big.bin"
        status, headers, body = self.served.get(target)
        self.assertEqual((status, len(body)), (200, 5_000_000))
        self.assertTrue(headers["content-disposition"].startswith("attachment;"))
        status, headers, body = self.served.get(target, extra="Range: bytes=10-19\r\n")
        self.assertEqual((status, body), (206, b"x" * 10))
        self.assertEqual(headers["content-range"], "bytes 10-19/5000000")
        status, headers, body = self.served.get(target, extra="Range: bytes=4999990-60000000\r\n")
        self.assertEqual((status, body, headers["content-range"]), (206, b"x" * 10, "bytes 4999990-4999999/5000000"))
        for beyond in ["bytes=5000000-", "bytes=60000000-", "bytes=60000000-70000000", "bytes=-0"]:
            status, headers, body = self.served.get(target, extra=f"Range: {beyond}\r\n")
            self.assertEqual((status, headers["content-range"]), (416, "bytes */5000000"), beyond)
            self.assertLess(int(headers["content-length"]), 1000)
        self.assertEqual(self.served.get(f"/runs/{self.one}/files/empty.txt")[0::2], (200, b""))
        status, headers, body = self.served.get(target, method="HEAD")
        self.assertEqual((status, headers["content-length"], body), (200, "5000000", b""))

    def test_many_ranges_are_not_multiplied(self):
        ranges = ",".join(["0-"] * 300)
        _, _, body = self.served.get(f"/runs/{self.one}/files/big.bin", extra=f"Range: bytes={ranges}\r\n")
        self.assertLessEqual(len(body), 5_100_000)

    # What it endures.

    def test_oversized_requests_are_refused(self):
        for data in [b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
                     b"a" * 1_000_000, b"\0" * 100_000, b"\r\n" * 100_000,
                     b"GET /?" + b"a=b&" * 1500 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"]:
            status, _, _ = self.served.send(data)
            self.assertIn(status, (0, 400, 401, 403, 413, 414, 431), data[:40])

    def test_nonsense_is_refused(self):
        for data in [b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n", bytes(range(256)) * 10,
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200, b"GET / HTTP/1.1\r\nHost: localhost\r\nRange: bytes=9-1\r\n\r\n",
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", b"GET /%ff%fe HTTP/1.1\r\nHost: localhost\r\n\r\n"]:
            with self.served.connect() as connection:
                try:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                except OSError:
                    pass  # refused already
                status, _, _ = parse(read_all(connection))
            self.assertIn(status, (0, 400, 401, 403, 404, 405, 416, 505), data[:40])

    def test_a_body_is_not_taken_for_the_next_request(self):
        smuggled = b"GET /runs HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for method in ["GET", "POST"]:
            head = (f"{method} / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.served.token}\r\n"
                    f"Content-Length: {len(smuggled)}\r\n\r\n").encode()
            with self.served.connect() as connection:
                connection.sendall(head + smuggled)
                answer = read_all(connection)
            self.assertEqual(answer.count(b"HTTP/1.1 "), 1, answer[:200])

    def test_slow_clients_delay_nobody(self):
        self.slow += [self.served.connect() for _ in range(150)]
        for connection in self.slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: local")
        for _ in range(20):
            self.assertEqual(self.served.get("/")[0], 200)

    def test_a_client_that_reads_nothing_delays_nobody(self):
        idle = []
        for _ in range(20):
            connection = self.served.connect()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(self.served.request(f"/runs/{self.one}/files/big.bin"))
            idle.append(connection)
        self.assertEqual(self.served.get("/")[0], 200)
        for connection in idle:
            connection.close()

    def test_two_hundred_clients_at_once_are_all_served(self):
        begin = threading.Barrier(200)
        statuses = []
        lock = threading.Lock()

        def ask(number: int) -> None:
            targets = ["/", "/trends", f"/runs/{self.plain}/files", f"/runs/{self.one}/files/run.json", f"/compare?a={self.plain}&b={self.plain}"]
            begin.wait()
            status = self.served.get(targets[number % len(targets)])[0]
            with lock:
                statuses.append(status)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(statuses), 200)
        self.assertLessEqual(set(statuses), {200, 503})
        # Comparisons take turns, and those that cannot wait any longer are refused.
        self.assertGreaterEqual(statuses.count(200), 160)

    def test_a_connection_serves_many_requests(self):
        with self.served.connect() as connection:
            data = self.served.request("/trends").replace(b"Connection: close\r\n", b"")
            connection.sendall(data * 3 + self.served.request("/trends"))
            self.assertEqual(read_all(connection).count(b"HTTP/1.1 200"), 4)


class StartTest(unittest.TestCase):
    def test_a_port_that_is_taken_is_an_error_only_if_it_was_asked_for(self):
        import subprocess
        with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            failed = subprocess.run([PROFLINE, "serve", folder, "--port", str(port)], capture_output=True, text=True)
            self.assertEqual((failed.returncode, failed.stdout), (1, ""))
            self.assertIn(f"cannot listen on 127.0.0.1, port {port}", failed.stderr)
            wrong = subprocess.run([PROFLINE, "serve", "--port", "x"], capture_output=True, text=True)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("--port takes a number from 0 to 65535, not 'x'", wrong.stderr)

    def test_a_download_does_not_keep_it_from_ending(self):
        size = 50_000_000
        with tempfile.TemporaryDirectory() as folder:
            make_runs(Path(folder), "--runs", "1", "--all-ok")
            name = next(Path(folder).iterdir()).name
            (Path(folder) / name / "big.bin").write_bytes(b"x" * size)
            with Served(PROFLINE, "serve", folder, "--port", "0") as served:
                served.list_page()
                with served.connect() as connection:
                    connection.sendall(served.request(f"/runs/{name}/files/big.bin"))
                    received = len(connection.recv(1))  # it is being sent
                    served.process.terminate()
                    while not served.refuses():
                        pass
                    received += len(read_all(connection))
                self.assertLess(received, size, "the rest was not sent")

    def test_a_root_that_does_not_exist_yet_is_shown_as_that(self):
        with tempfile.TemporaryDirectory() as folder:
            with Served(PROFLINE, "serve", folder + "/later", "--port", "0") as served:
                self.assertIn(b"There is no folder", served.list_page())

    def test_the_address_comes_at_once_and_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            make_runs(Path(folder), "--runs", "3")
            before = sorted((str(path), path.stat().st_mtime_ns) for path in Path(folder).rglob("*"))
            with Served(PROFLINE, "serve", folder, "--port", "0") as served:
                served.list_page()
                served.get("/trends")
            self.assertEqual(sorted((str(path), path.stat().st_mtime_ns) for path in Path(folder).rglob("*")), before)

    def test_a_warning_says_who_can_connect(self):
        import subprocess
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([PROFLINE, "serve", folder, "--port", "0", "--host", "0.0.0.0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            self.assertRegex(process.stdout.readline(), r"^http://[^:]+:\d+/\?token=[0-9a-f]{32}\n$")
            process.terminate()
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(errors, "profline: warning: other machines can connect, unencrypted; whoever has the token can read "
                                     "all runs below the roots\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
