#include "inputs/tokenizer/stream_decoder.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "inputs/tokenizer/internal/random_text_for_tests.h"
#include "inputs/tokenizer/tiny_tokenizer.h"

namespace profline::tokenizer {
namespace {

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

}  // namespace
}  // namespace profline::tokenizer
