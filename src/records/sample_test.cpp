#include "records/sample.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

Sample a_sample() {
  Sample sample;
  sample.image = "pages/a \"b\".png";
  sample.epoch = 1;
  sample.index = 2;
  sample.prompt_tokens = 283;
  sample.new_tokens = 3;
  sample.finish = FinishReason::Eos;
  sample.preprocess_ns = 5;
  sample.prefill_ns = 100;
  sample.sam_ns = 40;
  sample.clip_ns = 20;
  sample.projector_ns = 1;
  sample.lm_ns = 30;
  sample.decode_ns = 21;
  sample.token_ns = {10, 11};
  sample.dtype = "fp32";
  sample.threads = 2;
  sample.engine = "eager";
  return sample;
}

TEST(SampleLine, HasTheFieldsOfTheProtocolInItsOrder) {
  EXPECT_EQ(to_json_line(a_sample()),
            R"({"image":"pages/a \"b\".png","epoch":1,"index":2,"prompt_tokens":283,)"
            R"("new_tokens":3,"finish":"eos","preprocess_ns":5,"prefill_ns":100,"sam_ns":40,)"
            R"("clip_ns":20,"projector_ns":1,"lm_ns":30,"decode_ns":21,"token_ns":[10,11],)"
            R"("dtype":"fp32","threads":2,"engine":"eager"})");
}

TEST(SampleLine, SaysNullForPartsThereAreNot) {
  Sample sample = a_sample();
  sample.sam_ns.reset();
  sample.finish = FinishReason::None;
  EXPECT_NE(to_json_line(sample).find(R"("sam_ns":null)"), std::string::npos);
  EXPECT_NE(to_json_line(sample).find(R"("finish":"none")"), std::string::npos);
}

TEST(ParseSamples, ReadsBackWhatWasWritten) {
  Sample other = a_sample();
  other.decode_ns.reset();
  other.token_ns.clear();
  const std::string text = to_json_line(a_sample()) + "\n" + to_json_line(other) + "\n";
  const auto samples = parse_samples(text, "samples.jsonl");
  ASSERT_TRUE(samples) << samples.error().to_string();
  EXPECT_EQ(*samples, (std::vector{a_sample(), other}));
}

TEST(ParseSamples, NamesTheLineThatIsWrong) {
  const std::string good = to_json_line(a_sample()) + "\n";
  const auto torn = parse_samples(good + "{\"image\":", "s.jsonl");
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().to_string().substr(0, 11), "s.jsonl:2: ") << torn.error().to_string();
  const auto other = parse_samples("[]\n", "s.jsonl");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().to_string(), "s.jsonl:1: line 1, column 1: must be a map, not a list");
}

}  // namespace
}  // namespace profline
