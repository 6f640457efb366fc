#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "records/request.h"
#include "testing/temp_dir.h"
#include "workload/session/internal/subject.h"
#include "workload/session/run_request.h"

namespace profline::workload {
namespace {

using profline::testing::TempDir;

settings::Root dummy_settings() {
  settings::Root root;
  root.device = {.kind = settings::Device::Kind::Cpu, .index = {}};
  root.dataset.images = settings::SyntheticPages{};
  root.pipeline.workload.kind = settings::WorkloadKind::DummyShallowResnet;
  root.pipeline.workload.threads = 1;
  settings::dummy_shallow_resnet::Subject subject;
  subject.model.preprocess.image_size = 16;
  root.subject = subject;
  return root;
}

settings::Root tiny_settings() {
  settings::Root root;
  root.device = {.kind = settings::Device::Kind::Cpu, .index = {}};
  settings::SyntheticPages pages;
  pages.pages = 2;
  pages.page_sizes = {{96, 64}, {150, 100}};
  root.dataset.images = pages;
  root.pipeline.workload.threads = 1;
  root.pipeline.baseline.warmup_rounds = 1;
  root.pipeline.torch_profiler.warmup_rounds = 1;
  settings::deepseek_ocr::Subject subject;
  subject.model.init = settings::deepseek_ocr::Init::Random;
  subject.model.variant = settings::deepseek_ocr::Variant::Tiny;
  subject.model.path.reset();
  subject.model.dtype = settings::Dtype::Fp32;
  subject.model.preprocess.base_size = 256;
  subject.model.preprocess.image_size = 128;
  subject.model.preprocess.crop_threshold = 128;
  subject.infer.max_new_tokens = 5;
  root.subject = subject;
  return root;
}

Result<void> run(const RunRequest& request, std::function<bool()> stopping = {}) {
  NullProgress progress;
  const SystemClock clock;
  return run_workload(request, {progress, clock, std::move(stopping)});
}

std::vector<Request> requests_in(const std::filesystem::path& folder) {
  const auto text = read_file(folder / "requests.jsonl");
  EXPECT_TRUE(text) << text.error().to_string();
  auto requests =
      text ? parse_requests(*text, "requests.jsonl") : Result<std::vector<Request>>(text.error());
  EXPECT_TRUE(requests) << requests.error().to_string();
  return requests ? std::move(*requests) : std::vector<Request>();
}

std::vector<std::string> paths_of(const Request& request) {
  std::vector<std::string> paths;
  for (const Phase& phase : request.phases) paths.push_back(phase.path);
  return paths;
}

Node document(const std::filesystem::path& path) {
  const auto text = read_file(path);
  EXPECT_TRUE(text) << text.error().to_string();
  auto node = text ? parse_json(*text, path.filename()) : Result<Node>(text.error());
  EXPECT_TRUE(node) << node.error().to_string();
  return node ? std::move(*node) : Node::map();
}

TEST(RunWorkload, MeasuresTheDummyNetwork) {
  const TempDir folder;
  const auto done = run({.settings = dummy_settings(), .out = folder.path(), .base = "."});
  ASSERT_TRUE(done) << done.error().to_string();
  const std::vector<Request> requests = requests_in(folder.path());
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].id, 1U);
  EXPECT_EQ(requests[1].batch, 4U);
  EXPECT_EQ(requests[1].text("image"), "random");
  EXPECT_EQ(requests[1].integer("index"), 1);
  EXPECT_EQ(requests[1].text("finish"), "");
  EXPECT_EQ(requests[1].text("dtype"), "fp32");
  EXPECT_EQ(requests[1].new_tokens, std::nullopt);
  EXPECT_THAT(paths_of(requests[1]), ::testing::ElementsAre("preprocess", "prefill"));
  EXPECT_GT(requests[1].find_phase("prefill")->ns, 0);
  const Node metrics = document(folder / "metrics.json");
  EXPECT_EQ(metrics.find_path("aggregates.prefill_ms.n")->as_int(), 2);
  EXPECT_TRUE(metrics.find_path("aggregates.decode_ms")->is_null());
}

