#include "workload/generation/generate.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::workload {
namespace {

using ::testing::ElementsAre;

DeepseekOcr load(WeightSource& weights) {
  return DeepseekOcr::load(tiny_config(), weights, {}).value();
}

DeepseekOcr tiny_model() {
  DeterministicWeights weights(tiny_config());
  return load(weights);
}

tokenizer::Prompt text_prompt(const std::vector<std::int64_t>& ids) {
  return {ids, std::vector<std::uint8_t>(ids.size(), 0)};
}

const tokenizer::Prompt kPrompt = text_prompt({0, 201, 309, 314, 16});

GenerationOptions tokens(std::int64_t count) {
  GenerationOptions options;
  options.max_new_tokens = count;
  return options;
}

std::vector<std::int64_t> generated_ids(const DeepseekOcr& model,
                                        const GenerationOptions& options) {
  Scopes scopes;
  return generate(model, nullptr, kPrompt, options, scopes).value().ids;
}

TEST(Generate, StopsAtTheLimitAndReportsEachToken) {
  const DeepseekOcr model = tiny_model();
  Scopes scopes;
  std::vector<std::pair<std::size_t, std::int64_t>> reported;
  const auto generated =
      generate(model, nullptr, kPrompt, tokens(5), scopes,
               [&](std::size_t index, std::int64_t id) { reported.emplace_back(index, id); });
  ASSERT_TRUE(generated) << generated.error().to_string();
  EXPECT_EQ(generated->finish, Finish::Length);
  ASSERT_EQ(generated->ids.size(), 5U);
  ASSERT_EQ(reported.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(reported[i], std::pair(i, generated->ids[i]));
  EXPECT_EQ(generated_ids(model, tokens(1)), std::vector{generated->ids.front()});
}

/// The tiny model, with one row of the head pointing wherever the last hidden state does.
class WithLoudToken : public DeterministicWeights {
 public:
  explicit WithLoudToken(std::int64_t id) : DeterministicWeights(tiny_config()), id_(id) {}
  Result<void> fill(std::string_view name, at::Tensor destination) override {
    auto filled = DeterministicWeights::fill(name, destination);
    if (name == "lm_head.weight") destination[id_] = destination[loud_source_] * 3.0;
    return filled;
  }

 private:
  std::int64_t id_;
  // What the unchanged model says first: three times its row is louder.
  std::int64_t loud_source_ = generated_ids(tiny_model(), tokens(1)).front();
};

TEST(Generate, StopsAtTheEndOfSequenceAndKeepsIt) {
  WithLoudToken weights(1);
  const DeepseekOcr model = load(weights);
  GenerationOptions options = tokens(8);
  options.eos_id = 1;
  Scopes scopes;
  const auto generated = generate(model, nullptr, kPrompt, options, scopes);
  ASSERT_TRUE(generated);
  EXPECT_EQ(generated->finish, Finish::Eos);
  EXPECT_THAT(generated->ids, ElementsAre(1));
  // Without the rule, generation continues.
  EXPECT_EQ(generated_ids(model, tokens(8)).size(), 8U);
}

TEST(Generate, NeverRepeatsAnNgram) {
  const DeepseekOcr model = tiny_model();
  GenerationOptions options = tokens(40);
  const std::vector<std::int64_t> free = generated_ids(model, options);
  options.no_repeat_ngram_size = 2;
  const std::vector<std::int64_t> ruled = generated_ids(model, options);
  const auto repeats = [](std::vector<std::int64_t> ids) {
    ids.insert(ids.begin(), kPrompt.ids.begin(), kPrompt.ids.end());
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    for (std::size_t i = 1; i < ids.size(); ++i) pairs.emplace_back(ids[i - 1], ids[i]);
    std::sort(pairs.begin(), pairs.end());
    return std::adjacent_find(pairs.begin(), pairs.end()) != pairs.end();
  };
  EXPECT_TRUE(repeats(free));  // else the test shows nothing
  EXPECT_FALSE(repeats(ruled));
}

TEST(Generate, SamplesFromItsSeed) {
  const DeepseekOcr model = tiny_model();
  GenerationOptions options = tokens(12);
  const std::vector<std::int64_t> greedy = generated_ids(model, options);
  options.sampling = Sampling{1.0, {}, {}, 3};
  const std::vector<std::int64_t> sampled = generated_ids(model, options);
  EXPECT_NE(sampled, greedy);
  EXPECT_EQ(generated_ids(model, options), sampled);
  options.sampling->top_k = 1;
  EXPECT_EQ(generated_ids(model, options), greedy);
}

class NamedScopes : public Scopes {
 public:
  void enter(const char* name) override { text += std::string("(") + name; }
  void leave() override { text += ")"; }
  std::string text;
};

TEST(Generate, NamesItsParts) {
  const DeepseekOcr model = tiny_model();
  NamedScopes scopes;
  const ImageViews image{at::zeros({1, 3, 128, 128}), {}, {}};
  tokenizer::Prompt prompt = kPrompt;
  prompt.ids.insert(prompt.ids.begin() + 1, 7, 320);
  prompt.is_image.insert(prompt.is_image.begin() + 1, 7, 1);
  ASSERT_TRUE(generate(model, &image, prompt, tokens(3), scopes));
  EXPECT_EQ(scopes.text, "(prefill(sam)(clip)(projector)(lm))(decode(decode_step)(decode_step))");
}

TEST(Generate, ReportsSlotsThatDoNotFitThePicture) {
  const DeepseekOcr model = tiny_model();
  Scopes scopes;
  const ImageViews image{at::zeros({1, 3, 128, 128}), {}, {}};
  const auto generated = generate(model, &image, kPrompt, tokens(3), scopes);
  ASSERT_FALSE(generated);
  EXPECT_EQ(generated.error().to_string(), "the prompt has 0 image slots, the image gives 7 rows");
}

TEST(Generate, ReportsWhatLibtorchThrows) {
  const DeepseekOcr model = tiny_model();
  Scopes scopes;
  const auto generated = generate(model, nullptr, text_prompt({0, 100000}), tokens(3), scopes);
  ASSERT_FALSE(generated);
  EXPECT_EQ(generated.error().to_string(), "libtorch: index out of range in self");
}

/// An engine that chooses by itself: the ids of a list, in order.
class ScriptedEngine final : public Engine, public DeviceLoop {
 public:
  ScriptedEngine(const DeepseekOcr& model, std::vector<std::int64_t> ids)
      : eager_(model), ids_(std::move(ids)) {}

  std::string_view name() const override { return "scripted"; }
  const DeepseekOcr& model() const override { return eager_.model(); }
  at::Tensor encode_image(const ImageViews& views, Scopes& scopes) override {
    return eager_.encode_image(views, scopes);
  }
  at::Tensor prefill(const tokenizer::Prompt& prompt, const at::Tensor& rows,
                     std::int64_t capacity) override {
    return eager_.prefill(prompt, rows, capacity);
  }
  at::Tensor decode(const at::Tensor& token) override { return eager_.decode(token); }
  DeviceLoop* device_loop() override { return this; }

  std::int64_t first(std::span<const std::int64_t> prompt, const at::Tensor&,
                     const GenerationOptions&) override {
    prompt_tokens = prompt.size();
    return ids_.front();
  }
  void run(std::int64_t count, Scopes&, const std::function<bool(std::int64_t)>& on_id) override {
    asked = count;
    for (std::int64_t i = 1; i <= count; ++i) {
      ++reported;
      if (!on_id(ids_.at(static_cast<std::size_t>(i)))) return;
    }
  }

  std::size_t prompt_tokens = 0;
  std::int64_t asked = 0;
  std::int64_t reported = 0;

 private:
  EagerEngine eager_;
  std::vector<std::int64_t> ids_;
};

TEST(Generate, LetsAnEngineChooseThatCan) {
  const DeepseekOcr model = tiny_model();
  ScriptedEngine engine(model, {7, 8, 9, 10});
  Scopes scopes;
  const auto generated = generate(engine, nullptr, kPrompt, tokens(4), scopes);
  ASSERT_TRUE(generated) << generated.error().to_string();
  EXPECT_THAT(generated->ids, ElementsAre(7, 8, 9, 10));
  EXPECT_EQ(generated->finish, Finish::Length);
  EXPECT_EQ(engine.prompt_tokens, kPrompt.ids.size());
  EXPECT_EQ(engine.asked, 3);
}

TEST(Generate, StopsAnEngineThatChoosesAtTheEndOfSequence) {
  const DeepseekOcr model = tiny_model();
  GenerationOptions options = tokens(4);
  options.eos_id = 8;
  Scopes scopes;
  ScriptedEngine engine(model, {7, 8, 9, 10});
  const auto generated = generate(engine, nullptr, kPrompt, options, scopes);
  ASSERT_TRUE(generated) << generated.error().to_string();
  EXPECT_THAT(generated->ids, ElementsAre(7, 8));
  EXPECT_EQ(generated->finish, Finish::Eos);
  EXPECT_EQ(engine.reported, 1);

  ScriptedEngine at_once(model, {8});
  const auto one = generate(at_once, nullptr, kPrompt, options, scopes);
  ASSERT_TRUE(one) << one.error().to_string();
  EXPECT_THAT(one->ids, ElementsAre(8));
  EXPECT_EQ(at_once.asked, 0);
}

TEST(Generate, DrawsByItselfWhateverTheEngineCan) {
  const DeepseekOcr model = tiny_model();
  GenerationOptions options = tokens(3);
  options.sampling = Sampling{.temperature = 1.0, .top_k = 1, .top_p = {}, .seed = 1};
  Scopes scopes;
  ScriptedEngine engine(model, {});
  const auto generated = generate(engine, nullptr, kPrompt, options, scopes);
  ASSERT_TRUE(generated) << generated.error().to_string();
  EXPECT_EQ(generated->ids, generated_ids(model, tokens(3)));
}

}  // namespace
}  // namespace profline::workload
