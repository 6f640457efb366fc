// Marks requests, phases and steps with profline/phases.h; recorder_test.cpp runs it with the
// recorder, without it, and under another tool. Prints `done`.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <nvtx3/nvToolsExt.h>
#include <profline/phases.h>

namespace {

void two_requests() {
  for (int i = 0; i < 2; ++i) {
    profline::request request;
    {
      const profline::phase prefill("prefill");
      const profline::phase attention("attention");
    }
    profline::phase decode("decode");
    for (int token = 0; token < 3; ++token) decode.step();
    request.number("prompt_tokens", 7);
    request.number("new_tokens", 4);
    request.number("pages", 2);
  }
}

// The end of a request also ends the phases that an exception left open.
void left_open() {
  try {
    profline_request_begin();
    profline_phase_begin("prefill");
    profline_phase_begin("attention");
    throw std::runtime_error("out of memory");
  } catch (const std::exception&) {
    profline_request_end();
  }
  profline_request_end();
  two_requests();
}

// Both ways to open ranges, in one program.
void mixed() {
  nvtxRangePushA("request");
  profline_phase_begin("decode");
  nvtxRangePushA("attention");
  nvtxRangePop();
  profline_phase_end();
  nvtxRangePop();
}

void across_threads() {
  const std::uint64_t request = profline_range_start("request");
  std::thread worker([] { const profline::phase decode("decode"); });
  worker.join();
  profline_range_end(request);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "two_requests") == 0) two_requests();
  if (std::strcmp(what, "left_open") == 0) left_open();
  if (std::strcmp(what, "mixed") == 0) mixed();
  if (std::strcmp(what, "across_threads") == 0) across_threads();
  std::printf("done %llu\n", static_cast<unsigned long long>(profline_dropped()));
  return 0;
}
