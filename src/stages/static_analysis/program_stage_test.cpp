#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "stages/static_analysis/static_analysis_stage.h"
#include "testing/paths.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::stages {
namespace {

using pipeline::Finding;
using pipeline::Severity;
using settings::Enable;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A run of a user's program whose baseline has recorded what a test writes.
class ProgramStage : public ::testing::Test {
 protected:
  ProgramStage() {
    setup_.id = "run";
    setup_.folder = folder_.path();
    setup_.cwd = folder_.path();
    setup_.config = Node::map({});
    setup_.settings.pipeline.workload.command = {"python3", "infer.py"};
    setup_.settings.pipeline.static_analysis.enable = Enable::Auto;
    setup_.device_name = "NVIDIA H200";
    setup_.ceilings.device = "NVIDIA H200";
    setup_.ceilings.source = "a datasheet";
    setup_.ceilings.bytes_per_second = 4.8e12;
    setup_.ceilings.rates = {{settings::Cores::Tensor, settings::Precision::Bf16,
                              settings::Accumulation::Fp32, 989.5e12}};
    EXPECT_TRUE(create_folders(folder_ / "baseline"));
    EXPECT_TRUE(create_folders(folder_ / "static_analysis"));
  }

  /// A model that transformers built, as the adapter records it.
  static Node model(std::string_view name) {
    const auto file = testing::source_dir() / "tests/fixtures/transformers-configs" /
                      (std::string(name) + ".json");
    Node line = parse_json(read_file(file).value(), file.string()).value();
    for (const char* key : {"kind", "transformers"}) line.as_map().erase(key);
    return line;
  }

  void record(std::vector<Node> models) {
    Node list = Node::list();
    for (Node& one : models) list.as_list().push_back(std::move(one));
    NodeMap document;
    document.set("schema", Node::string("profline.models/1"));
    document.set("models", std::move(list));
    const auto text = write_json(Node::map(std::move(document)));
    ASSERT_TRUE(write_file_atomic(folder_ / "baseline/models.json", *text));
  }

  /// Requests of 16 prompt tokens and 3 new ones in a batch of two; the first has its own shape.
  void record_requests() {
    std::string lines;
    for (int id = 0; id < 3; ++id) {
      Request request;
      request.id = static_cast<std::uint64_t>(id);
      request.source = RequestSource::Python;
      request.ns = 100;
      request.prompt_tokens = id == 0 ? 4 : 16;
      request.new_tokens = 3;
      request.batch = 2;
      request.phases = {{"prefill", 0, 40, {}, {}},
                        {"decode", 40, 60, std::vector<std::int64_t>{30, 30}, {}}};
      lines += to_json_line(request) + '\n';
    }
    ASSERT_TRUE(write_file_atomic(folder_ / "baseline/requests.jsonl", lines));
  }

  pipeline::StageContext context() { return {setup_, tools_}; }
  void run_stage() {
    const run::Run files = run::Run::with_record(setup_.folder, {});
    ASSERT_TRUE(stage_.run(context(), stage_.plan(context()), run_));
    EXPECT_THAT(stage_.verify(context(), files), IsEmpty());
    const auto done = stage_.summarise(context(), files, run_);
    ASSERT_TRUE(done) << done.error().to_string();
  }
  Node written() {
    const auto file = folder_ / "static_analysis/static_compute.json";
    return parse_json(read_file(file).value(), file.string()).value();
  }