TEST(RunWorkload, RepeatsEachPhaseAlone) {
  const TempDir folder;
  const RunRequest request{.settings = tiny_settings(), .out = folder.path(), .base = "."};
  NullProgress progress;
  const auto machine = open_machine(request.settings);
  ASSERT_TRUE(machine) << machine.error().to_string();
  const auto subject = open_subject(request, *machine, progress);
  ASSERT_TRUE(subject) << subject.error().to_string();
  constexpr std::chrono::milliseconds kLeast{30};
  const auto repeated =
      (*subject)->repeat_phases((*subject)->requests().front(), kLeast, [] { return false; });
  ASSERT_TRUE(repeated) << repeated.error().to_string();
  ASSERT_EQ(repeated->size(), 2U);
  const RepeatedPhase& prefill = repeated->front();
  EXPECT_EQ(prefill.phase, "prefill");
  EXPECT_GE(prefill.end_ns - prefill.begin_ns, std::chrono::nanoseconds(kLeast).count());
  EXPECT_GE(prefill.requests, 1U);
  EXPECT_EQ(prefill.tokens, prefill.requests);
  const RepeatedPhase& decode = repeated->back();
  EXPECT_EQ(decode.phase, "decode");
  EXPECT_GE(decode.begin_ns, prefill.end_ns);
  EXPECT_GT(decode.end_ns, decode.begin_ns);
  EXPECT_GT(decode.tokens, 0U);
}

TEST(RunWorkload, RepeatsDecodeForLongerThanAMeasuredAnswer) {
  const TempDir folder;
  const RunRequest request{.settings = tiny_settings(), .out = folder.path(), .base = "."};
  NullProgress progress;
  const auto machine = open_machine(request.settings);
  ASSERT_TRUE(machine) << machine.error().to_string();
  const auto subject = open_subject(request, *machine, progress);
  ASSERT_TRUE(subject) << subject.error().to_string();
  int looks = 0;
  const auto after_twenty = [&] { return ++looks % 20 == 0; };
  const auto repeated = (*subject)->repeat_phases((*subject)->requests().front(),
                                                  std::chrono::hours(1), after_twenty);
  ASSERT_TRUE(repeated) << repeated.error().to_string();
  EXPECT_GT(repeated->back().tokens, 5U) << "infer.max_new_tokens is 5";
}

TEST(RunWorkload, MeasuresTheTinyModel) {
  const TempDir folder;
  const auto done = run({.settings = tiny_settings(), .out = folder.path(), .base = "."});
  ASSERT_TRUE(done) << done.error().to_string();
  const std::vector<Request> requests = requests_in(folder.path());
  ASSERT_EQ(requests.size(), 2U);
  const Request& request = requests.front();
  EXPECT_EQ(request.new_tokens, 5U);
  EXPECT_EQ(request.text("finish"), "length");
  EXPECT_THAT(request.text(kImageSizeAttribute), ::testing::MatchesRegex("[0-9]+x[0-9]+"));
  EXPECT_THAT(request.text(kShapeAttribute), ::testing::MatchesRegex("[0-9]+( \\+ .*)?"));
  EXPECT_EQ(request.attributes.count(kOneTimeAttribute), 0U) << "no graphs in the eager engine";
  ASSERT_THAT(paths_of(request),
              ::testing::ElementsAre("preprocess", "prefill", "prefill/sam", "prefill/clip",
                                     "prefill/projector", "prefill/lm", "decode"));
  std::int64_t parts = 0;
  for (const Phase& phase : request.phases) {
    EXPECT_GT(phase.ns, 0) << phase.path;
    if (phase.path.starts_with("prefill/")) parts += phase.ns;
  }
  EXPECT_LE(parts, request.find_phase("prefill")->ns);
  const Phase& decode = *request.find_phase("decode");
  ASSERT_TRUE(decode.steps_ns);
  EXPECT_EQ(decode.steps_ns->size(), 4U);  // the first token is prefill's
  std::int64_t steps = 0;
  for (const std::int64_t ns : *decode.steps_ns) steps += ns;
  EXPECT_LE(steps, decode.ns);
  const std::int64_t first_token =
      request.find_phase("preprocess")->ns + request.find_phase("prefill")->ns;
  EXPECT_EQ(request.ttft_ns, first_token);
  EXPECT_EQ(request.ns, first_token + decode.ns);
  EXPECT_EQ(request.find_phase("prefill")->start_ns, request.find_phase("preprocess")->ns);
  EXPECT_GE(*decode.start_ns, first_token);
  const Node facts = document(folder / "workload.json");
  EXPECT_EQ(facts.find("mode")->as_string(), "baseline");
  EXPECT_TRUE(facts.find("complete")->as_bool());
  EXPECT_EQ(document(folder / "inputs.json").find("images")->as_list().size(), 2U);
  EXPECT_EQ(document(folder / "metrics.json").find_path("model_dims.d_model")->as_int(), 64);
}

