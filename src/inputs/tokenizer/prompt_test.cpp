#include "inputs/tokenizer/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/tokenizer/tiny_tokenizer.h"

namespace profline::tokenizer {
namespace {

using ::testing::ElementsAre;

class PromptTest : public ::testing::Test {
 protected:
  std::string problem(std::string_view prompt, std::int64_t slots) const {
    const auto out = assemble_prompt(tokenizer_, prompt, slots, 0);
    return out ? "no problem" : out.error().to_string();
  }

  const Tokenizer tokenizer_ = std::move(Tokenizer::parse(tiny_tokenizer_json(), "tiny")).value();
};

TEST_F(PromptTest, HasThePictureBetweenItsParts) {
  const auto prompt = assemble_prompt(tokenizer_, "  <image>\nFree OCR. \u3000\n", 3, 7);
  ASSERT_TRUE(prompt) << prompt.error().to_string();
  EXPECT_THAT(prompt->ids, ElementsAre(7, 320, 320, 320, 201, 309, 314, 16));
  EXPECT_THAT(prompt->is_image, ElementsAre(0, 1, 1, 1, 0, 0, 0, 0));
}

TEST_F(PromptTest, MayHaveTextBeforeThePicture) {
  const auto prompt = assemble_prompt(tokenizer_, "Free<image>", 1, 0);
  ASSERT_TRUE(prompt) << prompt.error().to_string();
  EXPECT_THAT(prompt->ids, ElementsAre(0, 309, 320));
  EXPECT_THAT(prompt->is_image, ElementsAre(0, 0, 1));
}

TEST_F(PromptTest, MayBeTextOnly) {
  const auto prompt = assemble_prompt(tokenizer_, "\tFree", 0, 0);
  ASSERT_TRUE(prompt) << prompt.error().to_string();
  EXPECT_THAT(prompt->ids, ElementsAre(0, 309));
  EXPECT_THAT(prompt->is_image, ElementsAre(0, 0));
}

TEST_F(PromptTest, MustFitThePicture) {
  EXPECT_EQ(problem("Free OCR.", 273),
            "the prompt has no '<image>' where the picture's 273 tokens could go");
  EXPECT_EQ(problem("<image>", 0), "the prompt has '<image>', but there is no picture");
  EXPECT_EQ(problem("<image><image>", 5),
            "the prompt has '<image>' more than once; it takes one picture");
  EXPECT_EQ(problem("<image>\xFF", 5),
            "the prompt: cannot encode text that is not UTF-8 (at byte 0)");
}

}  // namespace
}  // namespace profline::tokenizer