  testing::TempDir folder_;
  pipeline::RunSetup setup_;
  pipeline::Toolbox tools_;
  testing::FakeProcesses processes_;
  testing::RecordedStageRun run_{processes_};
  StaticAnalysisStage stage_;
};

TEST_F(ProgramStage, AnalysesTheRecordedModelWithTheShapesOfMostRequests) {
  record({model("qwen3-0.6b")});
  record_requests();
  run_stage();
  EXPECT_THAT(run_.findings(), IsEmpty());
  EXPECT_THAT(run_.skipped(), IsEmpty());
  const Node document = written();
  EXPECT_EQ(document.find("model")->as_string(), "qwen3");
  EXPECT_EQ(document.find("config")->as_string(), "baseline/models.json, Qwen3ForCausalLM");
  EXPECT_EQ(document.find_path("request.prompt_tokens")->as_int(), 16);
  EXPECT_EQ(document.find_path("request.new_tokens")->as_int(), 3);
  EXPECT_EQ(document.find_path("request.batch")->as_int(), 2);
  EXPECT_EQ(document.find_path("request.shapes_from")->as_string(),
            "2 of 3 requests in baseline/requests.jsonl");
  EXPECT_EQ(document.find_path("parameters.counted")->as_int(), 596'049'920);
  EXPECT_EQ(document.find_path("parameters.total")->as_int(), 596'049'920);
  EXPECT_EQ(document.find_path("format.name")->as_string(), "bf16");
  // Every weight is read once per step for the whole batch: 2 bytes each at 4.8 TB/s.
  EXPECT_GT(document.find_path("stages.decode.floor_ns")->as_float(), 596'049'920 * 2 / 4800.0);
}

TEST_F(ProgramStage, WithholdsFloorsIfTheParametersDiffer) {
  Node other = model("qwen3-0.6b");
  *other.find("parameters")->find("count") = Node::integer(596'049'921);
  record({std::move(other)});
  record_requests();
  run_stage();
  ASSERT_THAT(run_.findings(), SizeIs(1));
  const Finding& finding = run_.findings().front();
  EXPECT_EQ(finding.severity, Severity::Warning);
  EXPECT_EQ(finding.code, "parameters_differ");
  EXPECT_THAT(finding.text, HasSubstr("the process counted 596049921 parameters, the closed form "
                                      "596049920: 1 more"));
  EXPECT_TRUE(written().find_path("stages.decode.floor_ns")->is_null());
  EXPECT_TRUE(written().find_path("total.floor_ns")->is_null());
  const auto page = read_file(folder_ / "static_analysis/static_compute.md");
  EXPECT_THAT(*page, HasSubstr("there are no floors: the process counted 596049921"));
}

TEST_F(ProgramStage, IsSkippedIfItDoesNotApply) {
  record_requests();
  run_stage();
  EXPECT_THAT(run_.findings(), IsEmpty());
  ASSERT_THAT(run_.skipped(), SizeIs(1));
  EXPECT_EQ(run_.skipped().front().code, "no_model");
  EXPECT_EQ(run_.skipped().front().text, "no model was recorded in the program");
}

TEST_F(ProgramStage, IsSkippedForAnUnknownTypeOfModel) {
  Node other = model("gpt2-small");
  *other.find("config")->find("model_type") = Node::string("mamba");
  record({std::move(other)});
  record_requests();
  run_stage();
  ASSERT_THAT(run_.skipped(), SizeIs(1));
  EXPECT_THAT(run_.skipped().front().text,
              HasSubstr("model_type 'mamba' has no closed form; supported: llama, mistral"));
}

TEST_F(ProgramStage, IsSkippedWithoutRequests) {
  record({model("gpt2-small")});
  run_stage();
  ASSERT_THAT(run_.skipped(), SizeIs(1));
  EXPECT_EQ(run_.skipped().front().code, "no_shapes");
}

TEST_F(ProgramStage, FailsIfItIsRequiredAndDoesNotApply) {
  setup_.settings.pipeline.static_analysis.enable = Enable::Yes;
  record_requests();
  run_stage();
  EXPECT_THAT(run_.skipped(), IsEmpty());
  EXPECT_THAT(run_.findings(), ElementsAre(Field(&Finding::severity, Severity::Problem)));
}

TEST_F(ProgramStage, AnalysesTheModelThatRequestsUseMost) {
  Node draft = model("gpt2-small");
  *draft.find("id") = Node::integer(1);
  record({std::move(draft), model("qwen3-0.6b")});
  record_requests();
  run_stage();
  EXPECT_EQ(written().find("model")->as_string(), "qwen3") << "the larger one";
}

TEST_F(ProgramStage, TakesTheConfigThatTheUserNames) {
  const Node given = model("gpt2-small");
  ASSERT_TRUE(write_file_atomic(folder_ / "mine.json", *write_json(*given.find("config"))));
  settings::program::Subject subject;
  subject.model.config = "mine.json";
  setup_.settings.subject = subject;
  EXPECT_THAT(stage_.preflight(context()), IsEmpty());
  record_requests();
  run_stage();
  EXPECT_EQ(written().find("model")->as_string(), "gpt2");
  EXPECT_TRUE(written().find_path("parameters.counted")->is_null());
  EXPECT_FALSE(written().find_path("stages.decode.floor_ns")->is_null());
  subject.model.config = "absent.json";
  setup_.settings.subject = subject;
  EXPECT_THAT(stage_.preflight(context()), ElementsAre(Field(&Finding::code, "model_config")));
}

TEST_F(ProgramStage, NeedsTheBaselineAndRunsAfterIt) {
  EXPECT_TRUE(stage_.reads_baseline(setup_.settings));
  EXPECT_THAT(stage_.preflight(context()), IsEmpty());
  EXPECT_THAT(stage_.plan(context()).notes, Contains(HasSubstr("after the baseline")));
  setup_.settings.pipeline.baseline.enable = Enable::No;
  EXPECT_THAT(stage_.preflight(context()), ElementsAre(Field(&Finding::code, "no_baseline")));
  setup_.settings.pipeline.workload.command.reset();
  EXPECT_FALSE(stage_.reads_baseline(setup_.settings));
}

}  // namespace
}  // namespace profline::stages
