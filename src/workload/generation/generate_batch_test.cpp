#include "workload/generation/generate_batch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/images/testing_pictures.h"
#include "inputs/images/views.h"
#include "workload/model/weight_source.h"

// The sequences of a batch against the same sequences alone: in fp32 on a CPU, they get the same
// tokens.

namespace profline::workload::batch {
namespace {

DeepseekOcr tiny_model(bool fused = true) {
  DeterministicWeights weights(tiny_config());
  return DeepseekOcr::load(tiny_config(), weights, {.fused_attention = fused}).value();
}

at::Tensor pixels(const std::vector<images::Picture>& views) {
  std::vector<at::Tensor> all;
  for (const images::Picture& view : views) {
    at::Tensor planes = at::empty({1, 3, view.height, view.width}, at::kFloat);
    images::normalise(view, {planes.data_ptr<float>(), static_cast<std::size_t>(planes.numel())});
    all.push_back(std::move(planes));
  }
  return all.empty() ? at::Tensor() : at::cat(all);
}

/// A picture with its prompt.
struct Page {
  ImageViews views;
  tokenizer::Prompt prompt;
};

Page page_of(images::Size size, const std::vector<std::int64_t>& text) {
  const images::Views views =
      images::make_views(images::test_pattern(size), images::mode("tiny-gundam"));
  Page page{{pixels({views.global}),
             pixels(views.tiles),
             {views.plan.grid.columns, views.plan.grid.rows}},
            {{0}, {0}}};
  page.prompt.ids.insert(page.prompt.ids.end(), views.plan.slots, 320);
  page.prompt.is_image.resize(page.prompt.ids.size(), 1);
  page.prompt.ids.insert(page.prompt.ids.end(), text.begin(), text.end());
  page.prompt.is_image.resize(page.prompt.ids.size(), 0);
  return page;
}

const std::vector<std::int64_t> kMarkdown = {201, 325, 283, 268, 300, 302, 301, 16};
const std::vector<std::int64_t> kFreeOcr = {201, 309, 314, 16};

/// Without tiles, with 2x3, with 3x1 and with 1x2.
std::vector<Page> pages_of_all_sizes() {
  return {page_of({100, 120}, kMarkdown), page_of({200, 300}, kFreeOcr),
          page_of({600, 200}, kMarkdown), page_of({150, 300}, kFreeOcr)};
}

GenerationOptions tokens(std::int64_t count) {
  GenerationOptions options;
  options.max_new_tokens = count;
  return options;
}

std::vector<BatchedSequence> sequences_of(const std::vector<Page>& pages,
                                          const GenerationOptions& options) {
  std::vector<BatchedSequence> sequences;
  for (const Page& page : pages) sequences.push_back({&page.views, &page.prompt, options});
  return sequences;
}

/// Each sequence by itself.
std::vector<Generated> alone(const DeepseekOcr& model,
                             const std::vector<BatchedSequence>& sequences) {
  Scopes scopes;
  std::vector<Generated> all;
  for (const BatchedSequence& one : sequences) {
    all.push_back(generate(model, one.image, *one.prompt, one.options, scopes).value());
  }
  return all;
}

std::vector<Generated> together(const DeepseekOcr& model,
                                const std::vector<BatchedSequence>& sequences) {
  Scopes scopes;
  return generate_batch(model, sequences, scopes).value();
}

std::vector<std::vector<std::int64_t>> ids_of(const std::vector<Generated>& all) {
  std::vector<std::vector<std::int64_t>> ids;
  for (const Generated& one : all) ids.push_back(one.ids);
  return ids;
}

TEST(GenerateBatch, GivesPagesOfOneSizeTheirOwnTokens) {
  const DeepseekOcr model = tiny_model();
  const std::vector<Page> pages = {page_of({200, 300}, kMarkdown), page_of({200, 300}, kMarkdown),
                                   page_of({208, 300}, kMarkdown)};
  ASSERT_EQ(pages[0].prompt.ids.size(), pages[2].prompt.ids.size());
  const auto sequences = sequences_of(pages, tokens(24));
  EXPECT_EQ(ids_of(together(model, sequences)), ids_of(alone(model, sequences)));
}

TEST(GenerateBatch, GivesPagesOfDifferentSizesTheirOwnTokens) {
  for (const bool fused : {true, false}) {
    SCOPED_TRACE(fused);
    const DeepseekOcr model = tiny_model(fused);
    const std::vector<Page> pages = pages_of_all_sizes();
    const auto sequences = sequences_of(pages, tokens(24));
    const auto expected = ids_of(alone(model, sequences));
    ASSERT_NE(expected[0], expected[1]) << "else the test shows nothing";
    EXPECT_EQ(ids_of(together(model, sequences)), expected);
    // The order does not matter, and neither does the company.
    const std::vector<BatchedSequence> others = {sequences[3], sequences[1]};
    EXPECT_EQ(ids_of(together(model, others)), (std::vector{expected[3], expected[1]}));
  }
}

TEST(GenerateBatch, HasTheLogitsOfEachPromptAlone) {
  const DeepseekOcr model = tiny_model();
  Scopes scopes;
  std::vector<at::Tensor> rows;
  std::vector<at::Tensor> expected;
  const std::vector<Page> pages = pages_of_all_sizes();
  std::vector<FilledPrompt> prompts;
  std::size_t longest = 0;
  for (const Page& page : pages) {
    rows.push_back(model.encode_image(page.views, scopes));
    prompts.push_back({page.prompt.ids, page.prompt.is_image, rows.back()});
    longest = std::max(longest, page.prompt.ids.size());
    KvCache cache = model.new_cache(static_cast<std::int64_t>(page.prompt.ids.size()));
    expected.push_back(model.prefill(page.prompt.ids, page.prompt.is_image, rows.back(), cache));
  }
  KvCache cache = model.new_cache(static_cast<std::int64_t>(longest), 4);
  const at::Tensor logits = model.prefill(prompts, cache);
  ASSERT_TRUE(cache.is_padded());
  EXPECT_LE((logits - at::cat(expected)).abs().max().item<float>(), 1e-4F);
}

TEST(GenerateBatch, EncodesPicturesAsEachAlone) {
  const DeepseekOcr model = tiny_model();
  Scopes scopes;
  const std::vector<Page> pages = pages_of_all_sizes();
  std::vector<const ImageViews*> pictures;
  for (const Page& page : pages) pictures.push_back(&page.views);
  const std::vector<at::Tensor> rows = model.encode_images(pictures, scopes);
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const at::Tensor one = model.encode_image(pages[i].views, scopes);
    ASSERT_EQ(rows[i].sizes(), one.sizes()) << i;
    EXPECT_LE((rows[i] - one).abs().max().item<float>(), 1e-4F) << i;
  }
}

TEST(GenerateBatch, EndsEachSequenceByItself) {
  const DeepseekOcr model = tiny_model();
  const std::vector<Page> pages = pages_of_all_sizes();
  auto sequences = sequences_of(pages, tokens(12));
  const auto free = ids_of(alone(model, sequences));
  // What the second one says in its fourth step ends all that say it.
  for (BatchedSequence& one : sequences) one.options.eos_id = free[1][3];
  sequences[2].options.max_new_tokens = 2;
  const auto expected = alone(model, sequences);
  const auto generated = together(model, sequences);
  EXPECT_EQ(ids_of(generated), ids_of(expected));
  EXPECT_EQ(generated[1].finish, Finish::Eos);
  EXPECT_LT(generated[1].ids.size(), 12U);
  EXPECT_EQ(generated[2].finish, Finish::Length);
  EXPECT_EQ(generated[2].ids.size(), 2U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(generated[i].finish, expected[i].finish) << i;
}

TEST(GenerateBatch, AppliesTheNgramRuleToEachSequence) {
  const DeepseekOcr model = tiny_model();
  const std::vector<Page> pages = pages_of_all_sizes();
  const auto free = ids_of(alone(model, sequences_of(pages, tokens(40))));
  GenerationOptions options = tokens(40);
  options.no_repeat_ngram_size = 2;
  const auto sequences = sequences_of(pages, options);
  const auto ruled = ids_of(alone(model, sequences));
  ASSERT_NE(ruled, free) << "else the test shows nothing";
  EXPECT_EQ(ids_of(together(model, sequences)), ruled);
}

TEST(GenerateBatch, DrawsForEachSequenceFromItsSeed) {
  const DeepseekOcr model = tiny_model();
  const std::vector<Page> pages = {page_of({200, 300}, kMarkdown), page_of({200, 300}, kMarkdown)};
  auto sequences = sequences_of(pages, tokens(12));
  sequences[0].options.sampling = Sampling{.temperature = 1.0, .top_k = 8, .top_p = {}, .seed = 3};
  sequences[1].options.sampling = Sampling{.temperature = 1.0, .top_k = 8, .top_p = {}, .seed = 4};
  const auto generated = ids_of(together(model, sequences));
  EXPECT_EQ(generated, ids_of(alone(model, sequences)));
  EXPECT_NE(generated[0], generated[1]);
}

class NamedScopes : public Scopes {
 public:
  void enter(const char* name) override { text += std::string("(") + name; }
  void leave() override { text += ")"; }
  std::string text;
};

TEST(GenerateBatch, HasOneStepForAllSequences) {
  const DeepseekOcr model = tiny_model();
  const std::vector<Page> pages = pages_of_all_sizes();
  NamedScopes scopes;
  std::size_t kept = 0;
  auto sequences = sequences_of(pages, tokens(3));
  sequences[0].options.max_new_tokens = 2;
  ASSERT_TRUE(generate_batch(model, sequences, scopes, [&](std::size_t, std::int64_t) { ++kept; }));
  EXPECT_EQ(scopes.text,
            "(prefill(sam)(clip)(projector)(sam)(clip)(projector)(lm))"
            "(decode(decode_step)(decode_step))");
  EXPECT_EQ(kept, 11U);
}

TEST(GenerateBatch, NeedsNoPictures) {
  const DeepseekOcr model = tiny_model();
  const tokenizer::Prompt longer{{0, 201, 309, 314, 16}, std::vector<std::uint8_t>(5, 0)};
  const tokenizer::Prompt shorter{{0, 16}, std::vector<std::uint8_t>(2, 0)};
  const std::vector<BatchedSequence> sequences = {{nullptr, &longer, tokens(9)},
                                                  {nullptr, &shorter, tokens(9)}};
  EXPECT_EQ(ids_of(together(model, sequences)), ids_of(alone(model, sequences)));
}

TEST(GenerateBatch, StopsAllSequences) {
  const DeepseekOcr model = tiny_model();
  const std::vector<Page> pages = pages_of_all_sizes();
  auto sequences = sequences_of(pages, tokens(9));
  int asked = 0;
  sequences[0].options.should_stop = [&] { return ++asked == 3; };
  for (const Generated& one : together(model, sequences)) {
    EXPECT_EQ(one.finish, Finish::Stopped);
    EXPECT_EQ(one.ids.size(), 3U);
  }
}

TEST(GenerateBatch, ReportsSlotsThatDoNotFitThePicture) {
  const DeepseekOcr model = tiny_model();
  std::vector<Page> pages = pages_of_all_sizes();
  pages[1].prompt = {{0, 16}, {0, 0}};
  Scopes scopes;
  const auto generated = generate_batch(model, sequences_of(pages, tokens(3)), scopes);
  ASSERT_FALSE(generated);
  EXPECT_THAT(generated.error().to_string(),
              ::testing::StartsWith("the prompt has 0 image slots, the image gives "));
}

}  // namespace
}  // namespace profline::workload::batch
