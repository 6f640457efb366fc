// The cost of a guardian: one run of /bin/true by PosixRunner against plain posix_spawn and wait.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include "process/runner.h"

namespace {

void spawn_and_wait(benchmark::State& state) {
  std::string program = "/bin/true";
  char* const argv[] = {program.data(), nullptr};
  while (state.KeepRunning()) {
    pid_t pid = 0;
    int status = 0;
    if (::posix_spawn(&pid, program.c_str(), nullptr, nullptr, argv, environ) != 0 ||
        ::waitpid(pid, &status, 0) != pid) {
      state.SkipWithError("cannot run /bin/true");
    }
  }
}
BENCHMARK(spawn_and_wait)->UseRealTime()->Unit(benchmark::kMicrosecond);

void posix_runner(benchmark::State& state) {
  const profline::Interrupt interrupt;
  profline::PosixRunner runner(interrupt);
  const profline::Command command{.argv = {"/bin/true"}};
  while (state.KeepRunning()) {
    if (!runner.run(command)) state.SkipWithError("cannot run /bin/true");
  }
}
BENCHMARK(posix_runner)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
