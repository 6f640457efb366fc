#!/usr/bin/env python3
"""Calls to generate() inside requests of the program: what they count, and to which request they belong."""

import unittest

from fake_transformers import MODEL, FakeTransformersTest
from support import phases

# A model whose first call waits until the program lets it go on.
WAITING = MODEL.replace("        pass", "        reached.set(); go_on.wait(60)") + """
import profline, threading
from threading import Thread
reached, go_on = threading.Event(), threading.Event()
model = Model()
def generate(**kwargs):
    return Thread(target=model.generate, args=(Ids(1, 5),), kwargs=kwargs)
"""


class GenerateCall(FakeTransformersTest):
    def requests_of(self, program):
        self.fake_transformers()
        self.run_program(program)
        return self.read().requests

    # What the program counts itself.

    def test_what_the_program_gave_is_kept(self):
        (request,) = self.requests_of(MODEL + """
import profline
with profline.request(prompt_tokens=5, new_tokens=4, batch=7):
    Model().generate(Ids(2, 50), max_new_tokens=3)
""")
        self.assertEqual((request["prompt_tokens"], request["new_tokens"], request["batch"]), (5, 4, 7))

    def test_what_the_program_did_not_give_is_added_up(self):
        (request,) = self.requests_of(MODEL + """
import profline
with profline.request(prompt_tokens=5) as request:
    Model().generate(Ids(2, 5), max_new_tokens=3)
    Model().generate(Ids(1, 9), max_new_tokens=6)
    request.set(ttft_ns=1)
""")
        self.assertEqual((request["prompt_tokens"], request["new_tokens"], request["batch"], request["ttft_ns"]), (5, 9, 2, 1))

    def test_what_the_program_gives_afterwards_replaces_what_was_counted(self):
        (request,) = self.requests_of(MODEL + """
import profline
with profline.request() as request:
    Model().generate(Ids(1, 5), max_new_tokens=3)
    request.set(new_tokens=2)
    Model().generate(Ids(1, 5), max_new_tokens=3)
""")
        self.assertEqual((request["prompt_tokens"], request["new_tokens"]), (10, 2))

    # In a thread of its own, as TextIteratorStreamer is used.

    def test_a_thread_that_a_request_waits_for_is_part_of_it(self):
        (request,) = self.requests_of(MODEL + """
import profline, threading
with profline.request(image="a"), profline.phase("write"):
    thread = threading.Thread(target=Model().generate, args=(Ids(1, 5),))
    thread.start()
    thread.join()
""")
        self.assertEqual([*phases(request)], ["write", "write/setup", "write/prefill", "write/decode"])
        self.assertEqual(len(phases(request)["write/decode"]["steps_ns"]), 3)
        self.assertEqual((request["prompt_tokens"], request["new_tokens"], request["attributes"]["image"]), (5, 4, "a"))
        self.assertEqual(self.read().problems, [])

    def test_each_request_has_its_own_thread(self):
        requests = self.requests_of(MODEL + """
import profline, threading
for number in range(3):
    with profline.request(number=number):
        thread = threading.Thread(target=Model().generate, args=(Ids(1, 5 + number),))
        thread.start()
        thread.join()
""")
        self.assertEqual([(r["attributes"]["number"], r["prompt_tokens"]) for r in requests], [(0, 5), (1, 6), (2, 7)])

    def test_a_request_lasts_until_its_thread_has_returned(self):
        """The last text of a streamer arrives before generate() returns."""
        (request,) = self.requests_of(WAITING + """
with profline.request():
    thread = generate()
    thread.start()
    reached.wait(60)
go_on.set()
thread.join()
""")
        self.assertEqual([*phases(request)], ["setup", "prefill", "decode"])
        decode = phases(request)["decode"]
        self.assertLessEqual(decode["start_ns"] + decode["ns"], request["ns"])

    def test_a_thread_that_never_returns_does_not_lose_the_request(self):
        (request,) = self.requests_of(WAITING.replace("return Thread(", "return Thread(daemon=True, ").replace("60", "") + """
with profline.request(image="a"):
    generate().start()
    reached.wait()
""")
        self.assertEqual((request["attributes"], request["phases"]), ({"image": "a"}, []))

    def test_concurrent_requests_keep_their_threads_apart(self):
        requests = self.requests_of(WAITING + """
both = threading.Barrier(2)
one = threading.Lock()  # the request that the other call is recorded as would be open as well
def serve(name):
    with profline.request(name=name):
        both.wait()
        with one:
            thread = generate()
            thread.start()
            go_on.set()
            thread.join()
        both.wait()
threads = [Thread(target=serve, args=(name,)) for name in "ab"]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
""")
        of_program = [r for r in requests if "name" in r["attributes"]]
        of_generate = [r for r in requests if "mode" in r["attributes"]]
        self.assertEqual(sorted(r["attributes"]["name"] for r in of_program), ["a", "b"])
        self.assertEqual([r["phases"] for r in of_program], [[], []])
        self.assertEqual([r["new_tokens"] for r in of_generate], [4, 4])
        self.assertEqual(self.read().problems, ["generate() ran in a thread without a request while 2 requests were open, so it is not known "
                                                "which of them it belongs to; it is recorded as a request of its own"])

    def test_a_second_thread_at_the_same_time_is_a_request_of_its_own(self):
        requests = self.requests_of(WAITING + """
with profline.request(image="a"):
    first, second = generate(), generate(max_new_tokens=2)
    first.start()
    reached.wait(60)
    second.start()
    go_on.set()
    first.join()
    second.join()
""")
        found = {r["new_tokens"]: r for r in requests}
        self.assertEqual((len(requests), found[4]["attributes"].get("image"), found[2]["attributes"].get("image")), (2, "a", None))
        self.assertIn("two calls to generate() ran at once in one request", self.read().problems[0])

    def test_threads_without_a_request_around_them_do_not_join_each_other(self):
        requests = self.requests_of(WAITING + """
first, second = generate(), generate(max_new_tokens=2)
first.start()
reached.wait(60)
second.start()
go_on.set()
first.join()
second.join()
""")
        self.assertEqual(sorted(r["new_tokens"] for r in requests), [2, 4])
        self.assertEqual(self.read().problems, [])

    def test_a_request_in_another_thread_is_not_part_of_an_open_one(self):
        requests = self.requests_of(MODEL + """
import profline, threading
def work():
    with profline.request(name="inner"):
        Model().generate(Ids(1, 5))
with profline.request(name="outer"):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
""")
        self.assertEqual([(r["attributes"]["name"], [*phases(r)]) for r in requests], [("inner", ["setup", "prefill", "decode"]), ("outer", [])])

    def test_a_fork_inside_a_request_joins_nothing(self):
        requests = self.requests_of(MODEL + """
import os, profline
with profline.request(name="parent"):
    if os.fork() == 0:
        Model().generate(Ids(1, 2), max_new_tokens=2)
        os._exit(0)
    os.wait()
""")
        self.assertEqual(sorted(len(r["phases"]) for r in requests), [0, 3])


if __name__ == "__main__":
    unittest.main()
