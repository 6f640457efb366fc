#include "inputs/tokenizer/tokenizer.h"

#include <cstdlib>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "inputs/tokenizer/internal/random_text_for_tests.h"

namespace profline::tokenizer {
namespace {

using ::testing::ElementsAre;

struct Vector {
  std::string_view text;
  std::vector<TokenId> ids;
};

Tokenizer tiny() {
  return std::move(Tokenizer::parse(tiny_tokenizer_json(), "tiny")).value();
}

std::vector<TokenId> encoded(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  EXPECT_TRUE(ids) << ids.error().to_string();
  return ids ? *ids : std::vector<TokenId>{};
}

// Section 9.4 of the model's description.
TEST(TinyTokenizer, GivesTheGoldenIds) {
  const Tokenizer tokenizer = tiny();
  const Vector vectors[] = {
      {"\nFree OCR.", {201, 309, 314, 16}},
      {"\n<|grounding|>Convert the document to markdown.", {201, 325, 283, 268, 300, 302, 301, 16}},
      {"<|ref|>title<|/ref|><|det|>[[10, 20, 300, 400]]<|/det|>",
       {321, 299, 322, 323, 310, 19, 18, 14, 223, 20, 18, 14, 223, 306, 14, 223, 307, 311, 324}},
      {"12345", {19, 20, 21, 22, 23}},
      {"a  b   c", {67, 223, 223, 68, 223, 223, 223, 69}},
      {"def main():\n\tpass", {70, 71, 72, 223, 261, 75, 80, 10, 11, 28, 201, 200, 82, 67, 85, 85}},
      {"é", {130, 105}},
      {"", {}},
  };
  for (const Vector& vector : vectors) {
    EXPECT_EQ(encoded(tokenizer, vector.text), vector.ids) << vector.text;
    EXPECT_EQ(tokenizer.decode(vector.ids, SpecialTokens::Keep), vector.text);
  }
}

TEST(TinyTokenizer, KnowsItsTokens) {
  const Tokenizer tokenizer = tiny();
  EXPECT_EQ(tokenizer.id_of("<image>"), 320);
  EXPECT_EQ(tokenizer.id_of("<|Assistant|>"), 331);
  EXPECT_EQ(tokenizer.id_of("<｜end▁of▁sentence｜>"), 1);
  EXPECT_EQ(tokenizer.id_of("Ġthe"), 268);
  EXPECT_EQ(tokenizer.id_of(" the"), std::nullopt);
  EXPECT_EQ(tokenizer.bytes_of(268), " the");
  EXPECT_EQ(tokenizer.bytes_of(257), "\xA0");
  EXPECT_EQ(tokenizer.id_limit(), 332);
  EXPECT_TRUE(tokenizer.is_special(325));
  EXPECT_FALSE(tokenizer.is_special(268));
}

TEST(Tokenizer, DecodesWhatTheModelMayGenerate) {
  const Tokenizer tokenizer = tiny();
  const std::vector<TokenId> ids = {0, 321, 268, 322, 339, -1, 5'000'000'000, 130, 1};
  EXPECT_EQ(tokenizer.decode(ids, SpecialTokens::Keep),
            "<｜begin▁of▁sentence｜><|ref|> the<|/ref|>\uFFFD<｜end▁of▁sentence｜>");
  EXPECT_EQ(tokenizer.decode(ids, SpecialTokens::Skip), " the\uFFFD");
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  const auto ids = tiny().encode("ab\xFF");
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().to_string(), "cannot encode text that is not UTF-8 (at byte 2)");
}

TEST(Tokenizer, ComesBackToTheSameTextForAnyUnicode) {
  const Tokenizer tokenizer = tiny();
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const std::string text = testing::random_text(random, random() % 200);
    ASSERT_EQ(tokenizer.decode(encoded(tokenizer, text), SpecialTokens::Keep), text);
  }
}

/// The tiny tokenizer with one piece of its text replaced.
Tokenizer changed(std::string_view old_text, std::string_view new_text) {
  std::string text = tiny_tokenizer_json();
  const std::size_t at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  auto tokenizer = Tokenizer::parse(text.replace(at, old_text.size(), new_text), "changed");
  EXPECT_TRUE(tokenizer) << tokenizer.error().to_string();
  return std::move(*tokenizer);
}

TEST(Tokenizer, PutsASpaceBeforeEveryPieceWhenAsked) {
  const Tokenizer tokenizer = changed("\"add_prefix_space\": false", "\"add_prefix_space\": true");
  // Pieces: "Free", "12": each gets its space.
  EXPECT_EQ(tokenizer.decode(encoded(tokenizer, "Free12"), SpecialTokens::Keep), " Free 12");
}

TEST(Tokenizer, SplitsAsGpt2DoesWhenAsked) {
  const Tokenizer tokenizer = changed("\"use_regex\": false", "\"use_regex\": true");
  EXPECT_THAT(encoded(tokenizer, "the's"), ElementsAre(86, 74, 71, 9, 85));
}

TEST(Tokenizer, TakesTokensWholeWhenMergesAreIgnored) {
  // "ument" is not a token, "cument" is; it is found although no merges lead to it.
  const Tokenizer tokenizer = changed("\"ignore_merges\": false", "\"ignore_merges\": true");
  EXPECT_THAT(encoded(tokenizer, "Descr"), ElementsAre(319));
  EXPECT_EQ(encoded(tokenizer, "cument"), encoded(tiny(), "cument"));
}

// Section 4.4: the release's own tokenizer.json, which we cannot ship.
TEST(ReleaseTokenizer, GivesTheGoldenIds) {
  const char* path = std::getenv("PROFLINE_TOKENIZER_JSON");
  if (path == nullptr) GTEST_SKIP() << "PROFLINE_TOKENIZER_JSON names no tokenizer.json";
  const auto tokenizer = Tokenizer::load(path);
  ASSERT_TRUE(tokenizer) << tokenizer.error().to_string();
  const Vector vectors[] = {
      {"\nFree OCR.", {201, 21431, 126041, 16}},
      {"\n<|grounding|>Convert the document to markdown.",
       {201, 128820, 21842, 270, 4940, 304, 2121, 7919, 16}},
      {"Hello", {19923}},
      {"Hello, world!", {19923, 14, 2058, 3}},
      {"12345", {6895, 1883}},
      {"year 2026, price $1299.99", {24821, 223, 939, 24, 14, 5220, 957, 9603, 27, 16, 1977}},
      {"日本語のテキスト", {88768, 1576, 17383, 20367, 24552}},
      {"你好，世界！", {30594, 303, 3427, 1175}},
      {"  spaced", {223, 48914}},
      {"def main():\n\tpass", {3465, 1840, 15536, 200, 9762}},
      {"\r\n", {204, 201}},
      {"\n\n", {271}},
      {"<|ref|>title<|/ref|><|det|>[[10, 20, 300, 400]]<|/det|>",
       {128816, 10212, 128817, 128818, 22663, 553, 14, 223, 397, 14, 223, 4314, 14, 223, 5126,
        11621, 128819}},
      {"<table><tr><td>A</td>", {114761, 32, 128823, 128821, 35, 128822}},
  };
  for (const Vector& vector : vectors) {
    EXPECT_EQ(encoded(*tokenizer, vector.text), vector.ids) << vector.text;
    EXPECT_EQ(tokenizer->decode(vector.ids, SpecialTokens::Keep), vector.text);
  }
}

std::string streamed(std::string_view bytes) {
  Utf8Stream stream;
  std::string text = stream.push(bytes);
  return text + stream.finish();
}

// Unicode 15, section 3.9, "U+FFFD Substitution of Maximal Subparts".
TEST(Utf8Stream, ReplacesMaximalParts) {
  struct Case {
    std::string_view bytes, text;
  };
  constexpr Case kCases[] = {
      {"plain é 日 😀", "plain é 日 😀"},
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA"},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA"},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA\uFFFD\uFFFDB"},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "\uFFFD\uFFFD\uFFFD\uFFFDA"},
      {"a\xF0\x9F\x98", "a\uFFFD"},
  };
  for (const Case& c : kCases) EXPECT_EQ(streamed(c.bytes), c.text);
}

