// `profline infer`: from overrides to predictions and pictures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::string> kSmall = {"infer",
                                         "--config-name",
                                         "demo",
                                         "device=cpu",
                                         "pipeline.workload.threads=1",
                                         "dataset.pages=2",
                                         "dataset.page_sizes=[96x64]",
                                         "infer.max_new_tokens=4"};

Outcome infer_in(const std::filesystem::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = kSmall;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_profline_in(folder, std::move(arguments));
}

std::size_t folders_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) ++count;
  }
  return count;
}

class Infer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  }
  testing::TempDir folder_;
};

TEST_F(Infer, WritesPredictionsAndPicturesAndSaysWhere) {
  const Outcome outcome = infer_in(folder_.path(), {"hydra.run.dir=run", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto said = parse_json(outcome.out, "infer");
  ASSERT_TRUE(said) << outcome.out;
  EXPECT_EQ(said->find("schema")->as_string(), "profline.infer/1");
  const std::filesystem::path stage = folder_ / "run/direct_inference";
  EXPECT_EQ(said->find_path("outputs.predictions")->as_string(),
            std::filesystem::canonical(stage / "pred/predictions.jsonl").string());
  EXPECT_EQ(folders_in(stage / "viz"), 2U);
  EXPECT_THAT(outcome.err, HasSubstr("2/2 images (100 %)"));
  const auto config =
      parse_json(read_file(folder_ / "run/config.resolved.json").value_or(""), "config");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->find("device")->as_string(), "cpu");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "run/config.yaml"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "run/overrides.yaml"));
}

TEST_F(Infer, PicturesDoNotNeedPredictions) {
  const Outcome outcome =
      infer_in(folder_.path(),
               {"hydra.run.dir=run", "pipeline.direct_inference.output.prediction.enable=false"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/direct_inference/pred"));
  EXPECT_EQ(folders_in(folder_ / "run/direct_inference/viz"), 2U);
}

TEST_F(Infer, RelativePathsStartWhereProflineDoes) {
  const Outcome first = infer_in(folder_.path(), {"hydra.run.dir=run"});
  ASSERT_EQ(first.code, 0) << first.err;
  // A picture that the first run made, relative to here.
  std::filesystem::path picture;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder_ / "run/direct_inference/viz")) {
    picture = entry.path() / "result_with_boxes.jpg";
  }
  std::filesystem::copy(picture, folder_ / "page.jpg");
  const Outcome outcome = run_profline_in(
      folder_.path(),
      {"infer", "--config-name", "demo", "device=cpu", "dataset=files", "dataset.root=.",
       "dataset.files=[page.jpg]", "infer.max_new_tokens=2", "hydra.run.dir=second"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Infer, AnUnfinishedFolderOfTheSameNameIsNotReused) {
  write_files(folder_.path(), {{"run/run.json", "{}"}});
  const Outcome outcome = infer_in(folder_.path(), {"hydra.run.dir=run"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("/run' already holds a run; choose another folder, or resume"));
}

TEST_F(Infer, AMissingModelIsReportedBeforeAnythingRuns) {
  const Outcome outcome = run_profline_in(
      folder_.path(), {"infer", "--config-name", "demo", "device=cpu", "model.init=weights",
                       "model.variant=full", "model.path=none", "hydra.run.dir=run"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, StartsWith("profline: stage direct_inference: model.path: there is no "
                                      "folder '"));
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST(InferWithoutWorkload, IsAbsent) {
  const testing::TempDir folder;
  const Outcome outcome =
      infer_in(folder.path(), {"--workload", "/nowhere/profline-workload", "hydra.run.dir=run"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, StartsWith("profline: "));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(InferConfig, ProblemsComeBeforeAnythingRuns) {
  const testing::TempDir folder;
  const Outcome outcome = infer_in(folder.path(), {"model.dtype=fp16"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("model.dtype: must be bf16 or fp32 when device is cpu, not fp16"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace profline::e2e
