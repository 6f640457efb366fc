#!/usr/bin/env python3
"""An inference server with three worker processes that misbehaves on demand. Loopback only, standard library only.

    engine.py --port N [--fault FAULT]

Each worker works in a loop of its own, so that a profiler has something to record. With KINETO_USE_DAEMON it writes
traces on demand as a process with libtorch does. Faults:

    dies_loading dies_in_warmup dies_in_window    it ends with code 3 and its reason
    never_ready                                   /health answers 503 for ever
    untraced_worker                               one worker starts with an empty environment
    ignores_sigterm                               it goes on after SIGTERM
    fails_in_window                               completions fail with 500 while the profiler is on
    start_404 start_409 start_hangs stop_hangs    the profiler's endpoints
    leaves_orphan                                 a detached process outlives it
    double_fork                                   one worker is started by a process that ends, so that it is nobody's child
"""

import argparse
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORKER = "import time\nwhile True:\n    sum(range(2000))\n    time.sleep(0.001)\n"
COMPUTING = "import time\nend = 0\nwhile True:\n    sum(range(20000))\n    time.sleep(0.0005)\n"


# libkineto begins a trace so much later than it was asked.
KINETO_DELAY = 2


class State:
    def __init__(self, fault, ranks):
        self.fault = fault
        self.ranks = ranks
        self.requests = 0
        self.is_profiling = False
        self.profiled_since = 0.0
        self.traces = os.environ.get("PROFLINE_TRACE_DIR", ".")
        self.started = time.monotonic()
        self.lock = threading.Lock()


def die(reason):
    print(f"engine: {reason}", file=sys.stderr, flush=True)
    os._exit(3)


def write_trace(file, seconds, rank=0, ranks=1):
    """The time until now, as libtorch's profiler writes it: a hundred steps. Of several ranks, which end each step with an
    all-reduce, the last one computes for longer."""
    step_us = seconds * 1e4
    own = {"ph": "X", "pid": os.getpid(), "tid": os.getpid()}
    events = [{**own, "cat": "cpu_op", "name": "aten::mm", "ts": i * step_us, "dur": 0.8 * step_us,
               "args": {"External id": i + 1}} for i in range(100)]
    events += [{**own, "cat": "user_annotation", "name": "execute_context_0(0)_generation_4(4)", "ts": i * step_us,
                "dur": 0.9 * step_us, "args": {}} for i in range(100)]
    if ranks > 1:
        begin, end = (0.85 if rank == ranks - 1 else 0.4) * step_us, 0.88 * step_us
        events += [{**own, "cat": "user_annotation", "name": "gloo:all_reduce", "ts": i * step_us + begin, "dur": end - begin,
                    "args": {}} for i in range(100)]
    trace = {"schemaVersion": 1, "distributedInfo": {"backend": "gloo", "rank": rank, "world_size": ranks}, "baseTimeNanoseconds": time.time_ns() - int(seconds * 1e9), "traceEvents": events}
    with open(file, "w", encoding="utf-8") as opened:
        json.dump(trace, opened)