TEST(Utf8Stream, GivesACharacterWhenItIsComplete) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xF0"), "a");
  EXPECT_EQ(stream.push("\x9F\x98"), "");
  EXPECT_EQ(stream.push("\x80z"), "😀z");
  EXPECT_EQ(stream.finish(), "");
}

TEST(StreamDecoder, NeverEmitsHalfACharacterAndLosesNothing) {
  const Tokenizer tokenizer = std::move(Tokenizer::parse(tiny_tokenizer_json(), "tiny")).value();
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<TokenId> ids;
    if (round % 2 == 0) {
      ids = tokenizer.encode(testing::random_text(random, 30)).value();
    } else {  // as an untrained model: any bytes, and ids that mean nothing
      for (int i = 0; i < 60; ++i) ids.push_back(static_cast<TokenId>(random() % 384));
    }
    for (const SpecialTokens special : {SpecialTokens::Keep, SpecialTokens::Skip}) {
      StreamDecoder decoder(tokenizer, special);
      std::string text;
      for (const TokenId id : ids) {
        const std::string part = decoder.push(id);
        ASSERT_FALSE(first_invalid_utf8(part));
        text += part;
      }
      text += decoder.finish();
      ASSERT_EQ(text, tokenizer.decode(ids, special));
    }
  }
}

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
            "the prompt has no '<image>' where the image's 273 tokens could go");
  EXPECT_EQ(problem("<image>", 0), "the prompt has '<image>', but there is no image");
  EXPECT_EQ(problem("<image><image>", 5),
            "the prompt has '<image>' more than once; it takes one image");
  EXPECT_EQ(problem("<image>\xFF", 5),
            "the prompt: cannot encode text that is not UTF-8 (at byte 0)");
}

}  // namespace
}  // namespace profline::tokenizer