TEST(RunWorkload, UnderAProfilerWritesRequestsOnly) {
  const TempDir folder;
  ASSERT_TRUE(run({.settings = tiny_settings(),
                   .mode = Mode::Profiled,
                   .out = folder.path(),
                   .base = ".",
                   .samples = 1}));
  EXPECT_EQ(requests_in(folder.path()).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(folder / "metrics.json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "texts.jsonl"));
}

TEST(RunWorkload, ProfilesTheFirstImageAndShowsTheBaselinesTexts) {
  const TempDir folder;
  settings::Root settings = tiny_settings();
  settings.pipeline.torch_profiler.decode_steps = 2;
  settings.pipeline.torch_profiler.output.prediction.enable = true;
  ASSERT_TRUE(run({.settings = settings, .out = folder / "baseline", .base = "."}));
  const auto done = run({.settings = settings,
                         .mode = Mode::TorchProfiler,
                         .out = folder / "torch_profiler",
                         .base = ".",
                         .baseline = folder / "baseline"});
  ASSERT_TRUE(done) << done.error().to_string();
  const std::vector<Request> profiled = requests_in(folder / "torch_profiler/workload");
  ASSERT_EQ(profiled.size(), 1U);
  EXPECT_EQ(profiled.front().find_phase("decode")->steps_ns->size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(folder / "torch_profiler/trace.json"));
  EXPECT_TRUE(std::filesystem::exists(folder / "torch_profiler/pred/predictions.jsonl"));
  const Node operators = document(folder / "torch_profiler/operators.json");
  std::vector<std::string> ranges;
  for (const Node& row : operators.find("ranges")->as_list()) {
    ranges.push_back(row.find("name")->as_string());
  }
  EXPECT_THAT(ranges,
              ::testing::ElementsAre("prefill", "sam", "clip", "projector", "lm", "decode"));
}

TEST(RunWorkload, InfersDirectly) {
  const TempDir folder;
  settings::Root settings = tiny_settings();
  settings.pipeline.direct_inference.output.prediction.enable = true;
  const auto done =
      run({.settings = settings, .mode = Mode::DirectInference, .out = folder.path(), .base = "."});
  ASSERT_TRUE(done) << done.error().to_string();
  const std::string predictions = read_file(folder / "pred/predictions.jsonl").value();
  EXPECT_EQ(std::count(predictions.begin(), predictions.end(), '\n'), 2);
  int pictures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "viz")) {
    EXPECT_TRUE(std::filesystem::exists(entry.path() / "result_with_boxes.jpg"));
    EXPECT_TRUE(std::filesystem::exists(entry.path() / "result.mmd"));
    EXPECT_TRUE(std::filesystem::exists(entry.path() / "info.json"));
    ++pictures;
  }
  EXPECT_EQ(pictures, 2);
}

settings::Root batched_settings(std::uint32_t batch_size) {
  settings::Root settings = tiny_settings();
  settings::SyntheticPages pages;
  pages.pages = 5;
  pages.page_sizes = {{96, 64}, {300, 200}, {150, 300}};
  settings.dataset.images = pages;
  auto& infer = std::get<settings::deepseek_ocr::Subject>(settings.subject).infer;
  infer.batch_size = batch_size;
  infer.max_new_tokens = 9;
  return settings;
}

using Batches = std::vector<std::uint64_t>;

Batches batches_of(const std::vector<Request>& requests) {
  Batches batches;
  for (const Request& request : requests) batches.push_back(request.batch.value_or(0));
  return batches;
}

