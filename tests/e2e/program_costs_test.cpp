// Static analysis of a user's program, from what its process records of its model and requests.

#include <gmock/gmock.h>

#include "base/files.h"
#include "formats/json.h"
#include "profline_binary.h"
#include "run_folder.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Writes what the Python adapter would: the model in the file that it gets, and four requests in a
/// batch of two.
constexpr const char* kScript = R"(
import json, os, sys
model = json.load(open(sys.argv[1]))
model["parameters"]["count"] += int(sys.argv[2])
rows = [{"kind": "process", "schema": "profline.python/1", "pid": os.getpid(), "python": "3.12"}, model]
for i in range(4):
    rows.append({"kind": "request", "source": "python", "start_ns": 1000000000 * (i + 1),
                 "ns": 52000000, "ttft_ns": 22000000, "prompt_tokens": 16 if i else 24,
                 "new_tokens": 4, "batch": 2, "pid": os.getpid(), "thread": 1, "model": 0,
                 "phases": [{"path": "setup", "start_ns": 0, "ns": 2000000},
                            {"path": "prefill", "start_ns": 2000000, "ns": 20000000},
                            {"path": "decode", "start_ns": 22000000, "ns": 30000000,
                             "steps_ns": [10000000, 10000000, 10000000]}]})
with open(os.path.join(os.environ["PROFLINE_RECORD_DIR"], "python-%d-1.jsonl" % os.getpid()), "a") as out:
    for row in rows:
        out.write(json.dumps(row) + "\n")
)";

class ProgramCosts : public ::testing::Test {
 protected:
  /// `more` parameters than the model has are counted.
  Outcome run(const std::string& model, const std::string& more) {
    write_files(folder_.path(), {{"infer.py", kScript}});
    const fs::path file =
        testing::source_dir() / "tests/fixtures/transformers-configs" / (model + ".json");
    Command command;
    command.cwd = folder_.path();
    command.env = {{"MFU_PEAK_TFLOPS", "100"}, {"MEM_BANDWIDTH_GBS", "1000"}};
    return run_profline(
        {"run", "hydra.run.dir=run", "device=cpu", "pipeline.nsys.enable=false",
         "pipeline.torch_profiler.enable=false", "--", "python3", "infer.py", file.string(), more},
        command);
  }
  std::string text(const std::string& file) const {
    return read_file(folder_ / "run" / file).value_or("");
  }
  Node json(const std::string& file) const {
    auto node = parse_json(text(file), file);
    EXPECT_TRUE(node) << node.error().to_string();
    return node ? *node : Node();
  }
  /// The cost of a phase in summary.json, or null.
  Node cost_of(std::string_view phase) const {
    const Node summary = json("summary.json");
    for (const Node& one : summary.find("phases")->as_list()) {
      if (one.find("name")->as_string() == phase) return *one.find("cost");
    }
    ADD_FAILURE() << "no phase " << phase;
    return Node();
  }

  testing::TempDir folder_;
};

TEST_F(ProgramCosts, HaveFloorsForEveryPhaseOfTheModel) {
  const Outcome outcome = run("qwen3-0.6b", "0");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(state_of(record_of(folder_ / "run"), "static_analysis"), StageState::Ok);
  const Node compute = json("static_analysis/static_compute.json");
  EXPECT_EQ(compute.find("model")->as_string(), "qwen3");
  EXPECT_EQ(compute.find_path("parameters.counted")->as_int(), 596'049'920);
  EXPECT_EQ(compute.find_path("request.shapes_from")->as_string(),
            "3 of 4 requests in baseline/requests.jsonl");
  EXPECT_TRUE(cost_of("setup").is_null());
  for (const char* phase : {"prefill", "decode"}) {
    const Node cost = cost_of(phase);
    ASSERT_TRUE(cost.is_map()) << phase;
    EXPECT_EQ(cost.find("shapes")->as_string(), "each request's own") << phase;
    EXPECT_GT(cost.find("floor_ns")->as_float(), 1e6) << phase;
    EXPECT_GT(cost.find("mfu")->as_float(), 0) << phase;
  }
  // Three steps of 10 ms, each of which makes two tokens.
  EXPECT_DOUBLE_EQ(json("summary.json").find_path("request.tokens_per_second")->as_float(), 200);
}

TEST_F(ProgramCosts, AreWithheldIfTheProcessCountsOtherParameters) {
  const Outcome outcome = run("qwen3-0.6b", "7");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const char* const difference =
      "the process counted 596049927 parameters, the closed form 596049920: 7 more";
  EXPECT_THAT(outcome.err, HasSubstr(difference));
  EXPECT_THAT(text("report.md"), HasSubstr(difference));
  EXPECT_TRUE(cost_of("decode").is_null());
}

TEST_F(ProgramCosts, ArePlannedAfterTheBaseline) {
  const Outcome outcome =
      run_profline_in(folder_.path(), {"plan", "hydra.run.dir=run", "device=cpu",
                                       "pipeline.nsys.enable=false", "--", "python3", "infer.py"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(outcome.out.find("\nbaseline "), outcome.out.find("\nstatic_analysis "));
  EXPECT_THAT(outcome.out, HasSubstr("after the baseline: the model and the shapes"));
}

}  // namespace
}  // namespace profline::e2e
