// The torch_profiler stage on programs of a real PyTorch: through the Python adapter, and by Kineto
// on demand.

#include <algorithm>
#include <iostream>
#include <map>

#include <gmock/gmock.h>

#include "base/files.h"
#include "formats/json.h"
#include "nsight_tools.h"
#include "profline_binary.h"
#include "records/range_use.h"
#include "records/request.h"
#include "records/torch_tables.h"
#include "run_folder.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class TorchProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    python_ = testing::binary_dir() / "tools/python-sid/usr/bin/python3";
    if (!fs::exists(testing::binary_dir() / "tools/python-sid/complete")) {
      GTEST_SKIP() << "no PyTorch: scripts/fetch_python sid unpacks Debian's";
    }
  }
  Outcome run(const std::string& script, const Words& overrides) {
    write_files(folder_.path(), {{"script.py", script}});
    Words words = {"run", "hydra.run.dir=run", "device=cpu", "pipeline.nsys.enable=false"};
    words.insert(words.end(), overrides.begin(), overrides.end());
    words.insert(words.end(), {"--", "env", "OMP_NUM_THREADS=1", python_.string(), "script.py"});
    return run_profline_in(folder_.path(), words);
  }
  std::string text(const std::string& file) const {
    return read_file(folder_ / "run/torch_profiler" / file).value_or("");
  }
  TorchOperators operators() const {
    const auto table = from_document<TorchOperators>(text("operators.json"), "operators.json");
    EXPECT_TRUE(table) << table.error().to_string();
    return table ? *table : TorchOperators{};
  }

  testing::TempDir folder_;
  fs::path python_;
};

/// Knows nothing of profline.
constexpr const char* kLoop = R"(
import time, torch
x = torch.randn(64, 64)
end = time.monotonic() + 8
while time.monotonic() < end:
    x = torch.tanh(x @ x)
)";

