#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/files.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "tools/kineto/environment.h"
#include "tools/kineto/responder.h"
#include "tools/kineto/traced_processes.h"

namespace profline::kineto {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A loop that knows nothing of profilers, and a worker that does the same. They say when their
/// work begins, and continue until their trace exists, so that the test does not fail on a slow
/// machine.
constexpr const char* kScript = R"(
import multiprocessing, os, time, torch

def work():
    x = torch.randn(64, 64)
    open(f'working-{os.getpid()}', 'w').close()
    end = time.monotonic() + 40
    while time.monotonic() < end and not os.path.exists(f'kineto_{os.getpid()}.json'):
        for _ in range(100):
            x = torch.tanh(x @ x)
    time.sleep(1)

if __name__ == '__main__':
    worker = multiprocessing.get_context('spawn').Process(target=work)
    worker.start()
    work()
    worker.join()
)";

TEST(KinetoOnDemand, TracesEveryProcessOfAnUnmodifiedProgram) {
  const fs::path tree = testing::binary_dir() / "tools/python-sid";
  if (!fs::exists(tree / "complete")) {
    GTEST_SKIP() << "no PyTorch: scripts/fetch_python sid unpacks Debian's";
  }
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder / "script.py", kScript));
  ASSERT_TRUE(write_file_atomic(folder / "kineto.conf", config_text()));
  const fs::path sockets = socket_folder(folder.path());
  const TraceRequest trace{
      .file = folder / "kineto.json", .duration = std::chrono::milliseconds(500), .shapes = true};
  const auto responder = Responder::open(sockets, trace, [&](const Client& client) {
    return fs::exists(folder / ("working-" + std::to_string(client.pid)));
  });
  ASSERT_TRUE(responder) << responder.error().to_string();

  Command command{.argv = {(tree / "usr/bin/python3").string(), "script.py"}};
  command.env = environment(sockets, folder.path(), folder / "kineto.conf");
  command.env["OMP_NUM_THREADS"] = "1";
  command.cwd = folder.path();
  command.timeout = std::chrono::seconds(100);
  const SystemClock clock;
  ProcessWatch watch(clock);
  Interrupt interrupt;
  PosixRunner runner(interrupt);
  const auto exit = runner.run(command, watch);
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_TRUE(exit->succeeded()) << exit->describe() << "\n" << exit->tail;

  const Traffic traffic = (*responder)->traffic();
  EXPECT_EQ(traffic.garbage, 0U);
  const auto traces = outcomes(traffic, watch.processes(), trace);
  const auto traced = std::count_if(traces.begin(), traces.end(), [](const ProcessTrace& one) {
    return one.outcome == Outcome::Traced;
  });
  EXPECT_EQ(traced, 2) << "of " << traces.size() << " processes\n" << exit->tail;
  for (const ProcessTrace& one : traces) {
    if (one.outcome != Outcome::Traced) continue;
    EXPECT_THAT(read_file(one.file).value_or(""), HasSubstr("aten::tanh"));
  }
}

}  // namespace
}  // namespace profline::kineto
