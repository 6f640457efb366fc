#include "predictions/prediction.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/temp_dir.h"

namespace profline::predictions {
namespace {

const std::string kEos =
    "<\xef\xbd\x9c"
    "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>";

Prediction example() {
  Prediction prediction;
  prediction.image = "images/a b.png";
  prediction.index = 3;
  prediction.text_raw = "# T\xc3\xafte\n" + kEos;
  prediction.text_clean = "# T\xc3\xafte";
  prediction.prompt_tokens = 283;
  prediction.tokens = 5;
  prediction.finish = "eos";
  prediction.prefill_ms = 12.5;
  prediction.decode_ms = 20;
  prediction.vision_ms = 3;
  return prediction;
}

TEST(CleanText, DropsOneEndMarkerAndBlanks) {
  EXPECT_EQ(clean_text("\n a b \n" + kEos + "\n"), "a b");
  EXPECT_EQ(clean_text("a" + kEos + kEos), "a" + kEos);
  EXPECT_EQ(clean_text(kEos), "");
  EXPECT_EQ(clean_text(kEos + "a"), kEos + "a");
}

TEST(CleanText, StripsTheTokensItIsGiven) {
  const std::vector<std::string> specials{"<|ref|>", "<|/ref|>", kEos, ""};
  EXPECT_EQ(clean_text("<|ref|>title<|/ref|> x" + kEos + kEos, specials), "title x");
  EXPECT_EQ(clean_text("<|ref<|ref|>|>", specials), "<|ref|>");  // one pass: what is left is text
}

TEST(PredictionLine, HasAllKeysInOrder) {
  EXPECT_EQ(prediction_line(example()).value(),
            "{\"schema\":\"profline.prediction/1\",\"image\":\"images/a b.png\",\"epoch\":0,"
            "\"index\":3,\"text_raw\":\"# T\xc3\xafte\\n" +
                kEos +
                "\",\"text_clean\":\"# T\xc3\xafte\",\"prompt_tokens\":283,\"tokens\":5,"
                "\"finish\":\"eos\",\"prefill_ms\":12.5,\"decode_ms\":20.0,\"vision_ms\":3.0,"
                "\"tokens_per_s\":250.0,\"pictures\":null}\n");
}

TEST(PredictionLine, SurvivesOddTextAndRefusesOddTimes) {
  Prediction prediction = example();
  prediction.text_raw = "line\nbreak \xff \"quoted\"";
  prediction.decode_ms = 0;
  prediction.pictures = "0123";
  const std::string line = prediction_line(prediction).value();
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_NE(line.find("\"tokens_per_s\":0.0,\"pictures\":\"0123\"}"), std::string::npos);
  EXPECT_NE(line.find("line\\nbreak \xef\xbf\xbd \\\"quoted\\\""), std::string::npos);
  prediction.prefill_ms = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(
      prediction_line(prediction).error().to_string(),
      "prediction of 'images/a b.png': cannot write JSON at 'prefill_ms': nan has no form in it");
}

TEST(WritePredictions, WritesAllOrNothing) {
  const testing::TempDir folder;
  std::vector<Prediction> predictions{example(), example()};
  ASSERT_TRUE(write_predictions(folder / "predictions.jsonl", predictions));
  const std::string line = prediction_line(example()).value();
  EXPECT_EQ(read_file(folder / "predictions.jsonl").value(), line + line);
  predictions[1].vision_ms = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(write_predictions(folder / "predictions.jsonl", predictions));
  EXPECT_EQ(read_file(folder / "predictions.jsonl").value(), line + line);
}

}  // namespace
}  // namespace profline::predictions
