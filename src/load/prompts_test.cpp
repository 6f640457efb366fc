#include "load/prompts.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace profline::load {
namespace {

/// A tokenizer whose tokens are words, with one token at the start.
std::optional<std::uint64_t> words_and_one(const std::string& text) {
  return 2 + static_cast<std::uint64_t>(std::count(text.begin(), text.end(), ' '));
}
/// Tokens are bytes.
std::optional<std::uint64_t> bytes(const std::string& text) {
  return text.size();
}

TEST(PromptWriter, ReachesTheLengthExactlyIfTheServerCanCount) {
  for (const auto count : {words_and_one, bytes}) {
    PromptWriter writer(3);
    for (const std::uint32_t tokens : {4U, 17U, 512U, 513U}) {
      const Prompt prompt = writer.write(tokens, 8, count);
      EXPECT_TRUE(prompt.is_exact) << tokens;
      EXPECT_EQ(count(prompt.text), tokens);
      EXPECT_EQ(prompt.output_tokens, 8U);
    }
  }
}

TEST(PromptWriter, SaysThatALengthIsApproximate) {
  PromptWriter writer(3);
  EXPECT_FALSE(writer.write(64, 8, nullptr).is_exact);
  EXPECT_FALSE(writer.write(64, 8, [](const std::string&) { return std::nullopt; }).is_exact);
  // No text has an odd number of tokens.
  EXPECT_FALSE(writer.write(65, 8, [](const std::string& text) { return 2 * *words_and_one(text); })
                   .is_exact);
}

TEST(PromptWriter, WritesTheSamePromptsForTheSameSeedAndDifferentOnesInOneRun) {
  PromptWriter one(3);
  PromptWriter other(3);
  const Prompt first = one.write(64, 8, nullptr);
  EXPECT_EQ(first, other.write(64, 8, nullptr));
  EXPECT_NE(first.text.substr(0, 40), one.write(64, 8, nullptr).text.substr(0, 40));
  PromptWriter taught(3);
  taught.learn(10, 40);
  taught.write(64, 8, nullptr);
  EXPECT_EQ(taught.words(), 16U);
}

TEST(Prompts, AreReadFromAFile) {
  const auto prompts = parse_prompts(
      "{\"prompt\": \"a\"}\n\"b\"\n{\"messages\": [{\"role\": \"user\"}], \"output_tokens\": 3}\n",
      "p.jsonl", 16);
  ASSERT_TRUE(prompts) << prompts.error().to_string();
  ASSERT_EQ(prompts->size(), 3U);
  EXPECT_EQ((*prompts)[0], (Prompt{"a", {}, 16}));
  EXPECT_EQ((*prompts)[1].text, "b");
  EXPECT_TRUE((*prompts)[2].messages.is_list());
  EXPECT_EQ((*prompts)[2].output_tokens, 3U);
  const auto wrong = parse_prompts("{\"output_tokens\": 3}", "p.jsonl", 16);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().to_string(), "p.jsonl:1: must have a text 'prompt' or a list 'messages'");
}

TEST(RequestBody, AsksForAStreamWithUsage) {
  const Prompt prompt{"Hi", {}, 4};
  EXPECT_EQ(request_body(prompt, {}).value(),
            R"({"prompt":"Hi","max_tokens":4,"stream":true,)"
            R"("stream_options":{"include_usage":true},"ignore_eos":true})");
  BodyRule chat{.is_chat = true, .model = "m", .ignore_eos = false, .include_usage = false};
  chat.extra.as_map().set("max_tokens", Node());
  chat.extra.as_map().set("max_completion_tokens", Node::integer(9));
  EXPECT_EQ(request_body(prompt, chat).value(),
            R"({"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,)"
            R"("max_completion_tokens":9})");
  const Prompt messages{"", Node::list(), 4};
  EXPECT_EQ(request_body(messages, {}).error().to_string(),
            "a prompt has messages, which only /v1/chat/completions takes");
}

TEST(Answers, OfOtherEndpointsAreUnderstood) {
  EXPECT_EQ(token_count(R"({"count":5,"tokens":[1]})"), 5U);
  EXPECT_EQ(token_count(R"({"tokens":[1,2,3]})"), 3U);
  EXPECT_EQ(token_count(R"({"count":-5})"), std::nullopt);
  EXPECT_EQ(token_count("404 page not found"), std::nullopt);
  EXPECT_EQ(first_model(R"({"data":[{"id":"tiny"},{"id":"b"}]})"), "tiny");
  EXPECT_EQ(first_model(R"({"data":[]})"), std::nullopt);
  EXPECT_EQ(first_model("<html>"), std::nullopt);
}

}  // namespace
}  // namespace profline::load