TEST_F(TorchProgram, IsTracedOnDemandWithoutTheAdapter) {
  const Outcome outcome = run(kLoop, {"pipeline.workload.python=off"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const RunRecord record = record_of(folder_ / "run");
  EXPECT_EQ(state_of(record, "torch_profiler"), StageState::Ok) << outcome.err;
  EXPECT_THAT(operators().operators, Contains(Field(&TorchOperator::name, "aten::tanh")));
  EXPECT_THAT(text("traces.json"), HasSubstr("\"source\": \"kineto\""));
  EXPECT_THAT(read_file(folder_ / "run/operators.md").value_or(""), HasSubstr("aten::tanh"));
}

/// Four requests of one prefill and three steps.
constexpr const char* kRequests = R"(
import profline, torch
x = torch.randn(64, 64)
for i in range(4):
    with profline.request():
        with profline.phase("prefill"):
            x = torch.tanh(x @ x)
        with profline.phase("decode"):
            for _ in range(3):
                profline.step()
                x = torch.sigmoid(x @ x)
)";

TEST_F(TorchProgram, HasOneSteadyRequestTracedByTheAdapter) {
  const Outcome outcome = run(kRequests, {"pipeline.torch_profiler.record_shapes=true"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const RunRecord record = record_of(folder_ / "run");
  EXPECT_EQ(state_of(record, "torch_profiler"), StageState::Ok) << outcome.err;
  const TorchOperators table = operators();
  EXPECT_THAT(table.operators, Contains(Field(&TorchOperator::name, "aten::sigmoid")));
  EXPECT_THAT(table.ranges, Contains(Field(&TorchOperator::name, "decode")));
  EXPECT_THAT(text("traces.json"), HasSubstr("\"source\": \"adapter\""));
  const auto requests = parse_requests(text("workload/requests.jsonl"), "requests.jsonl");
  ASSERT_TRUE(requests) << requests.error().to_string();
  ASSERT_EQ(requests->size(), 1U);
  EXPECT_GE(requests->front().id, 1U) << "the first is cold";
  const auto sigmoid =
      std::find_if(table.operators.begin(), table.operators.end(),
                   [](const TorchOperator& row) { return row.name == "aten::sigmoid"; });
  ASSERT_NE(sigmoid, table.operators.end());
  EXPECT_EQ(sigmoid->calls, 3U) << "of one request";
}

/// Requests in one process, and work in another that knows nothing of profline. Both go on until
/// the worker's trace exists, so that the test does not fail on a slow machine.
constexpr const char* kWithAWorker = R"(
import glob, multiprocessing, os, time, torch

def traced():
    return bool(glob.glob(os.path.join(os.environ.get("PROFLINE_TRACE_DIR", "none"), "kineto_*.json")))

def work():
    x = torch.randn(64, 64)
    end = time.monotonic() + (40 if "PROFLINE_TRACE_DIR" in os.environ else 2)
    while time.monotonic() < end and not traced():
        for _ in range(100):
            x = torch.tanh(x @ x)
    time.sleep(1)

if __name__ == "__main__":
    import profline
    worker = multiprocessing.get_context("spawn").Process(target=work)
    worker.start()
    x = torch.randn(64, 64)
    for i in range(4):
        with profline.request():
            with profline.phase("decode"):
                for _ in range(3):
                    profline.step()
                    x = torch.sigmoid(x @ x)
    worker.join()
)";

TEST_F(TorchProgram, HasItsWorkerTracedOnDemand) {
  const Outcome outcome = run(kWithAWorker, {});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(state_of(record_of(folder_ / "run"), "torch_profiler"), StageState::Ok);
  EXPECT_THAT(operators().operators, Contains(Field(&TorchOperator::name, "aten::sigmoid")));
  EXPECT_THAT(text("traces.json"), HasSubstr("\"source\": \"adapter\""));
  EXPECT_THAT(text("traces.json"), HasSubstr("\"source\": \"kineto\""));
  EXPECT_THAT(outcome.err + read_file(folder_ / "run/report.md").value_or(""),
              Not(HasSubstr("never asked for a trace")));
}

/// Four processes that make two requests each, in step, the first of which is cold.
constexpr const char* kWorkers = R"(
import multiprocessing

def work(barrier):
    import profline, torch
    torch.set_num_threads(1)
    x = torch.randn(64, 64)
    for i in range(2):
        barrier.wait()
        with profline.request():
            for _ in range(500 if i == 0 else 1):
                x = torch.sigmoid(x @ x)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(4)
    workers = [context.Process(target=work, args=(barrier,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
)";

TEST_F(TorchProgram, OfSeveralProcessesIsTracedInEachOfThem) {
  const Outcome outcome = run(kWorkers, {});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(state_of(record_of(folder_ / "run"), "torch_profiler"), StageState::Ok) << outcome.err;
  const std::string traces = text("traces.json");
  std::size_t adapters = 0;
  for (std::size_t at = 0; (at = traces.find("\"adapter\"", at)) != std::string::npos; ++at) {
    ++adapters;
  }
  EXPECT_EQ(adapters, 4U) << traces;
  EXPECT_EQ(requests_in(folder_ / "run/torch_profiler/workload").size(), 4U)
      << "the second of each process";
}

/// Knows nothing of profline; the weights are random.
constexpr const char* kInfer = R"(
import time, torch
from transformers import Qwen3Config, Qwen3ForCausalLM
torch.set_num_threads(1)
torch.manual_seed(0)
config = Qwen3Config(vocab_size=320, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                     num_attention_heads=4, num_key_value_heads=2, head_dim=16, eos_token_id=None,
                     bos_token_id=1, pad_token_id=0)
model = Qwen3ForCausalLM(config).eval()
for number in range(5):
    prompt = torch.randint(3, 320, (1, 24), generator=torch.Generator().manual_seed(number))
    begin = time.perf_counter_ns()
    ids = model.generate(prompt, max_new_tokens=64, do_sample=False)
    print("took", time.perf_counter_ns() - begin)
    print("ids", ids.tolist(), flush=True)
)";
constexpr std::size_t kPrompts = 5;
constexpr std::uint32_t kNewTokens = 64;

class TransformersProgram : public TorchProgram {
 protected:
  /// With the floors of a device that nobody has, and nsys if it works here.
  Outcome profile() {
    std::string why;
    const auto nsight = working_nsys(why);
    Command base = nsight ? nsight->environment() : Command();
    if (!nsight) std::cout << "without nsys: " << why << std::endl;
    has_nsys_ = nsight.has_value();
    base.cwd = folder_.path();
    base.env.insert({{"MFU_PEAK_TFLOPS", "100"}, {"MEM_BANDWIDTH_GBS", "1000"}});
    Words words = {"run", "hydra.run.dir=run", "device=cpu"};
    if (!nsight) words.emplace_back("pipeline.nsys.enable=false");
    words.insert(words.end(), {"--", "env", "OMP_NUM_THREADS=1", python_.string(), "infer.py"});
    return run_profline(words, base);
  }
  Words ids_without_profline() const {
    Command command;
    command.argv = {"env", "OMP_NUM_THREADS=1", python_.string(), "infer.py"};
    command.cwd = folder_.path();
    return printed(run_command(command).out, "ids ");
  }
  std::string file(const std::string& name) const {
    return read_file(folder_ / "run" / name).value_or("");
  }
  void expect_exact_requests() const;
  void expect_times_of_the_script() const;
  void expect_a_full_summary() const;
  void expect_ranges() const;

  bool has_nsys_ = false;
};

void TransformersProgram::expect_exact_requests() const {
  const std::vector<Request> requests = requests_in(folder_ / "run/baseline");
  ASSERT_EQ(requests.size(), kPrompts);
  for (const Request& request : requests) {
    EXPECT_EQ(request.prompt_tokens, 24U);
    EXPECT_EQ(request.new_tokens, kNewTokens);
    ASSERT_NE(request.find_phase("decode"), nullptr);
    EXPECT_EQ(request.find_phase("decode")->steps_ns.value_or(std::vector<std::int64_t>{}).size(),
              kNewTokens - 1);
  }
}

/// Of the requests without one-time costs one is enough: the machine may be busy.
void TransformersProgram::expect_times_of_the_script() const {
  const std::vector<Request> requests = requests_in(folder_ / "run/baseline");
  const Words took = printed(file("baseline/log"), "took ");
  ASSERT_EQ(took.size(), requests.size());
  double closest = 0;
  for (std::size_t i = 1; i < took.size(); ++i) {
    std::int64_t phases_ns = 0;
    for (const char* name : {"setup", "prefill", "decode"}) {
      const Phase* phase = requests[i].find_phase(name);
      ASSERT_NE(phase, nullptr) << name;
      phases_ns += phase->ns;
    }
    const double share = static_cast<double>(phases_ns) / std::stod(took[i].substr(5));
    EXPECT_LE(share, 1) << "the script measures more than the call";
    closest = std::max(closest, share);
  }
  EXPECT_GT(closest, 0.99);
}

void TransformersProgram::expect_a_full_summary() const {
  const auto summary = parse_json(file("summary.json"), "summary.json");
  ASSERT_TRUE(summary) << summary.error().to_string();
  const std::string verdict = summary->find("verdict")->as_string();
  EXPECT_THAT(verdict, AllOf(HasSubstr("ecode"), Not(HasSubstr("known"))));
  EXPECT_GT(summary->find_path("request.tokens_per_second")->as_float(), 0);
  std::size_t floors = 0;
  for (const Node& phase : summary->find("phases")->as_list()) {
    EXPECT_NE(phase.find("class")->as_string(), "unknown") << phase.find("name")->as_string();
    if (phase.find("cost")->is_map()) floors += phase.find_path("cost.floor_ns")->as_float() > 0;
  }
  EXPECT_EQ(floors, 2U) << "of prefill and of decode";
  EXPECT_THAT(operators().operators, Contains(Field(&TorchOperator::name, "aten::linear")));
  EXPECT_THAT(file("operators.md"), HasSubstr("aten::"));
}

/// In the capture of a profiler that knows nothing of torch.
void TransformersProgram::expect_ranges() const {
  const auto ranges = from_document<NsysRanges>(file("nsys/ranges.json"), "ranges.json");
  ASSERT_TRUE(ranges) << ranges.error().to_string();
  std::map<std::string, std::uint64_t> instances;
  for (const RangeUse& range : ranges->ranges) instances[range.name] += range.instances;
  const std::map<std::string, std::uint64_t> expected = {
      {"request", kPrompts},
      {"setup", kPrompts},
      {"prefill", kPrompts},
      {"decode", kPrompts},
      {"decode_step", kPrompts * (kNewTokens - 1)}};
  EXPECT_EQ(instances, expected);
}

TEST_F(TransformersProgram, IsProfiledWithoutAChange) {
  write_files(folder_.path(), {{"infer.py", kInfer}});
  const Words ids = ids_without_profline();
  ASSERT_EQ(ids.size(), kPrompts);
  const Outcome outcome = profile();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(printed(file("baseline/log"), "ids "), ids);
  EXPECT_EQ(printed(file("torch_profiler/log"), "ids "), ids);
  expect_exact_requests();
  expect_times_of_the_script();
  expect_a_full_summary();
  if (!has_nsys_) return;
  EXPECT_EQ(printed(file("nsys/workload/log"), "ids "), ids);
  expect_ranges();
}

}  // namespace
}  // namespace profline::e2e
