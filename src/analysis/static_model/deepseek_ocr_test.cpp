// The tables of the model's description, to the digit.

#include "analysis/static_model/deepseek_ocr.h"

#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::static_model {
namespace {

using ::testing::ElementsAre;

const NumberFormat kBf16 = *number_format("bf16");

std::map<std::string, ParameterGroup> groups_by_name(const DeepseekOcrConfig& config) {
  std::map<std::string, ParameterGroup> groups;
  for (const ParameterGroup& group : parameter_groups(config)) groups[group.name] = group;
  return groups;
}

struct Totals {
  std::uint64_t tensors = 0;
  std::uint64_t parameters = 0;
};
Totals totals(const DeepseekOcrConfig& config, std::string_view prefix) {
  Count tensors;
  Count parameters;
  for (const ParameterGroup& group : parameter_groups(config)) {
    if (!group.name.starts_with(prefix)) continue;
    tensors += group.tensors;
    parameters += group.parameters;
  }
  return {tensors.value(), parameters.value()};
}

TEST(DeepseekOcrParameters, AreThoseOfTheRelease) {
  struct Case {
    std::string_view prefix;
    std::uint64_t tensors, parameters;
  };
  constexpr Case kCases[] = {
      {"sam", 179, 95'569'152},         {"clip", 293, 303'177'728},
      {"projector", 2, 2'622'720},      {"newline and separator", 2, 2'560},
      {"decoder", 2234, 2'934'734'080}, {"", 2710, 3'336'106'240},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.prefix);
    const Totals found = totals(official_config(), c.prefix);
    EXPECT_EQ(found.tensors, c.tensors);
    EXPECT_EQ(found.parameters, c.parameters);
  }
}

TEST(DeepseekOcrParameters, AreThoseOfEachPart) {
  auto groups = groups_by_name(official_config());
  EXPECT_EQ(groups["sam patch embedding"].parameters, 590'592U);
  EXPECT_EQ(groups["sam positions"].parameters, 3'145'728U);
  EXPECT_EQ(groups["sam windowed blocks"].parameters, 8U * 7'091'328);
  EXPECT_EQ(groups["sam global blocks"].parameters, 4U * 7'104'128);
  EXPECT_EQ(groups["sam neck"].parameters, 787'456U);
  EXPECT_EQ(groups["sam net_2"].parameters, 1'179'648U);
  EXPECT_EQ(groups["sam net_3"].parameters, 4'718'592U);
  EXPECT_EQ(groups["clip embeddings"].parameters, 1'024U + 602'112 + 263'168 + 2'048);
  EXPECT_EQ(groups["clip blocks"].parameters, 24U * 12'596'224);
  EXPECT_EQ(groups["decoder embedding"].parameters, 165'478'400U);
  EXPECT_EQ(groups["decoder lm_head"].parameters, 165'478'400U);
  EXPECT_EQ(groups["decoder attention"].parameters, 12U * 6'553'600);
  EXPECT_EQ(groups["decoder dense feed-forward"].parameters, 26'296'320U);
  EXPECT_EQ(groups["decoder routed experts"].parameters, 11ULL * 64 * 3'440'640);
  EXPECT_EQ(groups["decoder shared experts"].parameters, 11U * 6'881'280);
  EXPECT_EQ(groups["decoder routers"].parameters, 11U * 81'920);
  EXPECT_EQ(groups["decoder norms"].parameters, 32'000U);
}

TEST(DeepseekOcrParameters, OfTheTinyModelAreItsOwn) {
  const Totals found = totals(tiny_config(), "");
  EXPECT_EQ(found.tensors, 180U);
  EXPECT_EQ(found.parameters, 466'464U);
}

TEST(DeepseekOcrVision, HasTheExactTotalsOfEachSide) {
  struct Case {
    std::uint64_t side, sam, clip, projector;
  };
  constexpr Case kCases[] = {
      {512, 228'298'260'480, 39'674'019'840, 5'242'880ULL * 64},
      {640, 325'620'793'344, 62'004'756'480, 5'242'880ULL * 100},
      {1024, 976'909'172'736, 161'715'683'328, 5'242'880ULL * 256},
      {1280, 1'683'116'261'376, 258'003'271'680, 5'242'880ULL * 400},
  };
  const DeepseekOcrConfig config = official_config();
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.side);
    const std::vector<ViewBatch> view = {{c.side, 1}};
    EXPECT_EQ(sam_cost(config, kBf16, view).total().flops, c.sam);
    EXPECT_EQ(clip_cost(config, kBf16, view).total().flops, c.clip);
    EXPECT_EQ(projector_cost(config, kBf16, view).total().flops, c.projector);
  }
}

/// In units of 10^7, rounded: GFLOP with two digits.
std::vector<std::pair<std::string, long>> hundredths_of_giga(const PhaseCost& cost) {
  std::vector<std::pair<std::string, long>> found;
  for (const OperatorCost& part : cost.operators) {
    if (part.flops == Count()) continue;
    found.emplace_back(part.name, std::lround(part.flops.as_double() / 1e7));
  }
  return found;
}

TEST(DeepseekOcrVision, BreaksSamDownAsTheDescriptionDoes) {
  using Row = std::pair<std::string, long>;
  const DeepseekOcrConfig config = official_config();
  EXPECT_THAT(hundredths_of_giga(sam_cost(config, kBf16, {{1024, 1}})),
              ElementsAre(Row("patch embedding", 483), Row("windowed projections", 18497),
                          Row("windowed attention", 2360), Row("windowed relative positions", 169),
                          Row("global projections", 7731), Row("global attention", 20616),
                          Row("global relative positions", 322), Row("feed-forward", 46386),
                          Row("neck", 644), Row("net_2", 242), Row("net_3", 242)));
  EXPECT_THAT(hundredths_of_giga(sam_cost(config, kBf16, {{640, 1}})),
              ElementsAre(Row("patch embedding", 189), Row("windowed projections", 6659),
                          Row("windowed attention", 850), Row("windowed relative positions", 61),
                          Row("global projections", 3020), Row("global attention", 3146),
                          Row("global relative positions", 79), Row("feed-forward", 18119),
                          Row("neck", 252), Row("net_2", 94), Row("net_3", 94)));
}

TEST(DeepseekOcrVision, ReadsWeightsOnceABatchAndMovesWhatStagesHandOver) {
  const DeepseekOcrConfig config = official_config();
  const PhaseCost sam = sam_cost(config, kBf16, {{1024, 1}});
  EXPECT_EQ(sam.total().weight_bytes, 191'138'304U);
  EXPECT_EQ(sam.input_bytes, 6'291'456U);
  EXPECT_EQ(sam.output_bytes, 524'288U);
  const PhaseCost clip = clip_cost(config, kBf16, {{1024, 1}});
  EXPECT_EQ(clip.total().parameters, 303'177'728U);
  EXPECT_EQ(clip.total().weight_bytes, 606'355'456U - 1'204'224) << "the patches are never used";
  EXPECT_EQ(clip.output_bytes, 526'336U);
  const PhaseCost projector = projector_cost(config, kBf16, {{1024, 1}});
  EXPECT_EQ(projector.total().weight_bytes, 5'245'440U);
  EXPECT_EQ(projector.output_bytes, 655'360U);
  const PhaseCost tiles = sam_cost(config, kBf16, {{640, 6}});
  EXPECT_EQ(tiles.total().flops, 6U * 325'620'793'344);
  EXPECT_EQ(tiles.total().weight_bytes, 191'138'304U);
  EXPECT_EQ(tiles.output_bytes, 6U * 204'800);
  EXPECT_EQ(clip_cost(config, kBf16, {{640, 1}}).output_bytes, 206'848U);
  EXPECT_EQ(projector_cost(config, kBf16, {{640, 1}}).output_bytes, 256'000U);
  const PhaseCost both = sam_cost(config, kBf16, {{640, 6}, {1024, 1}});
  EXPECT_EQ(both.total().weight_bytes, 2U * 191'138'304);
  EXPECT_EQ(both.total().parameters, 95'569'152U);
}

TEST(DeepseekOcrVision, CountsTheBiasThatTheReferenceMaterialises) {
  const PhaseCost sam = sam_cost(official_config(), kBf16, {{1024, 1}});
  Count windowed;
  Count global;
  for (const OperatorCost& part : sam.operators) {
    if (part.name == "windowed relative positions") windowed = part.activation_bytes;
    if (part.name == "global relative positions") global = part.activation_bytes;
  }
  const std::uint64_t queries = 4096ULL * 768 * 2;
  EXPECT_EQ(global, 4U * (402'653'184 + queries));  // 24 N^2 a block
  EXPECT_EQ(windowed, 8U * (25ULL * 921'984 + 25ULL * 196 * 768 * 2));
}

/// Rounded to this many decimal places.
double rounded(double value, int digits) {
  const double scale = std::pow(10, digits);
  return std::round(value * scale) / scale;
}

TEST(DeepseekOcrPrefill, HasTheTableOfModes) {
  struct Case {
    std::string_view mode;
    std::vector<ViewBatch> views;
    std::uint64_t length;
    double vision, causal, square, kv_megabytes;
  };
  const Case cases[] = {
      {"Tiny", {{512, 1}}, 83, 268.3, 68.4, 95.7, 5.10},
      {"Small", {{640, 1}}, 121, 388.1, 99.7, 139.8, 7.43},
      {"Base", {{1024, 1}}, 283, 1140.0, 234.1, 329.9, 17.39},
      {"Large", {{1280, 1}}, 431, 1943.2, 358.3, 506.3, 26.48},
      {"Gundam 1x2", {{640, 2}, {1024, 1}}, 503, 1916.3, 419.2, 593.1, 30.90},
      {"Gundam 2x2", {{640, 4}, {1024, 1}}, 703, 2692.6, 590.1, 837.5, 43.19},
      {"Gundam 2x3", {{640, 6}, {1024, 1}}, 913, 3468.9, 772.1, 1099.5, 56.09},
      {"Gundam 3x2", {{640, 6}, {1024, 1}}, 903, 3468.9, 763.4, 1086.9, 55.48},
      {"Gundam 4x2", {{640, 8}, {1024, 1}}, 1103, 4245.2, 939.1, 1341.2, 67.77},
      {"Gundam 3x3", {{640, 9}, {1024, 1}}, 1213, 4633.3, 1036.9, 1483.2, 74.53},
  };
  const DeepseekOcrConfig config = official_config();
  const Decoder decoder = language_decoder(config);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.mode);
    Request request{.prompt_tokens = c.length};
    const ModelCost cost = deepseek_ocr_cost(config, kBf16, c.views, request);
    const Count vision = cost.find(ModelPhase::Sam)->total().flops +
                         cost.find(ModelPhase::Clip)->total().flops +
                         cost.find(ModelPhase::Projector)->total().flops;
    // The description adds up rounded figures; a tenth may differ.
    EXPECT_NEAR(vision.as_double() / 1e9, c.vision, 0.1);
    EXPECT_EQ(rounded(cost.find(ModelPhase::Prefill)->total().flops.as_double() / 1e9, 1),
              c.causal);
    EXPECT_EQ(rounded(cost.kv_bytes.as_double() / 1e6, 2), c.kv_megabytes);
    request.attention = AttentionCount::Square;
    request.head = HeadCount::All;
    EXPECT_EQ(rounded(prefill_cost(decoder, kBf16, request).total().flops.as_double() / 1e9, 1),
              c.square);
  }
}

TEST(DeepseekOcrPrefill, IsTheClosedForm) {
  const Decoder decoder = language_decoder(official_config());
  const std::uint64_t length = 913;
  const PhaseCost last = prefill_cost(decoder, kBf16, {.prompt_tokens = length});
  EXPECT_EQ(last.total().flops,
            817'233'920 * length + 30'720 * length * (length + 1) + 330'956'800);
  Request request{.prompt_tokens = length};
  request.attention = AttentionCount::Square;
  request.head = HeadCount::All;
  EXPECT_EQ(prefill_cost(decoder, kBf16, request).total().flops,
            817'233'920 * length + 61'440 * length * length + 330'956'800 * length);
  using Row = std::pair<std::string, long>;
  EXPECT_THAT(
      hundredths_of_giga(last),
      ElementsAre(Row("attention projections", 14360), Row("attention", 2564),
                  Row("dense feed-forward", 4802), Row("router", 165), Row("routed experts", 41465),
                  Row("shared experts", 13822), Row("lm_head", 33)));
  // All but the embedding table: every expert is chosen by some token.
  EXPECT_EQ(last.total().weight_bytes, 5'869'468'160U - 330'956'800);
}

TEST(DeepseekOcrDecode, IsTheClosedForm) {
  const Decoder decoder = language_decoder(official_config());
  for (const std::uint64_t context : {1U, 913U, 8192U}) {
    const OperatorCost step = decode_cost(decoder, kBf16, {}, context, 1).total();
    EXPECT_EQ(step.flops, 1'148'190'720U + 61'440 * context);
    EXPECT_EQ(step.weight_bytes, 1'148'254'720U);
    EXPECT_EQ(step.kv_read_bytes, 61'440U * context);
    EXPECT_EQ(step.kv_write_bytes, 61'440U);
  }
}

TEST(DeepseekOcrDecode, TouchesTheWeightsOfTheTable) {
  const PhaseCost step = decode_cost(language_decoder(official_config()), kBf16, {}, 913, 1);
  std::map<std::string, std::uint64_t> bytes;
  for (const OperatorCost& part : step.operators) bytes[part.name] = part.weight_bytes.value();
  EXPECT_EQ(bytes["attention projections"], 157'286'400U);
  EXPECT_EQ(bytes["dense feed-forward"], 52'592'640U);
  EXPECT_EQ(bytes["router"], 1'802'240U);
  EXPECT_EQ(bytes["routed experts"], 454'164'480U);
  EXPECT_EQ(bytes["shared experts"], 151'388'160U);
  EXPECT_EQ(bytes["norms"], 64'000U);
  EXPECT_EQ(bytes["lm_head"], 330'956'800U);
  EXPECT_EQ(bytes["embedding"], 0U);
}

TEST(DeepseekOcrDecode, OfABatchReadsTheExpertsThatItsTokensChoose) {
  EXPECT_EQ(expected_experts(64, 6, 1), 6);
  EXPECT_EQ(rounded(expected_experts(64, 6, 2), 1), 11.4);
  EXPECT_EQ(rounded(expected_experts(64, 6, 4), 1), 20.8);
  EXPECT_EQ(rounded(expected_experts(64, 6, 8), 1), 34.9);
  EXPECT_EQ(rounded(expected_experts(64, 6, 16), 1), 50.8);
  EXPECT_EQ(rounded(expected_experts(64, 6, 32), 1), 61.3);
  const Decoder decoder = language_decoder(official_config());
  const OperatorCost step = decode_cost(decoder, kBf16, {.batch = 8}, 913, 1).total();
  EXPECT_NEAR(step.weight_bytes.as_double(), 694'090'240 + 75'694'080 * expected_experts(64, 6, 8),
              1);
  EXPECT_EQ(step.flops, 8ULL * (1'148'190'720 + 61'440 * 913));
}

TEST(DeepseekOcrDecode, HasTheBandwidthFloorsOfTheDescription) {
  const PhaseCost step = decode_cost(language_decoder(official_config()), kBf16, {}, 913, 1);
  const auto floor_ms = [&](double bytes_per_second) {
    settings::Ceilings ceilings;
    ceilings.bytes_per_second = bytes_per_second;
    ceilings.peak_operations_per_second = 1e15;
    return *floor_of(step, kBf16, ceilings).floor_ns / 1e6;
  };
  EXPECT_EQ(rounded(floor_ms(1.0e12), 2), 1.20);
  EXPECT_EQ(rounded(floor_ms(3.35e12), 2), 0.36);
  EXPECT_EQ(rounded(floor_ms(4.8e12), 2), 0.25);
}

TEST(DeepseekOcrDecode, OfAWholeAnswerIsTheSumOfItsSteps) {
  const DeepseekOcrConfig config = official_config();
  const Request request{.prompt_tokens = 913, .new_tokens = 65};
  const ModelCost cost = deepseek_ocr_cost(config, kBf16, {{1024, 1}}, request);
  Count flops;
  Count read;
  for (std::uint64_t context = 914; context < 914 + 64; ++context) {
    const OperatorCost step = decode_cost(language_decoder(config), kBf16, {}, context, 1).total();
    flops += step.flops;
    read += step.floor_bytes();
  }
  ASSERT_TRUE(cost.all_decode_steps);
  EXPECT_EQ(cost.all_decode_steps->total().flops, flops);
  EXPECT_EQ(cost.all_decode_steps->total().floor_bytes(), read);
  EXPECT_EQ(cost.context, 913U + 32);
  EXPECT_EQ(cost.parameters(), 3'336'106'240U);
  EXPECT_FALSE(deepseek_ocr_cost(config, kBf16, {}, {.prompt_tokens = 5}).all_decode_steps);
}

TEST(DeepseekOcrCost, OfPicturesThatDifferTakesTheViewsOfAll) {
  const DeepseekOcrConfig config = official_config();
  const Request alike{.prompt_tokens = 913, .new_tokens = 9, .batch = 2};
  const ModelCost multiplied = deepseek_ocr_cost(config, kBf16, {{640, 6}, {1024, 1}}, alike);
  Request listed = alike;
  listed.sequences = {{913, 9}, {913, 9}};
  const ModelCost given = deepseek_ocr_cost(config, kBf16, {{640, 12}, {1024, 2}}, listed);
  ASSERT_EQ(given.phases.size(), multiplied.phases.size());
  for (std::size_t i = 0; i < given.phases.size(); ++i) {
    EXPECT_EQ(given.phases[i].operators, multiplied.phases[i].operators) << i;
  }
  listed.sequences = {{913, 9}, {283, 9}};
  const ModelCost fewer = deepseek_ocr_cost(config, kBf16, {{640, 6}, {1024, 2}}, listed);
  EXPECT_LT(fewer.find(ModelPhase::Sam)->total().flops, given.find(ModelPhase::Sam)->total().flops);
  EXPECT_EQ(fewer.find(ModelPhase::Sam)->total().weight_bytes,
            given.find(ModelPhase::Sam)->total().weight_bytes);
}

}  // namespace
}  // namespace profline::static_model