TEST(RunWorkload, GeneratesBatchesWithTheTextsOfEachImageAlone) {
  const TempDir folder;
  ASSERT_TRUE(run({.settings = batched_settings(1), .out = folder / "one", .base = "."}));
  const std::vector<Request> single = requests_in(folder / "one");
  ASSERT_EQ(batches_of(single), Batches({1, 1, 1, 1, 1}));
  const std::map<std::uint32_t, Batches> expected = {{2, {2, 2, 1}}, {4, {4, 1}}, {8, {5}}};
  for (const auto& [size, batches] : expected) {
    SCOPED_TRACE(size);
    const auto out = folder / std::to_string(size);
    const auto done = run({.settings = batched_settings(size), .out = out, .base = "."});
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(read_file(out / "texts.jsonl").value(),
              read_file(folder / "one/texts.jsonl").value());
    EXPECT_EQ(document(out / "inputs.json"), document(folder / "one/inputs.json"));
    const std::vector<Request> requests = requests_in(out);
    ASSERT_EQ(batches_of(requests), batches);
    std::size_t image = 0;
    for (const Request& request : requests) {
      const auto images = request.images();
      ASSERT_EQ(images.size(), request.batch);
      if (images.size() == 1) continue;
      EXPECT_EQ(request.attributes.count(kImageAttribute), 0U);
      const auto prompts = request.counts(kPromptTokensEachAttribute);
      const auto made = request.counts(kNewTokensEachAttribute);
      ASSERT_EQ(prompts.size(), images.size());
      ASSERT_EQ(made.size(), images.size());
      EXPECT_EQ(request.texts(kFinishEachAttribute).size(), images.size());
      for (std::size_t i = 0; i < images.size(); ++i, ++image) {
        EXPECT_EQ(images[i], single[image].text(kImageAttribute));
        EXPECT_EQ(prompts[i], single[image].prompt_tokens);
        EXPECT_EQ(made[i], single[image].new_tokens);
      }
      EXPECT_EQ(request.prompt_tokens, *std::max_element(prompts.begin(), prompts.end()));
      EXPECT_EQ(request.new_tokens, *std::max_element(made.begin(), made.end()));
      const Phase& decode = *request.find_phase("decode");
      EXPECT_EQ(decode.steps_ns->size(), *request.new_tokens - 1) << "one step for all sequences";
      EXPECT_EQ(request.ns, *request.ttft_ns + decode.ns);
      ASSERT_THAT(paths_of(request),
                  ::testing::ElementsAre("preprocess", "prefill", "prefill/sam", "prefill/clip",
                                         "prefill/projector", "prefill/lm", "decode"));
    }
    const Node metrics = document(out / "metrics.json");
    EXPECT_EQ(metrics.find_path("totals.images")->as_int(), 5);
    EXPECT_EQ(metrics.find_path("totals.new_tokens")->as_int(),
              document(folder / "one/metrics.json").find_path("totals.new_tokens")->as_int());
  }
}

TEST(RunWorkload, EndsABatchWithItsEpoch) {
  const TempDir folder;
  settings::Root settings = batched_settings(2);
  auto& pages = std::get<settings::SyntheticPages>(settings.dataset.images);
  pages.pages = 3;
  pages.sampling.num_epochs = 2;
  ASSERT_TRUE(run({.settings = settings, .out = folder.path(), .base = "."}));
  const std::vector<Request> requests = requests_in(folder.path());
  EXPECT_EQ(batches_of(requests), Batches({2, 1, 2, 1}));
  EXPECT_EQ(requests.at(2).integer("epoch"), 1);
  EXPECT_EQ(requests.at(1).integer("index"), 2);
  ASSERT_TRUE(run({.settings = settings,
                   .mode = Mode::Profiled,
                   .out = folder / "profiled",
                   .base = ".",
                   .samples = 3}));
  EXPECT_EQ(batches_of(requests_in(folder / "profiled")), Batches({2, 1, 2}))
      << "samples are requests";
}

TEST(RunWorkload, PredictsForEachImageOfABatch) {
  const TempDir folder;
  const auto predictions_of = [&](std::uint32_t size) {
    settings::Root settings = batched_settings(size);
    settings.pipeline.direct_inference.output.prediction.enable = true;
    const auto out = folder / std::to_string(size);
    const auto done =
        run({.settings = settings, .mode = Mode::DirectInference, .out = out, .base = "."});
    EXPECT_TRUE(done) << done.error().to_string();
    const std::string text = read_file(out / "pred/predictions.jsonl").value_or("");
    std::vector<Node> predictions;
    for (const std::string_view line : lines(text)) {
      Node node = parse_json(line, "predictions.jsonl").value();
      for (const char* key : {"prefill_ms", "decode_ms", "vision_ms", "tokens_per_s"}) {
        node.as_map().erase(key);
      }
      predictions.push_back(std::move(node));
    }
    return predictions;
  };
  const std::vector<Node> alone = predictions_of(1);
  ASSERT_EQ(alone.size(), 5U);
  EXPECT_EQ(predictions_of(4), alone);
}

TEST(RunWorkload, ProfilesTheFirstBatchAndShowsTheBaselinesTexts) {
  const TempDir folder;
  settings::Root settings = batched_settings(2);
  settings.pipeline.torch_profiler.decode_steps = 2;
  settings.pipeline.torch_profiler.output.prediction.enable = true;
  ASSERT_TRUE(run({.settings = settings, .out = folder / "baseline", .base = "."}));
  const auto done = run({.settings = settings,
                         .mode = Mode::TorchProfiler,
                         .out = folder / "torch_profiler",
                         .base = ".",
                         .baseline = folder / "baseline"});
  ASSERT_TRUE(done) << done.error().to_string();
  const std::vector<Request> profiled = requests_in(folder / "torch_profiler/workload");
  ASSERT_EQ(profiled.size(), 1U);
  EXPECT_EQ(profiled.front().batch, 2U);
  EXPECT_EQ(profiled.front().find_phase("decode")->steps_ns->size(), 2U);
  const std::string shown = read_file(folder / "torch_profiler/pred/predictions.jsonl").value();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 5) << "those of every image";
}

