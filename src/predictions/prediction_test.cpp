#include "predictions/prediction.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "inputs/images/codec.h"
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
  EXPECT_EQ(clean_text("<|ref<|ref|>|>", specials), "<|ref|>");  // one pass: the rest is text
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
  EXPECT_EQ(prediction_line(prediction).error().to_string(),
            "prediction of 'images/a b.png': cannot write JSON at 'prefill_ms': JSON has no nan");
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

namespace fs = std::filesystem;

Prediction with_boxes() {
  Prediction prediction;
  prediction.image = "images/../../etc/passwd \xff.png";
  prediction.text_raw =
      "<|ref|>title<|/ref|><|det|>[[0, 0, 999, 200]]<|/det|>\n# Title\n"
      "<|ref|>image<|/ref|><|det|>[[0, 500, 500, 999], [500, 500, 999, 999]]<|/det|>\n"
      "<|ref|>text<|/ref|><|det|>[[1, 2]]<|/det|>\nThe end.";
  prediction.prefill_ms = 1.5;
  return prediction;
}

std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(PictureFolder, IsSafeAndTheSameEverywhere) {
  EXPECT_EQ(picture_folder("images/a.png", 0), "50edaf76ce4dfb9d");
  EXPECT_EQ(picture_folder("images/a.png", 2), "50edaf76ce4dfb9d-e2");
  EXPECT_NE(picture_folder("images/b.png", 0), picture_folder("images/a.png", 0));
  EXPECT_EQ(picture_folder("../../\n", 0).find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(WriteVisualisation, WritesEverythingAboutAnImage) {
  const testing::TempDir folder;
  images::Picture picture(images::Size{200, 100}, {255, 255, 255});
  // Left and right halves, so that the crops can be distinguished.
  for (std::size_t y = 0; y < 100; ++y) {
    for (std::size_t x = 300; x < 600; ++x) picture.row(y)[x] = 40;
  }
  const auto written = write_visualisation(folder / "x", with_boxes(), picture, 50);
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(files_below(folder / "x"),
            (std::vector<std::string>{"images/0.jpg", "images/1.jpg", "info.json", "result.mmd",
                                      "result_with_boxes.jpg", "thumbnail.jpg"}));
  EXPECT_EQ(read_file(folder / "x/result.mmd").value(),
            "\n# Title\n![](images/0.jpg)\n![](images/1.jpg)\n\n\nThe end.");
  EXPECT_EQ(images::load(folder / "x/result_with_boxes.jpg").value().size(),
            (images::Size{200, 100}));
  EXPECT_EQ(images::load(folder / "x/thumbnail.jpg").value().size(), (images::Size{50, 25}));
  const images::Picture left = images::load(folder / "x/images/0.jpg").value();
  const images::Picture right = images::load(folder / "x/images/1.jpg").value();
  EXPECT_EQ(left.size(), (images::Size{100, 50}));
  EXPECT_EQ(right.size(), (images::Size{100, 50}));
  // From the clean image: no outline, no tint.
  EXPECT_GE(*std::min_element(left.rgb.begin(), left.rgb.end()), 250);
  EXPECT_LE(*std::max_element(right.rgb.begin(), right.rgb.end()), 45);
}

TEST(WriteVisualisation, DescribesItselfInJson) {
  const testing::TempDir folder;
  const images::Picture picture(images::Size{200, 100}, {255, 255, 255});
  ASSERT_TRUE(write_visualisation(folder.path(), with_boxes(), picture, 480));
  const std::string text = read_file(folder / "info.json").value();
  EXPECT_TRUE(text.starts_with("{\n  \"schema\": \"profline.pictures/1\","));
  const Node info = parse_json(text, "info.json").value();
  EXPECT_EQ(info.find("source_image")->as_string(), "images/../../etc/passwd \xef\xbf\xbd.png");
  EXPECT_EQ(info.find("width")->as_int(), 200);
  EXPECT_EQ(info.find_path("timings_ms.prefill")->as_float(), 1.5);
  ASSERT_EQ(info.find("boxes")->as_list().size(), 3U);
  EXPECT_EQ(info.find_path("boxes.0.text")->as_string(), "title");
  EXPECT_EQ(info.find_path("boxes.0.w")->as_int(), 200);
  EXPECT_EQ(info.find_path("boxes.0.h")->as_int(), 20);
  EXPECT_TRUE(info.find_path("boxes.0.crop")->is_null());
  EXPECT_EQ(info.find_path("boxes.2.crop")->as_string(), "images/1.jpg");
  EXPECT_EQ(info.find_path("skipped.0")->as_string(), "span 3 'text': expected ',' at byte 7");
  // An image narrower than a thumbnail stays as it is.
  EXPECT_EQ(images::load(folder / "thumbnail.jpg").value().size(), (images::Size{200, 100}));
}

TEST(Visualisations, AreOfTheFirstImagesOnly) {
  const testing::TempDir folder;
  const images::Picture picture(images::Size{40, 20});
  settings::DeepseekVisualization settings;
  settings.max_images = 2;
  Visualisations visualisations(folder.path(), settings);
  Prediction prediction = with_boxes();
  for (const std::uint32_t epoch : {0U, 1U}) {
    EXPECT_TRUE(visualisations.wants_more());
    prediction.epoch = epoch;
    const auto name = visualisations.add(prediction, picture);
    ASSERT_TRUE(name) << name.error().to_string();
    EXPECT_TRUE(fs::exists(folder / name->value() / "info.json"));
  }
  EXPECT_FALSE(visualisations.wants_more());
  EXPECT_EQ(visualisations.add(prediction, picture).value(), std::nullopt);
}

TEST(Visualisations, SayWhichImageFailed) {
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder / "file", ""));
  Visualisations visualisations(folder / "file", {});
  Prediction prediction = with_boxes();
  prediction.image = "a.png";
  EXPECT_EQ(visualisations.add(prediction, images::Picture(images::Size{4, 4})).error().to_string(),
            "pictures of 'a.png': cannot create the folder " +
                (folder / "file" / picture_folder("a.png", 0)).string() + ": " +
                (folder / "file").string() + " is not a directory");
}

}  // namespace
}  // namespace profline::predictions
