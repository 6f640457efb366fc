#include "workload/fast/open_engine.h"

#include <gtest/gtest.h>

#include "workload/model/weight_source.h"

namespace profline::workload {
namespace {

DeepseekOcr tiny_model() {
  DeterministicWeights weights(tiny_config());
  return DeepseekOcr::load(tiny_config(), weights, {}).value();
}

TEST(OpenEngine, IsEagerOnACpuWithoutAWordOfIt) {
  const DeepseekOcr model = tiny_model();
  for (const settings::Engine asked : {settings::Engine::Auto, settings::Engine::Eager}) {
    const auto opened = open_engine(model, asked);
    ASSERT_TRUE(opened) << opened.error().to_string();
    EXPECT_EQ(opened->engine->name(), "eager");
    EXPECT_EQ(&opened->engine->model(), &model);
    EXPECT_TRUE(opened->notes.empty());
  }
}

TEST(OpenEngine, NeverTakesEagerForFast) {
  const DeepseekOcr model = tiny_model();
  const auto opened = open_engine(model, settings::Engine::Fast);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(opened.error().to_string(),
            "pipeline.workload.engine: the fast engine cannot run: the device is cpu, not a CUDA "
            "device");
}

TEST(OpenEngine, NeverTakesFastForABatch) {
  const DeepseekOcr model = tiny_model();
  const auto opened = open_engine(model, settings::Engine::Fast, 4);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().to_string(),
            "pipeline.workload.engine: the fast engine cannot run: it generates one image at a "
            "time, and infer.batch_size is 4");
  const auto chosen = open_engine(model, settings::Engine::Auto, 4);
  ASSERT_TRUE(chosen) << chosen.error().to_string();
  EXPECT_EQ(chosen->engine->name(), "eager");
}

}  // namespace
}  // namespace profline::workload