TEST(RunWorkload, RepeatsThePhasesOfABatch) {
  const TempDir folder;
  const RunRequest request{.settings = batched_settings(2), .out = folder.path(), .base = "."};
  NullProgress progress;
  const auto machine = open_machine(request.settings);
  ASSERT_TRUE(machine) << machine.error().to_string();
  const auto subject = open_subject(request, *machine, progress);
  ASSERT_TRUE(subject) << subject.error().to_string();
  int looks = 0;
  const auto after_twenty = [&] { return ++looks % 20 == 0; };
  const auto repeated = (*subject)->repeat_phases((*subject)->requests().front(),
                                                  std::chrono::hours(1), after_twenty);
  ASSERT_TRUE(repeated) << repeated.error().to_string();
  EXPECT_EQ(repeated->front().tokens, 2 * repeated->front().requests);
  EXPECT_GT(repeated->back().tokens, 2 * 9U) << "infer.max_new_tokens is 9";
  EXPECT_EQ(repeated->back().tokens % 2, 0U);
}

TEST(RunWorkload, TracesTheTinyModel) {
  const TempDir folder;
  ASSERT_TRUE(run(
      {.settings = tiny_settings(), .mode = Mode::StaticTrace, .out = folder.path(), .base = "."}));
  const Node trace = document(folder / "static_trace.json");
  for (const char* stage : {"sam", "clip", "projector", "prefill", "decode"}) {
    EXPECT_GT(trace.find("stages")->find(stage)->find("flops")->as_int(), 0) << stage;
  }
}

TEST(RunWorkload, WithoutAPictureReadsOnlyThePrompt) {
  const TempDir folder;
  settings::Root settings = tiny_settings();
  std::get<settings::deepseek_ocr::Subject>(settings.subject).model.preprocess.enable = false;
  const auto done = run({.settings = settings, .out = folder.path(), .base = "."});
  ASSERT_TRUE(done) << done.error().to_string();
  const std::vector<Request> requests = requests_in(folder.path());
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests.front().find_phase("prefill/sam"), nullptr);
  EXPECT_EQ(requests.front().prompt_tokens, 8U);  // BOS and the seven ids of the text
}

TEST(RunWorkload, StoppedWritesWhatItHas) {
  const TempDir folder;
  settings::Root settings = tiny_settings();
  settings.pipeline.baseline.warmup_rounds = 0;
  // Called before each image and after each token: the second image is in progress at the eighth.
  int asked = 0;
  const auto done =
      run({.settings = settings, .out = folder.path(), .base = "."}, [&] { return ++asked >= 8; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), ErrorKind::Cancelled);
  EXPECT_EQ(requests_in(folder.path()).size(), 1U);
  EXPECT_FALSE(document(folder / "workload.json").find("complete")->as_bool());
}

TEST(RunWorkload, WithoutWeightsNamesThePresetsThatNeedNone) {
  const TempDir folder;
  settings::Root settings = tiny_settings();
  auto& model = std::get<settings::deepseek_ocr::Subject>(settings.subject).model;
  model.init = settings::deepseek_ocr::Init::Weights;
  model.path = "models/none";
  const auto done = run({.settings = settings, .out = folder / "out", .base = folder.path()});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(done.error().to_string(),
            "model.path: there is no folder '" + (folder / "models/none").string() +
                "'; without weights take model/deepseek_ocr/arch@model=deepseek_ocr.random "
                "(full size) or deepseek_ocr.tiny");
}

TEST(RunWorkload, NeverRunsEagerWhereFastWasAskedFor) {
  struct Case {
    settings::Root settings;
    std::string_view error;
  };
  const Case cases[] = {
      {tiny_settings(),
       "pipeline.workload.engine: the fast engine cannot run: the device is cpu, not a CUDA "
       "device"},
      {dummy_settings(),
       "pipeline.workload.engine: the fast engine cannot run: it supports deepseek_ocr, not "
       "dummy_shallow_resnet"},
  };
  for (const Case& c : cases) {
    const TempDir folder;
    RunRequest request{.settings = c.settings, .out = folder.path() / "out", .base = folder.path()};
    request.settings.pipeline.workload.engine = settings::Engine::Fast;
    const auto done = run(request);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind(), ErrorKind::NotFound);
    EXPECT_EQ(done.error().to_string(), c.error);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "out" / "requests.jsonl"));
  }
}

}  // namespace
}  // namespace profline::workload
