// A program of several ranks that communicate over Gloo, on the CPU: each iteration is a request
// with the phases `compute` and `all_reduce`, marked through profline/phases.h.
//
//     gloo_ranks STORE [ITERATIONS]        STORE: beginning of the name of a file that all ranks
//     can reach
//
// SLOW=2:30 lets rank 2 sleep for 30 ms before each collective; FAULT=2:exit, 2:kill and 2:hang end
// it, kill it or let it wait forever in the middle. If PROFLINE_TRACE_DIR is set, each rank writes
// its operators there, in the format of PyTorch's profiler: Debian 12's libtorch has no Kineto.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/torch.h>

#include "profline/phases.h"

namespace {

using Clock = std::chrono::system_clock;

std::string variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) return value;
  }
  return "";
}

/// `2:exit` for rank 2: `exit`.
std::string mine(const char* name, int rank) {
  const std::string text = variable({name});
  const std::string start = std::to_string(rank) + ":";
  return text.rfind(start, 0) == 0 ? text.substr(start.size()) : "";
}

double now_us() {
  return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

/// What PyTorch's profiler would write.
class Trace {
 public:
  Trace(int rank, int size) : rank_(rank), size_(size) {}

  void add(const std::string& name, const std::string& category, double from_us, double to_us,
           const std::string& args) {
    char times[96];
    std::snprintf(times, sizeof times, "\"ts\":%.3f,\"dur\":%.3f", from_us, to_us - from_us);
    events_.push_back("{\"ph\":\"X\",\"cat\":\"" + category + "\",\"name\":\"" + name +
                      "\",\"pid\":" + std::to_string(::getpid()) + ",\"tid\":" +
                      std::to_string(::getpid()) + "," + times + ",\"args\":{" + args + "}}");
  }
  void write() const {
    const std::string folder = variable({"PROFLINE_TRACE_DIR"});
    if (folder.empty()) return;
    std::ofstream out(folder + "/trace-" + std::to_string(::getpid()) + ".json");
    out << "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"gloo\",\"rank\":" << rank_
        << ",\"world_size\":" << size_ << "},\"traceEvents\":[\n";
    for (std::size_t i = 0; i < events_.size(); ++i) out << (i == 0 ? "" : ",\n") << events_[i];
    out << "\n]}\n";
  }

 private:
  int rank_;
  int size_;
  std::vector<std::string> events_;
};

void fail_on_purpose(const std::string& fault) {
  if (fault == "exit") {
    std::fprintf(stderr, "this rank fails on purpose\n");
    std::_Exit(5);
  }
  if (fault == "kill") ::kill(::getpid(), SIGKILL);
  while (fault == "hang") ::pause();
}

void iterate(c10d::ProcessGroupGloo& group, int rank, int iteration, Trace& trace) {
  const std::string slow = mine("SLOW", rank);
  const double size = group.getSize();
  profline::request request;
  at::Tensor values;
  {
    profline::phase compute("compute");
    const double from = now_us();
    const at::Tensor a = torch::full({96, 96}, 1.0);
    values = torch::mm(a, a).flatten() * (rank + 1);
    if (iteration == 3) fail_on_purpose(mine("FAULT", rank));
    if (!slow.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(slow)));
    trace.add("aten::mm", "cpu_op", from, now_us(), "\"Input Dims\":[[96,96],[96,96]]");
  }
  profline::phase communicate("all_reduce");
  const double from = now_us();
  std::vector<at::Tensor> tensors = {values};
  group.allreduce(tensors)->wait();
  const double to = now_us();
  const std::string about =
      "\"Collective name\":\"allreduce\",\"dtype\":\"Float\",\"In msg nelems\":" +
      std::to_string(values.numel()) + ",\"Out msg nelems\":" + std::to_string(values.numel()) +
      ",\"Group size\":" + std::to_string(group.getSize()) +
      ",\"Process Group Name\":\"0\",\"Process Group Description\":\"default_pg\"";
  trace.add("record_param_comms", "cpu_op", from, from + 1, about);
  trace.add("gloo:all_reduce", "user_annotation", from, to, "");
  const double expected = 96 * size * (size + 1) / 2;
  if (std::abs(values[0].item<double>() - expected) > 0.5) {
    std::fprintf(stderr, "wrong sum: %g, not %g\n", values[0].item<double>(), expected);
    std::_Exit(3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int rank = std::stoi(variable({"OMPI_COMM_WORLD_RANK", "RANK", "SLURM_PROCID"}));
    const int size = std::stoi(variable({"OMPI_COMM_WORLD_SIZE", "WORLD_SIZE", "SLURM_NTASKS"}));
    const int iterations = argc > 2 ? std::stoi(argv[2]) : 8;
    torch::set_num_threads(1);
    const std::string launch = variable({"PMIX_NAMESPACE", "MASTER_PORT", "SLURM_STEP_ID"}) + "-" +
                               variable({"SLURM_JOB_ID"});
    auto store = c10::make_intrusive<c10d::FileStore>(std::string(argv[1]) + "-" + launch, size);
    auto options = c10d::ProcessGroupGloo::Options::create();
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    c10d::ProcessGroupGloo group(store, rank, size, options);
    std::printf("rank %d of %d: pid %d\n", rank, size, ::getpid());
    std::fflush(stdout);
    // The first collective waits for the slowest start and connects the ranks.
    std::vector<at::Tensor> first = {torch::ones({96 * 96})};
    group.allreduce(first)->wait();
    Trace trace(rank, size);
    for (int i = 0; i < iterations; ++i) iterate(group, rank, i, trace);
    trace.write();
    group.barrier()->wait();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
  return 0;
}