def serve_kineto(folder):
    """libkineto's side of traces on demand; docs/kineto.md describes it."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.bind(os.path.join(folder, f"dynoconfigclient{os.getpid()}".ljust(52, "f")))
    client.settimeout(10)

    def ask(kind, body):
        client.sendto(struct.pack("=Q32s", len(body), kind) + body, os.path.join(folder, "dynolog"))
        return client.recv(1 << 16)[40:]

    while True:
        try:
            ask(b"ctxt", struct.pack("=iiq", 0, os.getpid(), 0))
            break
        except OSError:  # no daemon yet
            time.sleep(0.2)
    while True:
        time.sleep(0.2)
        try:
            config = ask(b"req", struct.pack("=iiqi", 2, 1, 0, os.getpid())).decode()
        except OSError:  # it has gone
            continue
        if config:
            wanted = dict(line.split("=", 1) for line in config.splitlines())
            seconds = int(wanted["ACTIVITIES_DURATION_MSECS"]) / 1000
            time.sleep(KINETO_DELAY + seconds)
            write_trace(wanted["ACTIVITIES_LOG_FILE"].replace(".json", f"_{os.getpid()}.json"), seconds)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state = None

    def log_message(self, *_):
        pass

    def answer(self, status, body="", kind="text/plain"):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/health":
            self.answer(503 if self.state.fault == "never_ready" else 200, "loading")
        elif self.path == "/v1/models":
            self.answer(200, json.dumps({"data": [{"id": "scripted"}]}), "application/json")
        else:
            self.answer(404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path == "/v1/completions":
            self.complete(int(body.get("max_tokens") or 4))
        elif self.path == "/tokenize":
            count = len((body.get("prompt") or body.get("content") or "").split())
            self.answer(200, json.dumps({"count": count}), "application/json")
        elif self.path in ("/start_profile", "/stop_profile"):
            self.profile(self.path == "/start_profile")
        else:
            self.answer(404)

    def profile(self, starts):
        fault = self.state.fault
        if fault == "start_404":
            self.answer(404, "Not Found")
        elif fault == "start_409" and starts:
            self.answer(409, "already profiling")
        elif fault == ("start_hangs" if starts else "stop_hangs"):
            time.sleep(3600)
        else:
            self.state.is_profiling = starts
            if starts:
                self.state.profiled_since = time.monotonic()
            else:
                self.write_trace(time.monotonic() - self.state.profiled_since)
            self.answer(200)

    def write_trace(self, seconds):
        ranks = self.state.ranks
        for rank in range(ranks):
            file = f"engine_{os.getpid()}-rank{rank}.pt.trace.json"
            write_trace(os.path.join(self.state.traces, file), seconds, rank=rank, ranks=ranks)

    def complete(self, tokens):
        state = self.state
        with state.lock:
            state.requests += 1
            number = state.requests
        if state.fault == "dies_in_warmup" and number == 6:
            die("out of memory")
        if state.fault == "fails_in_window" and state.is_profiling:
            self.answer(500, "profiling")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

        def send(data):
            chunk = f"data: {data}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))

        for token in range(tokens):
            time.sleep(0.004)
            finish = '"length"' if token + 1 == tokens else "null"
            send(f'{{"choices":[{{"index":0,"text":" t{token}","finish_reason":{finish}}}]}}')
        send(json.dumps({"choices": [], "usage": {"prompt_tokens": 8, "completion_tokens": tokens}}))
        send("[DONE]")
        self.wfile.write(b"0\r\n\r\n")


def start_workers(fault):
    workers = []
    for number in range(3):
        is_untraced = fault == "untraced_worker" and number == 2
        env = {"PATH": os.environ.get("PATH", "")} if is_untraced else None
        # The run's folder, by which a test finds it whatever its environment.
        command = [sys.executable, "-c", COMPUTING if is_untraced else WORKER, os.environ.get("PROFLINE_RUN_DIR", "")]
        if fault == "double_fork" and number == 2:
            start = f"import subprocess\nsubprocess.Popen({command!r})"
            subprocess.run([sys.executable, "-c", start], check=True)
        else:
            workers.append(subprocess.Popen(command, env=env))
    return workers


def die_in_window():
    """Waits for the window: whoever opens it from outside says so in the run's log only."""
    log = os.path.join(os.environ["PROFLINE_RUN_DIR"], "run.log")
    while "window open" not in open(log, encoding="utf-8", errors="replace").read():
        time.sleep(0.01)
    time.sleep(0.2)
    die("CUDA error: an illegal memory access was encountered")


class Engine(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--fault", default="")
    parser.add_argument("--ranks", type=int, default=1, help="workers of its profiler, which leave a trace each")
    options = parser.parse_args()
    state = Handler.state = State(options.fault, options.ranks)
    workers = start_workers(options.fault)

    def stop(*_):
        if options.fault == "ignores_sigterm":
            print("engine: SIGTERM ignored", flush=True)
            return
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.wait()
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    if options.fault == "leaves_orphan":
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
    if options.fault == "dies_loading":
        time.sleep(0.3)
        die("out of memory while loading weights")
    if os.environ.get("KINETO_USE_DAEMON"):
        threading.Thread(target=serve_kineto, args=(os.environ["KINETO_IPC_SOCKET_DIR"],), daemon=True).start()
    server = Engine(("127.0.0.1", options.port), Handler)
    print("engine: ready", flush=True)
    if options.fault == "dies_in_window":
        threading.Thread(target=die_in_window, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
