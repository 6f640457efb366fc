#!/usr/bin/env python3
"""A small inference server: aiohttp around transformers' generate(), with an untrained model of Qwen3's shape.

It answers POST /v1/completions (streamed, with usage), GET /v1/models, GET /health, POST /tokenize and GET /metrics, and
with POST /start_profile and POST /stop_profile it calls cudaProfilerStart and cudaProfilerStop.
Requests wait in a queue and are generated in batches of at most --batch; a batch runs to its end before the next one
begins, which is what makes requests wait. Each forward pass is a range `step[prefill bs=8 toks=4096]` or
`step[decode bs=8 toks=8]`, which NVTX and torch.profiler record.

    python3 server.py --port 8000 [--model qwen3-0.6b | tiny] [--batch 8] [--device cuda]
"""

import argparse
import asyncio
import json
import queue
import signal
import threading
import time
import zlib

import torch
from aiohttp import web
from transformers import Qwen3Config, Qwen3ForCausalLM
from transformers.generation.streamers import BaseStreamer

SHAPES = {
    "qwen3-0.6b": {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
                   "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "max_position_embeddings": 40960},
    "tiny": {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
             "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 1000, "max_position_embeddings": 4096},
}


class Step:
    """Names each forward pass for whatever profiler is there."""

    def __init__(self, model, use_nvtx):
        self.ranges = []
        self.use_nvtx = use_nvtx
        model.register_forward_pre_hook(self.begin, with_kwargs=True)
        model.register_forward_hook(self.end, always_call=True)

    def begin(self, _, args, kwargs):
        ids = kwargs.get("input_ids", args[0] if args else None)
        batch, length = ids.shape
        name = f"step[{'decode' if length == 1 else 'prefill'} bs={batch} toks={batch * length}]"
        scope = torch.profiler.record_function(name)
        scope.__enter__()
        if self.use_nvtx:
            torch.cuda.nvtx.range_push(name)
        self.ranges.append(scope)

    def end(self, *_):
        if self.use_nvtx:
            torch.cuda.nvtx.range_pop()
        self.ranges.pop().__exit__(None, None, None)


class Request:
    """A prompt that waits for its tokens."""

    def __init__(self, prompt, new_tokens):
        self.prompt = prompt
        self.new_tokens = new_tokens
        self.arrived = time.monotonic()
        self.tokens = asyncio.Queue()
        self.loop = asyncio.get_running_loop()

    def put(self, token):
        self.loop.call_soon_threadsafe(self.tokens.put_nowait, token)


class Fan(BaseStreamer):
    """Hands the tokens of a batch to its requests, as they come."""

    def __init__(self, batch, started, times):
        self.batch, self.started, self.times = batch, started, times
        self.steps = -1  # the first call has the prompts

    def put(self, value):
        self.steps += 1
        if self.steps == 0:
            return
        tokens = value.reshape(-1).tolist()
        if self.steps == 1:
            self.times.prefilled(len(self.batch), time.monotonic() - self.started)
        for request, token in zip(self.batch, tokens):
            if self.steps <= request.new_tokens:
                request.put(token)

    def end(self):
        pass


class Times:
    """Sums for /metrics, under the names that vLLM uses."""

    def __init__(self):
        self.queued_s = self.prefill_s = 0.0
        self.queued = self.prefills = 0

    def waited(self, seconds):
        self.queued_s += seconds
        self.queued += 1

    def prefilled(self, requests, seconds):
        self.prefill_s += seconds * requests
        self.prefills += requests

    def text(self):
        return (f"example:request_queue_time_seconds_sum {self.queued_s}\n"
                f"example:request_queue_time_seconds_count {self.queued}\n"
                f"example:request_prefill_time_seconds_sum {self.prefill_s}\n"
                f"example:request_prefill_time_seconds_count {self.prefills}\n")


class Engine(threading.Thread):
    """Generates batch after batch, on a thread of its own."""

    def __init__(self, model, device, most):
        super().__init__(name="engine", daemon=True)
        self.model, self.device, self.most = model, device, most
        self.waiting = queue.SimpleQueue()
        self.times = Times()

    def next_batch(self):
        batch = [self.waiting.get()]
        while len(batch) < self.most:
            try:
                batch.append(self.waiting.get_nowait())
            except queue.Empty:
                break
        return batch

    def run(self):
        while True:
            batch = self.next_batch()
            try:
                self.generate(batch)
            except Exception as error:  # the server goes on; the clients get the error
                print("generation failed:", error, flush=True)
                for request in batch:
                    request.put(None)

    def generate(self, batch):
        started = time.monotonic()
        for request in batch:
            self.times.waited(started - request.arrived)
        longest = max(len(request.prompt) for request in batch)
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, request in enumerate(batch):  # padded on the left
            ids[row, longest - len(request.prompt):] = torch.tensor(request.prompt)
            mask[row, longest - len(request.prompt):] = 1
        most = max(request.new_tokens for request in batch)
        with torch.inference_mode():
            self.model.generate(input_ids=ids.to(self.device), attention_mask=mask.to(self.device), max_new_tokens=most,
                                min_new_tokens=most, do_sample=False, pad_token_id=0,
                                streamer=Fan(batch, started, self.times))


def make_model(shape, device):
    torch.manual_seed(0)
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    config = Qwen3Config(**SHAPES[shape], tie_word_embeddings=True, bos_token_id=None, eos_token_id=None)
    with torch.device(device):
        model = Qwen3ForCausalLM(config).to(dtype).eval()
    model.generation_config.eos_token_id = None
    return model


class Server:
    def __init__(self, name, engine, vocabulary):
        self.name, self.engine, self.vocabulary = name, engine, vocabulary

    def ids_of(self, prompt):
        if isinstance(prompt, list):
            return [int(token) % self.vocabulary for token in prompt]
        return [zlib.crc32(word.encode()) % (self.vocabulary - 1) + 1 for word in prompt.split()] or [1]

    async def completions(self, http):
        body = await http.json()
        request = Request(self.ids_of(body.get("prompt", "")), int(body.get("max_tokens") or 16))
        self.engine.waiting.put(request)
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Server": "profline-example"})
        await answer.prepare(http)

        async def send(data):
            await answer.write(b"data: " + data + b"\n\n")

        for count in range(1, request.new_tokens + 1):
            token = await request.tokens.get()
            if token is None:
                await send(b'{"error": {"message": "generation failed"}}')
                return answer
            finish = "length" if count == request.new_tokens else None
            await send(json.dumps({"object": "text_completion", "model": self.name, "choices": [
                {"index": 0, "text": f" t{token}", "finish_reason": finish}]}).encode())
        usage = {"prompt_tokens": len(request.prompt), "completion_tokens": request.new_tokens,
                 "total_tokens": len(request.prompt) + request.new_tokens}
        await send(json.dumps({"object": "text_completion", "model": self.name, "choices": [], "usage": usage}).encode())
        await send(b"[DONE]")
        return answer

    async def models(self, _):
        return web.json_response({"object": "list", "data": [{"id": self.name, "object": "model"}]})

    async def health(self, _):
        return web.Response(text="ok")

    async def tokenize(self, http):
        body = await http.json()
        ids = self.ids_of(body.get("prompt") or body.get("content") or "")
        return web.json_response({"count": len(ids), "tokens": ids})

    async def metrics(self, _):
        return web.Response(text=self.engine.times.text())

    async def profile(self, http):
        if not torch.cuda.is_available():
            return web.Response(status=404, text="there is no GPU")
        cudart = torch.cuda.cudart()
        call = cudart.cudaProfilerStart if http.path == "/start_profile" else cudart.cudaProfilerStop
        # nsys may write its report before the call returns; requests are answered meanwhile.
        await asyncio.get_running_loop().run_in_executor(None, call)
        return web.Response(text="ok")


async def serve(arguments):
    model = make_model(arguments.model, arguments.device)
    engine = Engine(model, arguments.device, arguments.batch)
    Step(model, arguments.device == "cuda")
    print(f"model: {sum(p.numel() for p in model.parameters()):,} parameters on {arguments.device}", flush=True)
    engine.start()
    server = Server(arguments.model, engine, SHAPES[arguments.model]["vocab_size"])
    app = web.Application(client_max_size=64 << 20)
    app.add_routes([web.post("/v1/completions", server.completions), web.get("/v1/models", server.models),
                    web.get("/health", server.health), web.post("/tokenize", server.tokenize),
                    web.get("/metrics", server.metrics), web.post("/start_profile", server.profile),
                    web.post("/stop_profile", server.profile)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", arguments.port).start()
    print(f"listening on port {arguments.port}", flush=True)
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    await stop.wait()
    await runner.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--model", choices=SHAPES, default="qwen3-0.6b")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
